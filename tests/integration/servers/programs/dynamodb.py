"""DynamoDB by boto3: items, conditions that fail, queries in pages, batches, transactions."""

import boto3
from boto_steps import answered, refused

KEYS = [{"AttributeName": "shop", "KeyType": "HASH"}, {"AttributeName": "order", "KeyType": "RANGE"}]
NAMES = [{"AttributeName": "shop", "AttributeType": "S"}, {"AttributeName": "order", "AttributeType": "N"}]
TABLE = "orders"

client = boto3.client("dynamodb")
resource = boto3.resource("dynamodb").Table(TABLE)

created = client.create_table(
    TableName=TABLE, KeySchema=KEYS, AttributeDefinitions=NAMES, BillingMode="PAY_PER_REQUEST"
)
answered("create", created)
client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 0})
answered("describe", client.describe_table(TableName=TABLE))
for number in range(7):
    item = {"shop": "s", "order": number, "raw": bytes([0, 255, number]), "tags": {"é"}, "open": True}
    answered(f"put {number}", resource.put_item(Item=item))
answered("get", resource.get_item(Key={"shop": "s", "order": 3}))
answered("get nothing", resource.get_item(Key={"shop": "s", "order": 99}))
change = {
    "Key": {"shop": "s", "order": 3},
    "UpdateExpression": "SET #o = :no ADD seen :one",
    "ExpressionAttributeNames": {"#o": "open"},
    "ExpressionAttributeValues": {":no": False, ":one": 1, ":yes": True},
    "ConditionExpression": "#o = :yes",
    "ReturnValues": "ALL_NEW",
}
answered("update", resource.update_item(**change))
refused("update again", resource.update_item, **change)
refused(
    "put once only", resource.put_item, Item={"shop": "s", "order": 1}, ConditionExpression="attribute_not_exists(shop)"
)
answered("changed", resource.get_item(Key={"shop": "s", "order": 3}))
query = {
    "TableName": TABLE,
    "KeyConditionExpression": "shop = :s",
    "ExpressionAttributeValues": {":s": {"S": "s"}},
}
for at, page in enumerate(client.get_paginator("query").paginate(**query, PaginationConfig={"PageSize": 3})):
    answered(f"query {at}", page)
answered("scan", resource.scan(FilterExpression="seen = :one", ExpressionAttributeValues={":one": 1}))
with resource.batch_writer() as batch:
    for number in range(10, 14):
        batch.put_item({"shop": "t", "order": number})
    batch.delete_item({"shop": "s", "order": 0})
answered("count", resource.scan(Select="COUNT"))
answered(
    "transaction",
    client.transact_write_items(
        TransactItems=[{"Delete": {"TableName": TABLE, "Key": {"shop": {"S": "s"}, "order": {"N": "1"}}}}],
        ClientRequestToken="once-1",
    ),
)
answered("delete", resource.delete_item(Key={"shop": "s", "order": 2}, ReturnValues="ALL_OLD"))
answered("tables", client.list_tables())
refused("no table", client.describe_table, TableName="nothing")

"""SQS by boto3: queues, messages, receipts, batches."""

import boto3
from boto_steps import answered, refused

sqs = boto3.client("sqs")
created = sqs.create_queue(QueueName="jobs", Attributes={"VisibilityTimeout": "600"})
url = created["QueueUrl"]
answered("create", created)
answered("url", sqs.get_queue_url(QueueName="jobs"))
typed = {
    "raw": {"DataType": "Binary", "BinaryValue": bytes(range(256))},
    "n": {"DataType": "Number", "StringValue": "7"},
}
answered("send", sqs.send_message(QueueUrl=url, MessageBody='{"job": "一"}', MessageAttributes=typed))
entries = [{"Id": str(number), "MessageBody": f"job {number}"} for number in range(3)]
answered("send batch", sqs.send_message_batch(QueueUrl=url, Entries=entries))
answered("waiting", sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"]))
for at in range(4):
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1, MessageAttributeNames=["All"])
    handle = received["Messages"][0]["ReceiptHandle"]
    answered(f"receive {at}", received)
    answered(f"delete {at}", sqs.delete_message(QueueUrl=url, ReceiptHandle=handle))
answered("nothing left", sqs.receive_message(QueueUrl=url, WaitTimeSeconds=0))
answered("queues", sqs.list_queues())
answered("delete queue", sqs.delete_queue(QueueUrl=url))
refused("gone", sqs.get_queue_url, QueueName="jobs")

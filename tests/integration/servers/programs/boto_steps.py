"""What the clients by boto3 say of an answer, and of a refusal."""

from botocore.exceptions import ClientError
from steps import told


def answered(name, answer):
    """Print an answer of boto3's, with its headers and its body."""
    meta = answer.pop("ResponseMetadata")
    if "Body" in answer:
        answer["Body"] = answer["Body"].read()
    told(name, {"status": meta["HTTPStatusCode"], "headers": meta["HTTPHeaders"], **answer})


def refused(name, call, **arguments):
    """Tell the error of a call that must fail."""
    try:
        call(**arguments)
    except ClientError as error:
        told(name, error.response["Error"])
    else:
        raise SystemExit(f"{name} was not refused")

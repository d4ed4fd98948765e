"""S3 by boto3, as agents use it: objects, pages, uploads in parts, URLs that are signed for others."""

import io
import os
import sys
import time
import urllib.error
import urllib.request
from datetime import timedelta

import boto3
import botocore.auth
from boto3.s3.transfer import TransferConfig
from boto_steps import answered, refused
from botocore.config import Config
from steps import told

ALL_BYTES = bytes(range(256)) * 40
MIB = 2**20


def objects(s3):
    """Binary objects, metadata, ranges, conditions, copies, lists in pages, errors in XML, empty answers."""
    answered("create", s3.create_bucket(Bucket="shop"))
    answered("put", s3.put_object(Bucket="shop", Key="bytes", Body=ALL_BYTES, Metadata={"made-by": "test"}))
    answered("get", s3.get_object(Bucket="shop", Key="bytes"))
    answered("range", s3.get_object(Bucket="shop", Key="bytes", Range="bytes=250-259"))
    answered("tail", s3.get_object(Bucket="shop", Key="bytes", Range="bytes=-3"))
    answered("head", s3.head_object(Bucket="shop", Key="bytes"))
    answered("empty", s3.put_object(Bucket="shop", Key="empty", Body=b""))
    answered("get empty", s3.get_object(Bucket="shop", Key="empty"))
    for number in range(5):
        answered(f"page {number}", s3.put_object(Bucket="shop", Key=f"pages/{number} é+&'%2F", Body=b"%d" % number))
    answered("odd key", s3.get_object(Bucket="shop", Key="pages/3 é+&'%2F"))
    for at, page in enumerate(s3.get_paginator("list_objects_v2").paginate(Bucket="shop", MaxKeys=3)):
        answered(f"list {at}", page)
    answered("folders", s3.list_objects_v2(Bucket="shop", Delimiter="/"))
    answered("copy", s3.copy_object(Bucket="shop", Key="copied", CopySource={"Bucket": "shop", "Key": "bytes"}))
    answered("delete", s3.delete_object(Bucket="shop", Key="bytes"))
    refused("gone", s3.get_object, Bucket="shop", Key="bytes")
    refused("gone head", s3.head_object, Bucket="shop", Key="bytes")
    answered("delete many", s3.delete_objects(Bucket="shop", Delete={"Objects": [{"Key": "copied"}, {"Key": "empty"}]}))
    answered("list at last", s3.list_objects_v2(Bucket="shop"))


def uploads(s3):
    """A body after `Expect: 100-continue`, a stream, parts at once, a body in AWS's own chunks, one in HTTP's."""
    s3.create_bucket(Bucket="shop")
    answered("expect", s3.put_object(Bucket="shop", Key="expect", Body=io.BytesIO(ALL_BYTES * 130)))
    big = ALL_BYTES * 530
    parts = TransferConfig(multipart_threshold=MIB, multipart_chunksize=5 * MIB, max_concurrency=4)
    s3.upload_fileobj(io.BytesIO(big), "shop", "parts", Config=parts)
    read = io.BytesIO()
    s3.download_fileobj("shop", "parts", read, Config=parts)
    told("parts", read.getvalue())
    answered("parts head", s3.head_object(Bucket="shop", Key="parts"))
    upload = s3.create_multipart_upload(Bucket="shop", Key="by hand")
    part = s3.upload_part(Bucket="shop", Key="by hand", PartNumber=1, UploadId=upload["UploadId"], Body=ALL_BYTES)
    done = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    answered("listed", s3.list_parts(Bucket="shop", Key="by hand", UploadId=upload["UploadId"]))
    answered(
        "by hand",
        s3.complete_multipart_upload(Bucket="shop", Key="by hand", UploadId=upload["UploadId"], MultipartUpload=done),
    )
    gone = s3.create_multipart_upload(Bucket="shop", Key="gone")["UploadId"]
    answered("aborted", s3.abort_multipart_upload(Bucket="shop", Key="gone", UploadId=gone))
    url = s3.generate_presigned_url("put_object", {"Bucket": "shop", "Key": "chunks"}, ExpiresIn=600)
    unmeasured = {"Transfer-Encoding": "chunked", "Content-Type": "application/octet-stream"}
    fetched("chunks", url, method="PUT", data=iter([b"one ", b"two ", ALL_BYTES]), headers=unmeasured)
    answered("chunks read", s3.get_object(Bucket="shop", Key="chunks"))


def presigned(s3):
    """URLs that are signed for others, who use them without credentials."""
    s3.create_bucket(Bucket="shop")
    for key in ("a", "b"):
        place = {"Bucket": "shop", "Key": key}
        put = s3.generate_presigned_url("put_object", place, ExpiresIn=600)
        get = s3.generate_presigned_url("get_object", place, ExpiresIn=600)
        fetched(f"put {key}", put, method="PUT", data=f"signed {key}".encode(), headers={"Content-Type": "text/plain"})
        fetched(f"get {key}", get)
        fetched(f"range {key}", get, headers={"Range": "bytes=0-3"})
    fetched("gone", s3.generate_presigned_url("get_object", {"Bucket": "shop", "Key": "c"}, ExpiresIn=600))
    form = s3.generate_presigned_post("shop", "posted", ExpiresIn=600)
    boundary = b"x1y2z3"
    body = b"".join(
        b'--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (boundary, name.encode(), value.encode())
        for name, value in form["fields"].items()
    )
    body += b'--%s\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' % boundary
    body += ALL_BYTES + b"\r\n--%s--\r\n" % boundary
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}
    fetched("form", form["url"], data=body, headers=kind)
    answered("posted", s3.get_object(Bucket="shop", Key="posted"))


def fetched(name, url, **request):
    """Tell the answer to a request by somebody who knows a URL and nothing else."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, **request)) as answer:
            told(name, {"status": answer.status, "headers": answer.headers.items(), "body": answer.read()})
    except urllib.error.HTTPError as error:
        told(name, {"status": error.code, "body": error.read()})


def sign_later(seconds):
    """Let boto sign so much later: else a recording and its replay may fall into one second."""
    now, now_as_date = time.time, botocore.auth.get_current_datetime
    time.time = lambda: now() + seconds
    botocore.auth.get_current_datetime = lambda: now_as_date() + timedelta(seconds=seconds)


if __name__ == "__main__":
    what, version = sys.argv[1:]
    sign_later(int(os.environ.get("SIGN_LATER", "0")))
    globals()[what](boto3.client("s3", config=Config(signature_version=version)))

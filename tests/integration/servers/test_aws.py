"""S3, DynamoDB and SQS as moto speaks them and boto3 asks them: recorded, the server stopped, replayed."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.integration.servers.support import (
    Seen,
    comparable,
    installed,
    program,
    record,
    replay,
    run_program,
    started,
)
from tests.support import Project

pytestmark = installed

LIVE = {
    "AWS_ACCESS_KEY_ID": "AKIAQ7PLM4XKSVENT2RC",
    "AWS_SECRET_ACCESS_KEY": "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",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEJr7Kq2mT9vLx4Wb8ZcQ1uN6sHd3Gy0PfRa5",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": "none",
    "AWS_SHARED_CREDENTIALS_FILE": "none",
    "AWS_EC2_METADATA_DISABLED": "true",
}
SECRETS = [LIVE[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")]
OTHER = LIVE | {
    "AWS_ACCESS_KEY_ID": "AKIAZZ3DUMMY4KEY5ID6",
    "AWS_SECRET_ACCESS_KEY": "another",
    "AWS_SESSION_TOKEN": "another one",
    "SIGN_LATER": "3600",
}
"""Somebody else, an hour later."""
_V4 = ("X-Amz-Credential", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Signature")
SIGNED = {
    "s3v4": [*(f"?{name}" for name in _V4), *(f"/{name.lower()}" for name in _V4), "/policy"],
    "s3": [
        *("?AWSAccessKeyId", "?Signature", "?Expires", "?x-amz-security-token"),
        *("/AWSAccessKeyId", "/signature", "/policy", "/x-amz-security-token"),
    ],
}
"""What a signature changes in a URL and in a form, by the version of the signature."""


def configure(project: Project, url: str, service: str, ignore: list[str] | None = None) -> None:
    declared = f"ignore = {ignore}\n" if ignore else ""
    project.configure(f'[services.aws]\nurl = "{url}"\nenv = ["AWS_ENDPOINT_URL_{service}"]\n{declared}')


async def both(project: Project, service: str, command: list[str], ignore: list[str] | None = None) -> Seen:
    """Record against moto, replay without it and as somebody else: what boto3 saw is the same."""
    async with started("moto_server.py") as server:
        configure(project, server.url, service, ignore)
        seen = await record(project, command, LIVE)
    assert_no_secret(project.root)
    again = await replay(project, command, OTHER)
    assert comparable(again.steps, *SECRETS) == comparable(seen.steps, *SECRETS)
    assert_no_secret(project.root)
    return again


def assert_no_secret(root: Path) -> None:
    for path in root.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        for secret in SECRETS:
            assert secret.encode() not in data, path
            assert base64.b64encode(secret.encode()).rstrip(b"=")[:-1] not in data, path


@pytest.mark.parametrize("what", ["objects", "uploads"])
async def test_boto3_sees_of_s3_what_it_saw(project: Project, what: str) -> None:
    ignore = SIGNED["s3v4"] if what == "uploads" else None
    await both(project, "S3", program("s3.py", what, "s3v4"), ignore)


@pytest.mark.parametrize("version", ["s3v4", "s3"])
async def test_signed_urls_replay_at_another_time_where_their_signature_is_declared(
    project: Project, version: str
) -> None:
    seen = await both(project, "S3", program("s3.py", "presigned", version), SIGNED[version])
    assert seen.summary["forgiven"]


@pytest.mark.parametrize(
    ("version", "changed"),
    [("s3v4", ["?X-Amz-Credential", "?X-Amz-Date", "?X-Amz-Signature"]), ("s3", ["?Expires", "?Signature"])],
)
async def test_a_signed_url_that_nothing_declares_misses_and_the_miss_says_which_line_mends_it(
    project: Project, version: str, changed: list[str]
) -> None:
    command = program("s3.py", "presigned", version)
    async with started("moto_server.py") as server:
        configure(project, server.url, "S3")
        await record(project, command, LIVE)
    missed = await run_program(project, ["replay", "--cassette", "t"], command, OTHER)
    assert missed.summary["status"] == 3
    first = missed.summary["misses"][0]
    assert "the signature of a URL that changes by itself" in first["message"]
    assert f"ignore = {changed}".replace("'", '"') in first["fix"]


async def test_boto3_sees_of_dynamodb_what_it_saw(project: Project) -> None:
    await both(project, "DYNAMODB", program("dynamodb.py"))
    tools = {each.tool: each.effect for each in project.tape("t").interactions}
    assert (tools["GetItem"], tools["Query"], tools["PutItem"]) == ("read", "read", "write")


async def test_boto3_sees_of_sqs_what_it_saw(project: Project) -> None:
    await both(project, "SQS", program("sqs.py"))

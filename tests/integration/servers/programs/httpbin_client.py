"""Every route of httpbin by every method that it takes, by requests; a step is named after method and route."""

import os
import sys
from pathlib import Path

import requests
from requests.auth import HTTPBasicAuth, HTTPDigestAuth
from steps import told

ANY = "HTTPBIN_URL"
RIGHT, WRONG, TOKEN = (os.environ[name] for name in ("RIGHT_PASSWORD", "WRONG_PASSWORD", "HTTPBIN_TOKEN"))
PLAIN = ("/", "/html", "/robots.txt", "/deny", "/ip", "/uuid", "/headers", "/user-agent", "/get", "/gzip", "/deflate")
PLAIN += ("/brotli", "/cookies", "/forms/post", "/bearer", "/cache", "/encoding/utf8", "/image", "/image/png", "/json")
PLAIN += ("/image/jpeg", "/image/webp", "/image/svg", "/xml", "/anything", "/post", "/put", "/patch", "/delete")
TARGETS = {
    "/anything/<path:anything>": "/anything/a//b%2Fc/it%27s%20;p=1?q=1&q=&r=%26",
    "/absolute-redirect/<int:n>": "/absolute-redirect/3",
    "/redirect/<int:n>": "/redirect/3",
    "/relative-redirect/<int:n>": "/relative-redirect/3",
    "/redirect-to": f"/redirect-to?url={os.environ[ANY]}/get&status_code=307",
    "/base64/<value>": "/base64/aGVsbG8g5L2g5aW9",
    "/basic-auth/<user>/<passwd>": f"/basic-auth/alice/{RIGHT}",
    "/hidden-basic-auth/<user>/<passwd>": f"/hidden-basic-auth/alice/{RIGHT}",
    "/digest-auth/<qop>/<user>/<passwd>": f"/digest-auth/auth/alice/{RIGHT}",
    "/digest-auth/<qop>/<user>/<passwd>/<algorithm>": f"/digest-auth/auth/alice/{RIGHT}/SHA-256",
    "/digest-auth/<qop>/<user>/<passwd>/<algorithm>/<stale_after>": f"/digest-auth/auth/alice/{RIGHT}/MD5/never",
    "/bytes/<int:n>": "/bytes/2000",
    "/stream-bytes/<int:n>": "/stream-bytes/5000?chunk_size=700",
    "/range/<int:numbytes>": "/range/500?chunk_size=100",
    "/cache/<int:value>": "/cache/60",
    "/etag/<etag>": "/etag/one",
    "/cookies/set": "/cookies/set?theme=dark&lang=zh",
    "/cookies/set/<name>/<value>": "/cookies/set/basket/three",
    "/cookies/delete": "/cookies/delete?basket=",
    "/delay/<delay>": "/delay/0.1",
    "/drip": "/drip?duration=0.2&numbytes=5&delay=0",
    "/links/<int:n>": "/links/4",
    "/links/<int:n>/<int:offset>": "/links/4/1",
    "/response-headers": "/response-headers?X-One=1&X-One=2&X-Named=a%20b",
    "/static/<path:filename>": "/static/favicon.ico",
    "/status/<codes>": "/status/204",
    "/stream/<int:n>": "/stream/4",
} | {rule: rule for rule in PLAIN}

# Beside one request to each route: what its parameters and headers make of it. Each user asks at an address of his own.
ALICE, MALLORY, DIGEST, BEARER = ("ALICE_URL", "MALLORY_URL", "DIGEST_URL", "BEARER_URL")
WITH_TOKEN = {"Authorization": f"Bearer {TOKEN}", "X-Seen": "yes"}
MORE = [
    (ALICE, "GET", "/basic-auth/<user>/<passwd>", {"auth": HTTPBasicAuth("alice", RIGHT)}),
    (MALLORY, "GET", "/basic-auth/<user>/<passwd>", {"auth": HTTPBasicAuth("alice", WRONG)}),
    (ALICE, "GET", "/hidden-basic-auth/<user>/<passwd>", {"auth": HTTPBasicAuth("alice", RIGHT)}),
    (DIGEST, "GET", "/digest-auth/<qop>/<user>/<passwd>", {"auth": HTTPDigestAuth("alice", RIGHT)}),
    (DIGEST, "GET", "/digest-auth/<qop>/<user>/<passwd>/<algorithm>", {"auth": HTTPDigestAuth("alice", RIGHT)}),
    (BEARER, "GET", "/bearer", {"headers": WITH_TOKEN}),
    (BEARER, "GET", "/headers", {"headers": WITH_TOKEN}),
    (ANY, "GET", "/image", {"headers": {"Accept": "image/jpeg"}}),
    (ANY, "GET", "/image", {"headers": {"Accept": "image/svg+xml"}}),
    (ANY, "GET", "/image", {"headers": {"Accept": "application/pdf"}}),
    (ANY, "GET", "/etag/<etag>", {"headers": {"If-None-Match": '"one"'}}),
    (ANY, "GET", "/etag/<etag>", {"headers": {"If-Match": '"two"'}}),
    (ANY, "GET", "/cache", {"headers": {"If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}}),
    (ANY, "GET", "/range/<int:numbytes>", {"headers": {"Range": "bytes=10-19"}}),
    (ANY, "GET", "/range/<int:numbytes>", {"headers": {"Range": "bytes=900-"}}),
    (ANY, "GET", "/cookies/set", {"allow_redirects": False}),
    (ANY, "POST", "/post", {"json": {"b": [1, 2.50, None], "你": "好"}}),
    (ANY, "POST", "/post", {"data": {"a": ["1", "2"], "b": "x y&z"}}),
    (ANY, "POST", "/post", {"files": {"upload": ("blob.bin", bytes(range(256)), "application/octet-stream")}}),
    (ANY, "POST", "/post", {"data": iter([b"in ", b"chunks"]), "headers": {"Content-Type": "text/plain"}}),
    (ANY, "PUT", "/put", {"data": bytes(range(256)), "headers": {"Content-Type": "application/octet-stream"}}),
]
STATUSES = (200, 201, 202, 203, 206, 301, 302, 303, 304, 307, 400, 401, 402, 404, 406, 409, 410)
STATUSES += (418, 422, 429, 500, 503)


def step(name, method, target, at=ANY, **options):
    """Send one request and tell all that a client sees of the answer, and of the redirects before it."""
    with requests.Session() as session:
        answer = session.request(method, os.environ[at] + target, timeout=60, **options)
        headers = answer.raw.headers.items()
        lengths = [value for name, value in headers if name == "Content-Length"]
        passed = [(each.status_code, each.headers.get("Location")) for each in answer.history]
        told(
            name,
            {
                "url": answer.url,
                "passed": passed,
                "status": answer.status_code,
                "reason": answer.reason,
                "headers": [(name, value) for name, value in headers if name not in {"Connection", "Content-Length"}],
                "lengths": [value if int(value) != len(answer.content) else "right" for value in lengths],
                "body": answer.content,
                "cookies": sorted(session.cookies.items()),
            },
        )


if __name__ == "__main__":
    for route in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        method, _, rule = route.partition(" ")
        step(route, method, TARGETS[rule])
    for number, (at, method, rule, options) in enumerate(MORE):
        step(f"{number}: {method} {rule}", method, TARGETS[rule], at, **options)
    for status in STATUSES:
        step(f"status {status}", "GET", f"/status/{status}", allow_redirects=False)

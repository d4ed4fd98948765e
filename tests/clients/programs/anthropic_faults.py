"""The anthropic SDK under faults: `anthropic_faults.py [--stream] KIND...` calls once for each, and tells a line."""

from __future__ import annotations

import sys
from typing import Any

from anthropic import Anthropic

ASKED: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Where is A-1?"}]}
STREAM = "--stream" in sys.argv


def heard(client: Anthropic) -> str:
    if not STREAM:
        content: Any = client.messages.create(**ASKED).content
        return "".join(block.text for block in content) if isinstance(content, list) else type(content).__name__
    with client.messages.stream(**ASKED) as stream:
        return "".join(stream.text_stream)


for kind in [each for each in sys.argv[1:] if each != "--stream"]:
    with Anthropic(api_key="sk-ant-of-the-tests", max_retries=0, timeout=0.3 if kind == "timeout" else 30) as client:
        try:
            print(f"{kind}: {heard(client)}")
        except Exception as error:
            print(f"{kind}: {type(error).__name__} {getattr(error, 'status_code', '')}".rstrip())

"""An agent for the kill tests: many exchanges at once, each logged when begun and when wholly received.

    exchanging_agent.py LOG SEED EXCHANGES KILL_AFTER

The log takes one JSON line an event, by one append each, before the agent goes on. After its `KILL_AFTER`th whole
answer it kills its parent, the proxy (0: it never does). It ends when the proxy is gone.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import signal
import sys
import threading
from urllib.parse import urlsplit

KINDS = ("plain", "pieces", "stream", "bytes")
THREADS = 4


class Agent:
    """Sends the exchanges of one run from several threads."""

    def __init__(self, log: str, seed: int, exchanges: int, kill_after: int) -> None:
        """`exchanges` is how many there are in all."""
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._url = urlsplit(os.environ["DESK_URL"])
        self._kinds = random.Random(seed).choices(KINDS, k=exchanges)
        self._kill_after = kill_after
        self._whole = 0
        self._lock = threading.Lock()

    def run(self) -> None:
        """Every thread takes its share."""
        threads = [threading.Thread(target=self._share, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _share(self, number: int) -> None:
        connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port)
        for index in range(number, len(self._kinds), THREADS):
            try:
                self._exchange(connection, f"{self._kinds[index]}/{index}")
            except (OSError, http.client.HTTPException):
                return  # the proxy is gone

    def _exchange(self, connection: http.client.HTTPConnection, name: str) -> None:
        self._write({"begun": name})
        body = json.dumps({"name": name, "said": "退货"}, ensure_ascii=False).encode()
        connection.request("POST", f"{self._url.path}/{name}", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()  # raises IncompleteRead where the end is missing
        self._write({"whole": name, "body": base64.b64encode(content).decode()})
        with self._lock:
            self._whole += 1
            if self._whole == self._kill_after:
                os.kill(os.getppid(), signal.SIGKILL)

    def _write(self, event: dict[str, str]) -> None:
        os.write(self._log, json.dumps(event).encode() + b"\n")


if __name__ == "__main__":
    Agent(sys.argv[1], *map(int, sys.argv[2:])).run()

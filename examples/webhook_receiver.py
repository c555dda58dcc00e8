"""Receive the events of a competition and verify their signatures. It needs only Python.

usage: ANONCUP_WEBHOOK_SECRET=whsec_... python webhook_receiver.py PORT

Put a server with https before it, and give its address to the competition's page of webhooks.
"""

import hashlib
import hmac
import json
import os
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_S = 300
"""An older request may be the copy of one that somebody has recorded."""


def verify(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether a request was signed with the secret (Standard Webhooks) within the last minutes."""
    identifier, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > TOLERANCE_S:
        return False
    key = b64decode(secret.removeprefix("whsec_"))
    content = f"{identifier}.{timestamp}.".encode() + body
    expected = "v1," + b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return any(hmac.compare_digest(expected, part) for part in headers["webhook-signature"].split())


class Handler(BaseHTTPRequestHandler):
    known_ids: set[str] = set()  # noqa: RUF012  # of all requests

    def do_POST(self) -> None:  # the name that http.server calls
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not verify(os.environ["ANONCUP_WEBHOOK_SECRET"], self.headers, body):
            self.send_response(401)
        else:
            self.send_response(204)
            if self.headers["webhook-id"] not in self.known_ids:  # an event may arrive twice
                self.known_ids.add(self.headers["webhook-id"])
                print(json.dumps(json.loads(body)), flush=True)
        self.end_headers()


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()

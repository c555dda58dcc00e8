"""Receivers of webhooks on this machine."""

import json
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from examples.webhook_receiver import verify


@dataclass
class Receiver:
    """A receiver that keeps each request and answers with ``status``, or not until ``release`` is set."""

    url: str = ""
    status: int = 204
    hangs: bool = False
    release: Event = field(default_factory=Event)
    on_request: Callable[[], None] = lambda: None
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def read_bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]

    def read_types(self) -> list[str]:
        return [body["type"] for body in self.read_bodies()]

    def read_ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.requests]

    def are_signed_with(self, secret: str) -> bool:
        return all(verify(secret, headers, body) for headers, body in self.requests)


@contextmanager
def run_receiver(certificate: Path | None = None) -> Iterator[Receiver]:
    """Run a receiver; with a certificate it speaks https."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
            receiver.on_request()
            if receiver.hangs:
                receiver.release.wait()
                return
            self.send_response(receiver.status)
            if 300 <= receiver.status < 400:
                self.send_header("Location", receiver.url)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that gives up is expected
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    receiver.url = f"{scheme}://127.0.0.1:{server.server_port}/hook"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def make_certificate(folder: Path, name: str) -> Path:
    """Return a file with a key and a certificate for an IP address or name, signed by itself."""
    file = folder / "certificate.pem"
    kind = "IP" if name[0].isdigit() else "DNS"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={kind}:{name}"]
    subprocess.run(
        [*command, "-keyout", str(file), "-out", str(folder / "public.pem")], check=True, capture_output=True
    )
    file.write_bytes(file.read_bytes() + (folder / "public.pem").read_bytes())
    return file

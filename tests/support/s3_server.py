"""A local S3-compatible server: SeaweedFS from a Python package."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from httpx2 import Client, HTTPError
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from app.core.processes import child_process
from tests.support.service_processes import find_free_port
from tests.support.wait import poll_until

BUCKET = "cup"
ACCESS_KEY_ID, SECRET_ACCESS_KEY = "anoncup", "a secret of the store"
SERVER_PARTS = ("master", "volume", "filer", "s3")


@dataclass
class S3Server:
    """A server with one bucket and one pair of credentials. It can be killed and restarted on its data."""

    folder: Path
    ports: dict[str, int] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports['s3']}"

    @property
    def environment(self) -> Mapping[str, str]:
        """The usual AWS variables, as an operator sets them."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        }

    def start(self) -> None:
        """Start the server and wait until its bucket is ready."""
        self.ports = self.ports or {
            name: find_free_port() for part in SERVER_PARTS for name in (part, f"{part}.grpc")
        }
        log = self.folder / "weed.log"
        self.process = child_process.start(
            self.build_command(), log=log, env=os.environ | {"HOME": str(self.folder)}
        )
        with Client() as client:  # creates its TLS context once
            assert poll_until(lambda: self.has_ended() or self.is_ready(client)), log.read_text()
        assert not self.has_ended(), log.read_text()

    def build_command(self) -> list[str]:
        identity = {
            "name": "anoncup",
            "credentials": [{"accessKey": ACCESS_KEY_ID, "secretKey": SECRET_ACCESS_KEY}],
            "actions": ["Admin"],
        }
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        port_options = [
            f"-{part}.port{'.grpc' * grpc}={self.ports[part + '.grpc' * grpc]}"
            for part in SERVER_PARTS
            for grpc in (False, True)
        ]
        return [
            str(Path(sys.executable).parent / "weed"),
            *("server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.folder}"),
            *("-filer", "-s3", f"-s3.config={self.folder}/s3.json", "-s3.autoCreateBucket=false"),
            # It is the only voter. With the default timeout a restart takes ten seconds.
            *("-master.electionTimeout=1s", "-master.heartbeatInterval=100ms"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"),
            *("-volume.max=8", "-master.volumeSizeLimitMB=64", "-master.volumePreallocate=false"),
            *port_options,
        ]

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def is_ready(self, client: Client) -> bool:
        """Return whether an object can be written and read: the server's parts start one by one."""
        objects = S3Store(
            BUCKET,
            endpoint=self.endpoint,
            region="us-east-1",
            access_key_id=ACCESS_KEY_ID,
            secret_access_key=SECRET_ACCESS_KEY,
            client_options={"allow_http": True},
            retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=10)},
        )
        try:
            # A bucket is a folder of the filer.
            client.post(f"http://127.0.0.1:{self.ports['filer']}/buckets/{BUCKET}/")
            with suppress(AlreadyExistsError):
                objects.put("ready", b"ready", mode="create")
            return bytes(objects.get("ready").bytes()) == b"ready"
        except (HTTPError, BaseError, FileNotFoundError):
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def hang(self) -> None:
        """Stop the process: the kernel still accepts connections, but nothing answers."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)  # until all its threads have stopped

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

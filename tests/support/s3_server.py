"""A real S3-compatible store: SeaweedFS, from a package, on this machine."""

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

from app.processes import child_process
from tests.e2e.stack import free_port
from tests.support.wait import eventually

BUCKET = "cup"
KEY, SECRET = "anoncup", "a secret of the store"
PARTS = ("master", "volume", "filer", "s3")


@dataclass
class S3Server:
    """One bucket and one pair of credentials; it can be killed and started again on its data."""

    folder: Path
    ports: dict[str, int] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports['s3']}"

    @property
    def environment(self) -> Mapping[str, str]:
        """The usual names, as an operator sets them."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }

    def start(self) -> None:
        """Up, with its bucket, when this returns."""
        self.ports = self.ports or {name: free_port() for part in PARTS for name in (part, f"{part}.grpc")}
        log = self.folder / "weed.log"
        self.process = child_process.start(
            self.command(), log=log, env=os.environ | {"HOME": str(self.folder)}
        )
        with Client() as client:  # makes its TLS context once
            assert eventually(lambda: self.has_ended() or self.answers(client)), log.read_text()
        assert not self.has_ended(), log.read_text()

    def command(self) -> list[str]:
        identity = {
            "name": "anoncup",
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": ["Admin"],
        }
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        places = [
            f"-{part}.port{'.grpc' * grpc}={self.ports[part + '.grpc' * grpc]}"
            for part in PARTS
            for grpc in (False, True)
        ]
        return [
            str(Path(sys.executable).parent / "weed"),
            *("server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.folder}"),
            *("-filer", "-s3", f"-s3.config={self.folder}/s3.json", "-s3.autoCreateBucket=false"),
            # It votes for itself, so it need not wait for others: that takes ten seconds at a restart.
            *("-master.electionTimeout=1s", "-master.heartbeatInterval=100ms"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"),
            *("-volume.max=8", "-master.volumeSizeLimitMB=64", "-master.volumePreallocate=false"),
            *places,
        ]

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def answers(self, client: Client) -> bool:
        """Whether it takes and gives: after a start its parts find each other one by one."""
        objects = S3Store(
            BUCKET,
            endpoint=self.endpoint,
            region="us-east-1",
            access_key_id=KEY,
            secret_access_key=SECRET,
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
        """It accepts connections, for the kernel does, and answers nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)  # until every one of its threads stands

    def go_on(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

"""How often one web process says that a board has not changed: ``python -m benchmarks.hits [--small]``.

In the contest of ``benchmarks.pages`` some readers, on connections of their own, ask for the boards again
and again with the tag that they have, as visitors and as a team. Printed is how many are answered by a
second of the web process's CPU time, as a ratio to /healthz, which is measured before and after each
board. The goal is 0.8.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import psutil

from app.http.authentication import COOKIE
from app.processes import child_process
from app.processes.supervisor import wait_until_healthy
from benchmarks.load import HOST
from benchmarks.pages import filled, serving
from tests.e2e.stack import check_runs, free_port
from tests.support.large_contest import Size

GOAL = 0.8
BOARDS = ("anonymization", "reidentification", "matrix")


async def answered(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Status and headers of the next answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    await reader.readexactly(int(headers.get("content-length", 0)))
    return int(head[0].split()[1]), headers


async def asked(port: int, path: str, more: Mapping[str, str], times: int) -> int:
    """How many of so many answers were 304, once the tag is known."""
    reader, writer = await asyncio.open_connection(HOST, port)
    tag, hits = "", 0
    for _ in range(times):
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {HOST}",
            *(f"{name}: {value}" for name, value in more.items()),
        ]
        writer.write("\r\n".join([*lines, f"If-None-Match: {tag}", "", ""]).encode())
        status, headers = await answered(reader)
        tag, hits = headers.get("etag", ""), hits + (status == 304)
    writer.close()
    return hits


async def read_by(readers: int, port: int, path: str, more: Mapping[str, str], times: int) -> int:
    return sum(await asyncio.gather(*(asked(port, path, more, times // readers) for _ in range(readers))))


def rate(
    web: psutil.Process, port: int, path: str, more: Mapping[str, str], given: argparse.Namespace
) -> tuple[float, float]:
    """Return the answers per second of CPU, and the share of them that were 304."""
    times = given.requests
    asyncio.run(read_by(1, port, path, more, 10))
    before = web.cpu_times()
    hits = asyncio.run(read_by(given.readers, port, path, more, times))
    now = web.cpu_times()
    spent = now.user + now.system - before.user - before.system
    return times / spent, hits / times


def compare(
    web: psutil.Process, port: int, path: str, more: Mapping[str, str], given: argparse.Namespace
) -> str:
    """Measure a board between two measurements of /healthz."""
    before, _ = rate(web, port, "/healthz", {}, given)
    board, unchanged = rate(web, port, path, more, given)
    after, _ = rate(web, port, "/healthz", {}, given)
    ratio = 2 * board / (before + after)
    verdict = "met" if ratio >= GOAL else "MISSED"
    return f"{board:6.0f} /s of CPU, {100 * unchanged:5.1f} % unchanged, {ratio:.2f} of /healthz: {verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hits")
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--small", action="store_true", help="a contest of 40 submissions")
    given = parser.parse_args()
    size = Size(teams=8, each=5, targets=8) if given.small else Size(teams=50, each=10, targets=60)
    with serving() as client, tempfile.TemporaryDirectory() as folder:
        contest, _ = filled(client, size)
        team = {"Cookie": f"{COOKIE}={contest.arena.session(contest.arena.team('the first'))}"}
        port, log = free_port(), Path(folder, "web.log")
        command = [sys.executable, "-m", "app.cli.web_server", HOST, str(port)]
        process = child_process.start(command, log=log, env=os.environ | {"ANONCUP_WEB_PROCESSES": "1"})
        try:
            wait_until_healthy(f"http://{HOST}:{port}/healthz", check=lambda: check_runs(process, log))
            web = psutil.Process(process.pid)
            for name in BOARDS:
                path = f"/api/v1/competitions/crowded/boards/{name}"
                for who, more in {"visitor": {}, "team": team}.items():
                    print(name, who, compare(web, port, path, more, given), flush=True)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()

"""Measure conditional requests for boards: ``python -m benchmarks.hits [--small]``.

In the contest of ``benchmarks.pages``, readers repeatedly request the boards with their current ETag, as
visitors and as a team. Prints the responses per second of the web process's CPU time, as a ratio to /healthz,
which is measured before and after each board. The goal is 0.8.
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
from benchmarks.pages import fill_contest, run_application
from tests.support.large_contest import ContestSize
from tests.support.service_processes import find_free_port, require_running

_GOAL = 0.8
_BOARDS = ("anonymization", "reidentification", "matrix")


async def _read_response(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Read the next response and return its status and headers."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    await reader.readexactly(int(headers.get("content-length", 0)))
    return int(head[0].split()[1]), headers


async def _count_hits(port: int, path: str, extra_headers: Mapping[str, str], request_count: int) -> int:
    """Request a path repeatedly with its latest ETag; return how many responses were 304."""
    reader, writer = await asyncio.open_connection(HOST, port)
    tag, hits = "", 0
    for _ in range(request_count):
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {HOST}",
            *(f"{name}: {value}" for name, value in extra_headers.items()),
        ]
        writer.write("\r\n".join([*lines, f"If-None-Match: {tag}", "", ""]).encode())
        status, headers = await _read_response(reader)
        tag, hits = headers.get("etag", ""), hits + (status == 304)
    writer.close()
    return hits


async def _count_hits_by_readers(
    readers: int, port: int, path: str, extra_headers: Mapping[str, str], request_count: int
) -> int:
    return sum(
        await asyncio.gather(
            *(_count_hits(port, path, extra_headers, request_count // readers) for _ in range(readers))
        )
    )


def _measure_rate(
    web: psutil.Process, port: int, path: str, extra_headers: Mapping[str, str], options: argparse.Namespace
) -> tuple[float, float]:
    """Return the responses per second of CPU time, and the share of them that were 304."""
    request_count = options.requests
    asyncio.run(_count_hits_by_readers(1, port, path, extra_headers, 10))
    cpu_at_start = web.cpu_times()
    hits = asyncio.run(_count_hits_by_readers(options.readers, port, path, extra_headers, request_count))
    cpu_at_end = web.cpu_times()
    cpu_seconds = cpu_at_end.user + cpu_at_end.system - cpu_at_start.user - cpu_at_start.system
    return request_count / cpu_seconds, hits / request_count


def _compare_with_healthz(
    web: psutil.Process, port: int, path: str, extra_headers: Mapping[str, str], options: argparse.Namespace
) -> str:
    """Measure a board between two measurements of /healthz."""
    first_baseline, _ = _measure_rate(web, port, "/healthz", {}, options)
    board, unchanged = _measure_rate(web, port, path, extra_headers, options)
    second_baseline, _ = _measure_rate(web, port, "/healthz", {}, options)
    ratio = 2 * board / (first_baseline + second_baseline)
    verdict = "met" if ratio >= _GOAL else "MISSED"
    return f"{board:6.0f} /s of CPU, {100 * unchanged:5.1f} % unchanged, {ratio:.2f} of /healthz: {verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hits")
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--small", action="store_true", help="a contest of 40 submissions")
    options = parser.parse_args()
    size = (
        ContestSize(teams=8, submissions_per_team=5, targets=8)
        if options.small
        else ContestSize(teams=50, submissions_per_team=10, targets=60)
    )
    with run_application() as client, tempfile.TemporaryDirectory() as folder:
        contest, _ = fill_contest(client, size)
        team = {"Cookie": f"{COOKIE}={contest.arena.get_session(contest.arena.get_team_token('the first'))}"}
        port, log = find_free_port(), Path(folder, "web.log")
        command = [sys.executable, "-m", "app.cli.web_server", HOST, str(port)]
        process = child_process.start(command, log=log, env=os.environ | {"ANONCUP_WEB_PROCESSES": "1"})
        try:
            wait_until_healthy(f"http://{HOST}:{port}/healthz", check=lambda: require_running(process, log))
            web = psutil.Process(process.pid)
            for name in _BOARDS:
                path = f"/api/v1/competitions/crowded/boards/{name}"
                for audience, extra_headers in {"visitor": {}, "team": team}.items():
                    print(
                        name,
                        audience,
                        _compare_with_healthz(web, port, path, extra_headers, options),
                        flush=True,
                    )
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()

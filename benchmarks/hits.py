"""Measure conditional requests for boards: ``python -m benchmarks.hits [--small]``.

The contest is that of ``benchmarks.pages``. Visitors and a team repeatedly request the boards with the
current ETag. Prints the responses per CPU second of the web process, and their ratio to those of /healthz,
which is measured before and after each board. The goal is a ratio of 0.8.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import psutil

from app.core.identity.session_cookie import COOKIE
from app.core.processes import child_process
from app.operations.supervisor import wait_until_healthy
from benchmarks.large_contest import ContestSize
from benchmarks.load import HOST
from benchmarks.pages import fill_contest, run_application
from tests.support.service_processes import find_free_port, require_running

_MIN_RATIO = 0.8
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
    etag, hits = "", 0
    for _ in range(request_count):
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {HOST}",
            *(f"{name}: {value}" for name, value in extra_headers.items()),
        ]
        writer.write("\r\n".join([*lines, f"If-None-Match: {etag}", "", ""]).encode())
        status, headers = await _read_response(reader)
        etag, hits = headers.get("etag", ""), hits + (status == 304)
    writer.close()
    return hits


async def _count_hits_concurrently(
    reader_count: int, port: int, path: str, extra_headers: Mapping[str, str], request_count: int
) -> int:
    return sum(
        await asyncio.gather(
            *(
                _count_hits(port, path, extra_headers, request_count // reader_count)
                for _ in range(reader_count)
            )
        )
    )


def _measure_rate(
    web_process: psutil.Process,
    port: int,
    path: str,
    extra_headers: Mapping[str, str],
    options: argparse.Namespace,
) -> tuple[float, float]:
    """Return the responses per second of CPU time, and the share of them that were 304."""
    request_count = options.requests
    asyncio.run(_count_hits_concurrently(1, port, path, extra_headers, 10))
    cpu_at_start = web_process.cpu_times()
    hits = asyncio.run(_count_hits_concurrently(options.readers, port, path, extra_headers, request_count))
    cpu_at_end = web_process.cpu_times()
    cpu_seconds = cpu_at_end.user + cpu_at_end.system - cpu_at_start.user - cpu_at_start.system
    return request_count / cpu_seconds, hits / request_count


def _compare_with_healthz(
    web_process: psutil.Process,
    port: int,
    path: str,
    extra_headers: Mapping[str, str],
    options: argparse.Namespace,
) -> str:
    """Measure a board between two measurements of /healthz."""
    rate_before, _ = _measure_rate(web_process, port, "/healthz", {}, options)
    board_rate, hit_share = _measure_rate(web_process, port, path, extra_headers, options)
    rate_after, _ = _measure_rate(web_process, port, "/healthz", {}, options)
    ratio = 2 * board_rate / (rate_before + rate_after)
    verdict = "met" if ratio >= _MIN_RATIO else "MISSED"
    return (
        f"{board_rate:6.0f} /s of CPU, {100 * hit_share:5.1f} % unchanged, {ratio:.2f} of /healthz: {verdict}"
    )


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
        command = [sys.executable, "-m", "app.operations.web_server", HOST, str(port)]
        process = child_process.start(command, log=log, env=os.environ | {"ANONCUP_WEB_PROCESSES": "1"})
        try:
            wait_until_healthy(f"http://{HOST}:{port}/healthz", check=lambda: require_running(process, log))
            web_process = psutil.Process(process.pid)
            for name in _BOARDS:
                path = f"/api/v1/competitions/crowded/boards/{name}"
                for audience, extra_headers in {"visitor": {}, "team": team}.items():
                    print(
                        name,
                        audience,
                        _compare_with_healthz(web_process, port, path, extra_headers, options),
                        flush=True,
                    )
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()

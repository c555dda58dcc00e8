"""A web server with several processes, each of which can be killed without loss."""

import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.config import Settings
from app.operations import web_server
from app.operations.supervisor import build_web_program
from tests.support.service_processes import (
    find_free_port,
    open_small_contest,
    read_command_line,
    run_program,
    run_web_server,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

NUMERIC_LIBRARIES = {"numpy", "pandas", "pyarrow", "numba"}
COUNTED_LABELS = {"method": "GET", "route": "/api/v1/competitions", "status": "200"}


def find_processes(url: str) -> tuple[psutil.Process, list[psutil.Process]]:
    """Return the parent process of the web server and its two children."""
    port = str(urlsplit(url).port)
    (parent,) = (
        candidate for candidate in psutil.Process().children() if port in read_command_line(candidate)
    )
    assert poll_until(lambda: len(list_children(parent)) == 2)
    return parent, list_children(parent)


def list_children(parent: psutil.Process) -> list[psutil.Process]:
    """Return uvicorn's processes below their parent, without the resource tracker of multiprocessing."""
    return [child for child in parent.children() if "--multiprocessing-fork" in read_command_line(child)]


@contextmanager
def suspend_process(process: psutil.Process) -> Iterator[None]:
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def request_competitions(url: str, times: int = 1) -> None:
    for _ in range(times):
        assert httpx2.get(f"{url}/api/v1/competitions", timeout=TIMEOUT_S).status_code == 200


def read_request_count(url: str) -> float:
    families = text_string_to_metric_families(httpx2.get(f"{url}/metrics", timeout=TIMEOUT_S).text)
    samples = [sample for family in families for sample in family.samples if sample.labels == COUNTED_LABELS]
    return sum(sample.value for sample in samples if sample.name == "anoncup_http_requests_total")


def test_metrics_cover_all_processes(settings: Settings, tmp_path: Path) -> None:
    with run_web_server(tmp_path, processes=2) as url:
        _, (first, second) = find_processes(url)
        with suspend_process(first):
            request_competitions(url, 3)
            assert read_request_count(url) == 3
        with suspend_process(second):
            request_competitions(url, 4)
            assert read_request_count(url) == 7
        assert read_request_count(url) == 7
        metrics = httpx2.get(f"{url}/metrics", timeout=TIMEOUT_S).text
        assert {*re.findall(r'process_cpu_seconds_total\{pid="(\d+)"\}', metrics)} == {
            str(child.pid) for child in (first, second)
        }


def test_web_processes_load_no_numeric_libraries(settings: Settings, tmp_path: Path) -> None:
    """Numeric libraries would cost each web process 200 MB; uploads are read in helper processes."""
    with run_web_server(tmp_path, processes=2) as url:
        open_small_contest(url).submit()
        _, children = find_processes(url)
        helpers = [program for child in children for program in child.children()]
        loaded = [{*list_libraries(process)} & NUMERIC_LIBRARIES for process in (*children, *helpers)]
        assert loaded[:2] == [set(), set()]
        assert set().union(*loaded[2:]) == NUMERIC_LIBRARIES
    assert poll_until(lambda: not any(program.is_running() for program in helpers))


def list_libraries(process: psutil.Process) -> Iterator[str]:
    """Yield the packages whose compiled modules a process has loaded."""
    for part in process.memory_maps():
        _, _, library_path = part.path.partition("site-packages/")
        yield library_path.partition("/")[0]


def test_killed_process_is_replaced_without_loss(settings: Settings, tmp_path: Path) -> None:
    with run_web_server(tmp_path, processes=2) as url:
        contest = open_small_contest(url)
        identifier = contest.submit()
        count_before = read_request_count(url)
        request_competitions(url, 2)
        parent, old_children = find_processes(url)
        for child in old_children:
            child.kill()
        assert poll_until(lambda: len({*list_children(parent)} - {*old_children}) == 2)
        assert poll_until(lambda: is_healthy(url))
        assert contest.read_submission(identifier)["status"] == "QUEUED"
        assert read_request_count(url) == count_before + 2


def is_healthy(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", timeout=TIMEOUT_S).status_code == 200
    except httpx2.TransportError:
        return False


def test_signal_to_the_parent_ends_its_processes(settings: Settings, tmp_path: Path) -> None:
    folders_before = {*web_server.SHARED_MEMORY_FOLDER.glob("anoncup-*")}
    with run_web_server(tmp_path, processes=2) as url:
        parent, children = find_processes(url)
        parent.send_signal(signal.SIGTERM)
        assert poll_until(lambda: not any(child.is_running() for child in children))
        assert poll_until(lambda: parent.status() == psutil.STATUS_ZOMBIE)
    assert {*web_server.SHARED_MEMORY_FOLDER.glob("anoncup-*")} <= folders_before


@pytest.mark.parametrize("processes", [1, 2])
def test_server_that_cannot_load_the_application_ends(
    processes: int, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    program = build_web_program(
        host="127.0.0.1",
        port=find_free_port(),
        env={"ANONCUP_DATA": str(tmp_path / "data")},
        log=tmp_path / "log",
        process_count=processes,
    )
    with run_program(program) as process:
        assert process.wait(TIMEOUT_S) != 0
    assert "process_cannot_start" in (tmp_path / "log").read_text()


def test_killed_parent_ends_its_children(settings: Settings, tmp_path: Path) -> None:
    with run_web_server(tmp_path, processes=2) as url:
        request_competitions(url)
        parent, children = find_processes(url)
        parent.kill()
        assert poll_until(lambda: not any(child.is_running() for child in children))


def test_request_with_two_lengths_is_refused_and_ends_its_connection(
    settings: Settings, tmp_path: Path
) -> None:
    """A proxy may see it end elsewhere."""
    head = "POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with run_web_server(tmp_path) as url:
        address = (urlsplit(url).hostname, urlsplit(url).port)
        with socket.create_connection(address, timeout=TIMEOUT_S) as connection:
            connection.sendall(f"{head}0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answers = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1 ") == 1
    assert b"either Content-Length or Transfer-Encoding" in answers

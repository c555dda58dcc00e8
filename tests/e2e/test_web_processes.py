"""A web server in several processes: one listens as the others do, and none is missed when it is gone."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import QueuePool

from app.cli import web_server
from app.cli.local_service import usual_web_processes
from app.config import Settings
from app.db import engine
from tests.e2e.lines import watching
from tests.e2e.stack import command_line, small_contest, web
from tests.support.wait import PATIENCE_S, eventually

pytestmark = pytest.mark.full

NUMBERS = {"numpy", "pandas", "pyarrow", "numba"}
COUNTED = {"method": "GET", "route": "/api/v1/competitions", "status": "200"}


def family(url: str) -> tuple[psutil.Process, list[psutil.Process]]:
    """The parent of the web server at the address, and its two children."""
    port = str(urlsplit(url).port)
    (parent,) = (each for each in psutil.Process().children() if port in command_line(each))
    assert eventually(lambda: len(parent.children()) == 2)
    return parent, parent.children()


@contextmanager
def suspended(process: psutil.Process) -> Iterator[None]:
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def ask(url: str, times: int = 1) -> None:
    for _ in range(times):
        assert httpx2.get(f"{url}/api/v1/competitions", timeout=PATIENCE_S).status_code == 200


def counted(url: str) -> float:
    families = text_string_to_metric_families(httpx2.get(f"{url}/metrics", timeout=PATIENCE_S).text)
    samples = [sample for family in families for sample in family.samples]
    return sum(
        sample.value
        for sample in samples
        if sample.name == "anoncup_http_requests_total" and sample.labels == COUNTED
    )


def test_what_two_processes_count_adds_up_in_either_of_them(settings: Settings, tmp_path: Path) -> None:
    with web(tmp_path, processes=2) as url:
        _, (one, other) = family(url)
        with suspended(one):
            ask(url, 3)
            assert counted(url) == 3
        with suspended(other):
            ask(url, 4)
            assert counted(url) == 7
        assert counted(url) == 7
        measured = httpx2.get(f"{url}/metrics", timeout=PATIENCE_S).text
        for child in one, other:
            assert f'process_cpu_seconds_total{{pid="{child.pid}"}}' in measured


def test_who_takes_in_originals_and_releases_loads_no_numbers(settings: Settings, tmp_path: Path) -> None:
    """They are in programs beside: 200 MB of each web process, for good."""
    with web(tmp_path, processes=2) as url:
        small_contest(url).submit()
        _, children = family(url)
        beside = [program for child in children for program in child.children()]
        loaded = [{*libraries(one)} & NUMBERS for one in (*children, *beside)]
        assert loaded[:2] == [set(), set()]
        assert set().union(*loaded[2:]) == NUMBERS
    assert eventually(lambda: not any(program.is_running() for program in beside))


def libraries(process: psutil.Process) -> Iterator[str]:
    """The packages whose compiled parts a process has loaded."""
    for part in process.memory_maps():
        _, _, inside = part.path.partition("site-packages/")
        yield inside.partition("/")[0]


@pytest.mark.full
def test_a_killed_process_is_replaced_and_nothing_accepted_or_counted_is_lost(
    settings: Settings, tmp_path: Path
) -> None:
    with web(tmp_path, processes=2) as url:
        contest = small_contest(url)
        identifier = contest.submit()
        known = counted(url)
        ask(url, 2)
        parent, before = family(url)
        for child in before:
            child.kill()
        assert eventually(lambda: len({*parent.children()} - {*before}) == 2)
        assert eventually(lambda: answers(url))
        assert contest.submission(identifier)["status"] == "QUEUED"
        assert counted(url) == known + 2


def answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
    except httpx2.TransportError:
        return False


def test_a_signal_to_the_parent_ends_the_streams_and_then_all_processes(
    settings: Settings, tmp_path: Path
) -> None:
    with web(tmp_path, processes=2) as url:
        contest = small_contest(url)
        identifier = contest.submit()
        with watching(contest, identifier) as watcher:
            parent, children = family(url)
            parent.send_signal(signal.SIGTERM)
            assert watcher.until_closed().endswith(b"0\r\n\r\n")
        assert eventually(lambda: not any(child.is_running() for child in children))
        assert eventually(lambda: parent.status() == psutil.STATUS_ZOMBIE)
    counts = f"anoncup-*-{urlsplit(url).port}-*"
    assert not [*web_server.MEMORY.glob(counts), *(settings.data / "metrics").glob(counts)]


@pytest.mark.full
def test_a_process_that_stands_still_does_not_keep_the_others_from_ending(
    settings: Settings, tmp_path: Path
) -> None:
    with web(tmp_path, processes=2) as url:
        parent, children = family(url)
        children[0].suspend()
        parent.send_signal(signal.SIGTERM)
        assert eventually(lambda: parent.status() == psutil.STATUS_ZOMBIE)
        assert not any(child.is_running() for child in children)


@pytest.mark.full
def test_kill_9_of_the_parent_ends_the_others(settings: Settings, tmp_path: Path) -> None:
    with web(tmp_path, processes=2) as url:
        ask(url)
        parent, children = family(url)
        parent.kill()
        assert eventually(lambda: not any(child.is_running() for child in children))


@pytest.mark.full
def test_the_parent_has_forked_before_it_had_a_thread_or_a_connection(
    settings: Settings, tmp_path: Path
) -> None:
    with web(tmp_path, processes=2) as url:
        ask(url, 5)
        parent, _ = family(url)
        assert parent.num_threads() == 1
        assert [each.status for each in parent.net_connections("all")] == [psutil.CONN_LISTEN]


def test_what_is_bounded_in_memory_is_divided_by_the_number_of_processes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    divided = settings.model_copy(update={"web_processes": 4})
    assert (divided.share(800), divided.share(2)) == (200, 1)
    monkeypatch.setattr(engine, "get_settings", lambda: divided)
    pool = engine.get_engine.__wrapped__().pool
    assert isinstance(pool, QueuePool)
    assert (pool.size(), pool._max_overflow) == (2, 5)


def test_there_are_as_many_as_cores_up_to_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((1, 1), (2, 2), (64, 4)):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, n=cores: set(range(n)))
        assert usual_web_processes() == expected

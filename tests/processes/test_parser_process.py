"""Calls in a parser process have the same results and errors as direct calls, and leave nothing behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from math import isnan
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import psutil
import pytest

from anoncup.competition.drafts import create_draft
from anoncup.errors import Conflict, FileProblem, InvalidUpload, Unavailable
from anoncup.messages import Message, PluralMessage
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import parse_secret, write_secret
from anoncup.tracks.model import TeamData
from app.config import Settings
from app.db.stored_files import read_rules
from app.processes import call_results, parser_process
from app.processes.parser_process import ORIGINALS, UPLOADS, ParserProcess, call
from app.processes.sandboxed_child import SandboxedChild
from app.services.contests import revisions
from app.services.originals import kits, original_import
from app.services.submissions import uploads
from app.storage import get_store
from tests.support import hostile_parser
from tests.support.arena import ROWS, build_competition_toml, build_noisy_release, build_original_table
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

T = TypeVar("T")


@pytest.fixture
def parser_enabled(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(parser_process, "PROGRAM", hostile_parser.__name__)
    parser_process.enable(settings.model_copy(update={"sandbox": "wanted"}))
    yield
    parser_process.disable()


def get_parser_pid() -> int:
    return call(UPLOADS, hostile_parser.list_process_ids)["pid"]


def catch_refusal(kind: str) -> tuple[type[Exception], str, dict[str, object]]:
    with pytest.raises((InvalidUpload, Conflict)) as excinfo:
        call(UPLOADS, hostile_parser.refuse, kind)
    return type(excinfo.value), str(excinfo.value), vars(excinfo.value)


@pytest.mark.parametrize("kind", ["malformed", "conflict"])
def test_refusal_is_the_same_in_a_parser_process(kind: str, request: pytest.FixtureRequest) -> None:
    direct_result = catch_refusal(kind)
    request.getfixturevalue("parser_enabled")
    assert catch_refusal(kind) == direct_result


def test_results_are_the_same_in_a_parser_process(request: pytest.FixtureRequest) -> None:
    direct_result = call(UPLOADS, hostile_parser.make_results)
    request.getfixturevalue("parser_enabled")
    received = call(UPLOADS, hostile_parser.make_results)
    numbers = direct_result.numbers.pop("nan"), received.numbers.pop("nan")
    assert all(map(isnan, numbers))
    assert received == direct_result
    assert (type(received.count), type(received.share)) == (int, float)


def test_parser_is_reused_and_its_prints_are_ignored(parser_enabled: None) -> None:
    first = get_parser_pid()
    assert call(UPLOADS, hostile_parser.print_text, "said") == 1
    assert get_parser_pid() == first != os.getpid()
    assert call(ORIGINALS, hostile_parser.list_process_ids)["pid"] not in {first, os.getpid()}


def test_result_that_cannot_be_serialized_is_an_internal_error(parser_enabled: None) -> None:
    with pytest.raises(RuntimeError):
        call(UPLOADS, hostile_parser.return_unwritable)
    assert get_parser_pid() > 0


def test_killed_parser_is_replaced(parser_enabled: None) -> None:
    first, child = get_parser_pid(), parser_process.parsers[UPLOADS].slot.child
    assert child is not None
    os.kill(first, signal.SIGKILL)
    assert child.has_output_within(TIMEOUT_S)  # its pipe is closed
    assert get_parser_pid() != first


def test_idle_parser_ends_and_is_restarted(parser_enabled: None) -> None:
    parser = parser_process.parsers[UPLOADS]
    parser.settings = parser.settings.model_copy(update={"scoring_idle_s": 0.05})
    first = get_parser_pid()
    assert poll_until(lambda: not psutil.pid_exists(first))
    assert get_parser_pid() != first


def test_closed_parsers_run_nothing_in_this_process(parser_enabled: None) -> None:
    parser_process.close()
    with pytest.raises(Unavailable):
        get_parser_pid()


PARENT_PROGRAM = """
from threading import Thread
from app.config import Settings
from app.processes import parser_process
from tests.support import hostile_parser
parser_process.PROGRAM = hostile_parser.__name__
parser_process.enable(Settings(sandbox="wanted"))
def ask():
    print(parser_process.call("uploads", hostile_parser.list_process_ids)["pid"], flush=True)
asking = Thread(target=ask)
asking.start()
asking.join()  # a parser does not end with the thread that asked it first
ask()
parser_process.call("uploads", hostile_parser.loop)
"""


def test_parser_ends_with_its_killed_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT_PROGRAM], stdout=subprocess.PIPE, cwd=Path.cwd()
    ) as parent:
        assert parent.stdout is not None
        first, second = int(parent.stdout.readline()), int(parent.stdout.readline())
        assert first == second
        os.kill(first, signal.SIGTERM)  # as a group is stopped
        assert psutil.pid_exists(first)
        parent.kill()
    assert poll_until(lambda: not psutil.pid_exists(first))


def test_message_round_trips_through_json() -> None:
    plural = PluralMessage("{n} row", "{n} rows", "n", n=2)
    message = Message("{a}, {b} of {c}", a=(1, "x", None), b=plural, c=0.5)
    problem = FileProblem("a.csv", 3, "age", "empty", message, value="\u202e")
    excinfo = call_results.CallError.from_error(InvalidUpload([problem], total=7))
    restored = call_results.CallError.model_validate_json(excinfo.model_dump_json())
    assert restored == excinfo
    assert isinstance(restored.problems[0].message.values["b"], PluralMessage)


@pytest.fixture(scope="module")
def parsers(session_settings: Settings) -> Iterator[None]:
    parser_process.enable(session_settings.model_copy(update={"sandbox": "wanted"}))
    yield
    parser_process.disable()


def call_twice(
    name: str, digests: Collection[str], function: Callable[..., T], *arguments: Any, **keywords: Any
) -> T:
    """Call the function in a parser and directly, and assert that the results are equal."""
    received = parser_process.call_with_files(name, digests, function, *arguments, **keywords)
    assert repr(received) == repr(function(*arguments, **keywords))
    return received


TRACKS_WITH_EXAMPLES = [name for name, track in TRACKS.items() if track.examples.make_data is not None]


@pytest.mark.parametrize("name", TRACKS_WITH_EXAMPLES)
def test_files_of_every_track_are_parsed_equally(name: str, parsers: None) -> None:
    track, file = TRACKS[name], create_draft(name)
    assert track.examples.make_data is not None
    contents = dict(track.examples.make_data(read_rules(file), 60, 1))
    first_file = next(iter(contents))
    content = contents[first_file]
    table_format = call_twice(ORIGINALS, (), original_import.guess_table_format, first_file, content)
    upload = file, first_file, content, table_format
    table = call_twice(ORIGINALS, (), original_import.describe_table, *upload)
    roles = tuple(column.role for column in table.columns)
    file, contents[first_file] = call_twice(ORIGINALS, (), original_import.import_table, *upload, roles)
    parsed = call_twice(ORIGINALS, (), revisions.parse_original, read_rules(file), contents, in_use=True)
    assert parsed.individuals
    digests = tuple((part, get_store().save(content)) for part, content in contents.items())
    stored = dict(digests).values()
    call_twice(ORIGINALS, stored, original_import.describe_stored_table, file, *digests[0])
    example = call_twice(ORIGINALS, stored, kits.make_example, file, digests).files
    secret = example.pop(track.answer_spec.file.name)
    call_twice(
        UPLOADS, stored, uploads.check_files, file, digests, files=example, secret=secret, team=TeamData()
    )
    release = call_twice(
        UPLOADS, stored, uploads.parse_release, file, digests, files=example, secret=secret, team=TeamData()
    )
    assert release.secret == secret


def test_secret_in_another_order_is_recognized(parsers: None) -> None:
    table, secret = build_noisy_release(1, build_original_table())
    digests = (("original", get_store().save(write_csv(build_original_table()))),)
    source = parse_secret(secret, original_count=ROWS, anonymized_count=ROWS)
    other_secret, file = write_secret(np.argsort(source)), build_competition_toml("small")
    upload: dict[str, Any] = {"files": {"anonymized": table}, "secret": other_secret, "team": TeamData()}
    _, remarks = call_twice(UPLOADS, dict(digests).values(), uploads.check_files, file, digests, **upload)
    assert [remark.code for remark in remarks] == ["secret_of_another_file"]


def test_child_is_ended_once_despite_a_concurrent_timer(session_settings: Settings) -> None:
    parser = ParserProcess(session_settings, memory_mb=64, time_limit_s=1.0, warm=False)
    calls: list[str] = []

    class EndingChild:
        def end(self) -> None:
            calls.append("ended")
            parser.slot.end()

    parser.slot.child = cast(SandboxedChild, EndingChild())
    parser.slot.end()
    assert calls == ["ended"]


def test_retry_in_a_warm_child_has_the_same_deadline(
    session_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = session_settings.model_copy(update={"sandbox": "off"})
    parser = ParserProcess(settings, memory_mb=64, time_limit_s=60.0, warm=False)
    deadlines: list[float] = []

    class AnsweringChild:
        def send(self, _: object, *, deadline: float, **__: bytes) -> None:
            deadlines.append(deadline)

        def read(self, _: float) -> dict[str, object]:
            return {"returned": 2} if parser.warm else {"failed": "cold"}

        def read_content(self, _: int, **__: float) -> bytes:
            return b"{}"

    monkeypatch.setattr(parser.slot, "get", lambda *_, **__: AnsweringChild())
    monkeypatch.setattr(parser.slot, "release", lambda _: None)
    assert parser.exchange(b"", lambda *answer: answer) == ("returned", b"{}")
    assert deadlines == [deadlines[0]] * 2

"""Output in a terminal: text of the service cannot contain control sequences or markup."""

import json
import time
from datetime import UTC, datetime

import pytest

from anoncup.cli.output import format_cell, print_entries, print_fields, print_json

pytestmark = pytest.mark.full

HOSTILE = "a\x1b[2Jb\r\n\u202ec[bold]d[/x]:smile:"


def test_table_escapes_control_characters_and_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_entries([{"name": HOSTILE, "n": 1}], {"name": "name", "n": "n"}, as_json=False)
    stdout = capsys.readouterr().out
    assert "[bold]d[/x]:smile:" in stdout
    assert not {"\x1b", "\r", "\u202e"} & set(stdout)
    print_fields({"name": HOSTILE}, {"name": "name"})
    assert capsys.readouterr().out == "name  a [2Jb   c[bold]d[/x]:smile:\n"


def test_ids_are_not_truncated_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    identifier = "c74d69ef-3196-4a32-87b0-8a5d49af3125"
    print_entries(
        [{"id": identifier, "comment": "x" * 150}], {"id": "id", "comment": "comment"}, as_json=False
    )
    assert identifier in capsys.readouterr().out


def test_json_output_is_ascii_and_round_trips(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([HOSTILE, "日本"])
    stdout = capsys.readouterr().out
    assert stdout.isascii()
    assert json.loads(stdout) == [HOSTILE, "日本"]


def test_times_include_the_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert format_cell(datetime(2027, 1, 31, tzinfo=UTC)) == "2027-01-31 09:00:00 JST"
    finally:
        monkeypatch.undo()
        time.tzset()

"""Progress of commands without a terminal."""

import threading

import pytest

from anoncup.cli import terminal


class RecordedStderr:
    """An error stream that is no terminal and notifies waiting threads of writes."""

    def __init__(self) -> None:
        self.text = ""
        self.text_written = threading.Condition()

    def write(self, text: str) -> int:
        with self.text_written:
            self.text += text
            self.text_written.notify_all()
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered."""

    def isatty(self) -> bool:
        return False

    def wait_for(self, part: str, *, times: int = 1) -> None:
        with self.text_written:
            assert self.text_written.wait_for(lambda: self.text.count(part) >= times, timeout=60), self.text


def capture_stderr(monkeypatch: pytest.MonkeyPatch) -> RecordedStderr:
    """Replace stderr. Called in the test itself, because pytest sets its own stream after the fixtures."""
    lines = RecordedStderr()
    monkeypatch.setattr("sys.stderr", lines)
    return lines


def test_long_step_is_reported_repeatedly(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = capture_stderr(monkeypatch)
    monkeypatch.setattr(terminal, "LINE_INTERVAL_S", 0.001)
    with terminal.progress_bar("threshold") as progress:
        errors.wait_for("threshold (")
        progress(2, 5, "bounds")
        errors.wait_for("threshold: bounds, 2 of 5 (", times=2)
        progress(0, 0, "queued")
        errors.wait_for("threshold: queued (")


def test_quick_step_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = capture_stderr(monkeypatch)
    with terminal.progress_bar("scoring") as progress:
        progress(1, 1, "all")
    assert errors.text == ""


def test_closed_stderr_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = capture_stderr(monkeypatch)
    monkeypatch.setattr(terminal, "LINE_INTERVAL_S", 0.001)
    write_failed = threading.Event()

    def refuse(text: str) -> int:
        write_failed.set()
        raise BrokenPipeError

    monkeypatch.setattr(errors, "write", refuse)
    with terminal.progress_bar("scoring"):
        assert write_failed.wait(60)

"""What a command says of its progress where there is no terminal."""

import threading

import pytest

from anoncup.cli import terminal


class Lines:
    """An error channel that is no terminal and tells when a line has come."""

    def __init__(self) -> None:
        self.text = ""
        self.came = threading.Condition()

    def write(self, text: str) -> int:
        with self.came:
            self.text += text
            self.came.notify_all()
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        return False

    def wait_for(self, part: str, *, times: int = 1) -> None:
        with self.came:
            assert self.came.wait_for(lambda: self.text.count(part) >= times, timeout=60), self.text


def listening(monkeypatch: pytest.MonkeyPatch) -> Lines:
    """To be called in the test itself: pytest puts its own channel in place after the fixtures."""
    lines = Lines()
    monkeypatch.setattr("sys.stderr", lines)
    return lines


def test_a_long_step_is_said_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = listening(monkeypatch)
    monkeypatch.setattr(terminal, "LINE_EVERY_S", 0.001)
    with terminal.progress_bar("threshold") as progress:
        errors.wait_for("threshold (")
        progress(2, 5, "bounds")
        errors.wait_for("threshold: bounds, 2 of 5 (", times=2)
        progress(0, 0, "queued")
        errors.wait_for("threshold: queued (")


def test_what_is_quick_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = listening(monkeypatch)
    with terminal.progress_bar("scoring") as progress:
        progress(1, 1, "all")
    assert errors.text == ""


def test_nobody_listening_stops_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = listening(monkeypatch)
    monkeypatch.setattr(terminal, "LINE_EVERY_S", 0.001)
    gone = threading.Event()

    def refuse(text: str) -> int:
        gone.set()
        raise BrokenPipeError

    monkeypatch.setattr(errors, "write", refuse)
    with terminal.progress_bar("scoring"):
        assert gone.wait(60)

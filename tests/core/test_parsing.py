"""Jobs of the web process: what failures mean for the sender of a file."""

from collections.abc import Iterator

import pytest

from anoncup.errors import Conflict, InvalidInput, Unavailable
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.runner import answers, sandbox
from anoncup.runner.sandbox import Sandbox
from app.config import Settings
from app.core.processes import parsing, runners
from app.core.processes.parsing import PackageFailure
from tests.support.hostile_jobs import Deed, Lie, Refuse

QUICK = Settings(sandbox="wanted", parsing_time_limit_s=1, parsing_memory_mb=2500)
PACKAGE = Package("mine", "1.0", "mine:PLUGIN", parts=("tracks.mine",))


@pytest.fixture(scope="module", autouse=True)
def parsing_in_sandbox() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_settings", QUICK)
        yield
    runners.end_all()


@pytest.fixture
def with_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "INSTALLED", InstalledParts(TRACKS, (PACKAGE,)))


@pytest.mark.parametrize(
    ("action", "limit_s", "code", "words"),
    [
        ("take_memory", 60, "parsing_memory_limit", "more memory than the limit of 2500 MB"),
        ("run_endlessly", 1, "parsing_time_limit", "longer than the limit of 1 s"),
    ],
)
def test_upload_above_a_limit_is_refused(action: str, limit_s: float, code: str, words: str) -> None:
    parsing.enable(QUICK.model_copy(update={"parsing_time_limit_s": limit_s}))
    with pytest.raises(InvalidInput, match=words) as refusal:
        parsing.read_upload(Deed(name=action), "microdata")
    assert refusal.value.code == code
    parsing.enable(QUICK)


def test_error_of_ours_is_told_as_one(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RuntimeError, match="could not be read"):
        parsing.read_upload(Refuse(reason="secret"), "microdata")
    with pytest.raises(RuntimeError, match="could not be read"):
        parsing.read_upload(Refuse(reason="text"), "microdata")
    with pytest.raises(Unavailable, match="has ended"):
        parsing.read_upload(Refuse(reason="crash"), "microdata")
    assert "secret" not in caplog.text


@pytest.mark.parametrize("reason", ["secret", "text", "crash"])
def test_failure_of_a_package_blames_the_package(with_package: None, reason: str) -> None:
    with pytest.raises(Unavailable) as failure:
        parsing.read_upload(Refuse(reason=reason), "mine")
    assert (failure.value.code, failure.value.message.values["package"]) == ("package_failed", "mine")


def test_failing_plug_in_of_another_track_is_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "INSTALLED", InstalledParts(TRACKS, (PACKAGE,)))
    crash = b'crashed\n{"trace":"in measure","package":"mine"}'
    with pytest.raises(PackageFailure, match="the package mine fails") as failure:
        parsing.read_upload(Lie(answer=crash), "microdata")
    assert failure.value.traceback == "in measure"


def test_slow_package_is_told_its_limits(with_package: None) -> None:
    with pytest.raises(Unavailable, match="mine exceeds the limits") as failure:
        parsing.read_upload(Deed(name="run_endlessly"), "mine")
    assert failure.value.code == "package_failed"


def test_refusal_of_a_package_is_the_senders(with_package: None) -> None:
    with pytest.raises(Conflict):
        parsing.read_upload(Refuse(reason="fixed"), "mine")


def test_missing_required_sandbox_refuses_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "get_available", lambda: Sandbox(call_mechanism=sandbox.SECCOMP))
    parsing.enable(QUICK.model_copy(update={"sandbox": "required"}))
    with pytest.raises(Unavailable, match="cannot read files safely"):
        parsing.read_upload(Deed(name="nothing"), "microdata")
    parsing.enable(QUICK)

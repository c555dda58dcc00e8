"""Validation of results that are stored: real ones are accepted, all others rejected."""

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic_core import to_json

from anoncup.competition.templates import template
from anoncup.errors import Conflict, FileProblem, InvalidResult, InvalidUpload
from anoncup.messages import Message
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.runner import answers, scoring
from anoncup.runner.answers import JobFailure, ProgressSender
from anoncup.runner.calls import DescribeJob
from anoncup.runner.jobs import (
    AdviceJob,
    AnyJob,
    JudgeJob,
    ReadReleaseJob,
    ScoreJob,
    TargetFilesJob,
)
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.model import TeamData
from tests.support.arena import build_competition_toml, build_noisy_release, build_original_table

Json = dict[str, Any]


def compute_result(job: AnyJob) -> Any:
    """Return the result that a child would give."""
    return json.loads(to_json(job.handler(job, ProgressSender()), bytes_mode="base64"))


def is_valid(job: AnyJob, result: Any) -> bool:
    try:
        job.read_result(json.dumps({"value": result}).encode(errors="surrogatepass"))
    except ValueError:
        return False
    return True


def is_valid_verdict(job: ScoreJob, verdict: Any) -> bool:
    return is_valid(job, {"verdict": verdict, "scorer": "1", "steps": 2})


@pytest.fixture(scope="module")
def microdata() -> tuple[ScoreJob, Json]:
    table = build_original_table()
    anonymized, secret = build_noisy_release(1, table)
    request = ScoreJob(
        competition_file=build_competition_toml(),
        original={"original": write_csv(table)},
        files={"anonymized": anonymized},
        secret=secret,
    )
    return request, compute_result(request)["verdict"]


def test_computed_verdict_is_valid(microdata: tuple[ScoreJob, Json]) -> None:
    assert is_valid_verdict(*microdata)


def replace_value(verdict: Json, *path: str | int, value: Any) -> Json:
    changed_verdict = copy.deepcopy(verdict)
    container: Any = changed_verdict
    for step in path[:-1]:
        container = container[step]
    container[path[-1]] = value
    return changed_verdict


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("overall",), float("nan")),
        (("overall",), -0.1),
        (("utility",), "0"),
        (("security",), 2),
        (("verdict",), "rejected"),
        (("verdict",), "best"),
        (("violations",), [{"code": "x"}]),
        (("violations",), [{"code": "x", "message": "a rule is broken"}]),
        (("more",), "another team's secret"),
        (("measures",), {}),
        (("measures",), {"item_mae": {"value": 0.0, "version": 1, "rounding": 0.0}}),
        (("measures", "mean_mae"), 0.5),
        (("measures", "mean_mae", "value"), float("inf")),
        (("measures", "mean_mae", "version"), 99),
        (("measures", "mean_mae", "details"), {"\0": 1.0}),
        (("measures", "mean_mae", "details"), dict.fromkeys(map(str, range(1001)), 1.0)),
        (("measures", "another"), {"value": 0.0, "version": 1, "rounding": 0.0}),
        (("attackers", "euc1", "rate"), 1.5),
        (("attackers", "euc1", "version"), 99),
        (("attackers", "euc1", "trials"), 10**400),
        (("attackers", "euc1", "trials"), -1),
        (("attackers", "euc1", "interval"), [0.0]),
        (("attackers", "euc1", "note"), "a note without a template"),
        (("excessive", "histogram", "counts"), [0] * 1001),
        (("excessive", "histogram", "counts"), [2**63]),
        (("excessive", "histogram", "counts"), [-1]),
    ],
)
def test_invalid_verdict_is_rejected(
    microdata: tuple[ScoreJob, Json], path: tuple[str | int, ...], value: Any
) -> None:
    request, verdict = microdata
    assert not is_valid_verdict(request, replace_value(verdict, *path, value=value))


def list_paths(value: Any, *path: str | int) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every field of a verdict. Lists contribute only their first entry."""
    parts = (
        value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    )
    for name, part in parts:
        yield (*path, name)
        yield from list_paths(part, *path, name)


def test_verdict_with_null_wrong_type_or_unknown_field_is_rejected(
    microdata: tuple[ScoreJob, Json],
) -> None:
    request, verdict = microdata
    paths = [*list_paths(verdict)]
    assert len(paths) > 100
    nullable_paths = [
        path for path in paths if is_valid_verdict(request, replace_value(verdict, *path, value=None))
    ]
    assert nullable_paths == [("excessive", "threshold")]
    for path in paths:
        assert not is_valid_verdict(request, replace_value(verdict, *path, value={"more": "x"})), path
        if isinstance(path[-1], str):
            assert not is_valid_verdict(request, replace_value(verdict, *path[:-1], "more", value="x")), path


def add_note(verdict: Json, text: str, **values: Any) -> Json:
    """Return the verdict with a note of an attacker."""
    note = {"note": text, "note_template": "{said}" if values else text, "note_values": values}
    return replace_value(verdict, "attackers", "euc1", value=verdict["attackers"]["euc1"] | note)


def test_names_and_notes_may_use_any_script(microdata: tuple[ScoreJob, Json]) -> None:
    request, verdict = microdata
    for text in ("収入\u3000（円）", "a\nb", "💡"):
        assert is_valid_verdict(request, add_note(verdict, text))
        assert is_valid_verdict(request, add_note(verdict, text, said=text))
        assert is_valid_verdict(
            request, add_note(verdict, text, said={"template": "{a}", "values": {"a": [text]}})
        )


@pytest.mark.parametrize(
    ("text", "note_value"),
    [
        ("another sentence", "this one"),
        ("x" * 10_001, "x" * 10_001),
        ("\ud800", "\ud800"),
        ("nan", float("nan")),
        ("{}", {}),
        ("x", {"template": "x"}),
        ("x", {"template": "x", "values": {}, "more": 1}),
        ("x", {"template": "{a}", "values": {"a": [["x"]]}}),
        ("5", {"template": 5, "values": {}}),
        ("x", {"template": "x", "values": {}, "plural": {"one": "x", "many": 5, "by": "a"}}),
    ],
)
def test_note_must_match_its_template_and_values(
    microdata: tuple[ScoreJob, Json], text: str, note_value: Any
) -> None:
    request, verdict = microdata
    assert not is_valid_verdict(request, add_note(verdict, text, said=note_value))


PLURAL = {"one": "{a} row", "many": "{a} rows", "by": "a"}


@pytest.mark.parametrize(
    ("changes", "is_consistent"),
    [
        ({}, True),
        ({"values": {"a": 4}}, False),
        ({"values": None}, False),
        ({"plural": PLURAL}, True),
        ({"message": "3 row", "plural": PLURAL}, False),
        ({"plural": PLURAL | {"many": "{a} lines"}}, False),
        ({"plural": PLURAL | {"more": "x"}}, False),
        ({"plural": {"one": "{a} row"}}, False),
        ({"plural": None}, False),
    ],
)
def test_message_must_match_its_template_values_and_plural_form(
    microdata: tuple[ScoreJob, Json], changes: Json, is_consistent: bool
) -> None:
    request, verdict = microdata
    notice = {"code": "x", "message": "3 rows", "template": "{a} rows", "values": {"a": 3}} | changes
    names = {"message": "note", "template": "note_template", "values": "note_values", "plural": "note_plural"}
    note = {name: notice[key] for key, name in names.items() if key in notice}
    attacker = verdict["attackers"]["euc1"] | note
    for changed_verdict in (
        verdict | {"verdict": "rejected", "violations": [notice]},
        verdict | {"warnings": [notice]},
        replace_value(verdict, "attackers", "euc1", value=attacker),
    ):
        assert is_valid_verdict(request, changed_verdict) is is_consistent


def test_target_files_have_the_names_of_the_job(microdata: tuple[ScoreJob, Json]) -> None:
    request, _ = microdata
    job = TargetFilesJob(
        competition_file=request.competition_file,
        original=request.original,
        files=request.files,
        file_names=("anonymized",),
    )
    result = compute_result(job)
    assert is_valid(job, result)
    for files in ({}, {"another": "eA=="}, {**result, "more": ""}, {"anonymized": 1}):
        assert not is_valid(job, files)


def build_guess(content: str = "original_row\n1\n2\n", **changes: Any) -> JudgeJob:
    fields: dict[str, Any] = {
        "competition_file": template(2015),
        "guess": content.encode(),
        "secret": b"original_row\n1\n2\n",
        "question": "link",
        "sizes": {"originals": 2, "rows": 2},
        "guesser": "red",
        "guesser_files": {},
    }
    return JudgeJob(**fields | changes)


def test_guess_has_at_most_as_many_correct_rows_as_rows() -> None:
    job = build_guess()
    answer = compute_result(job)
    assert (answer["outcome"]["correct"], answer["outcome"]["value"]) == (2, 1.0)
    assert is_valid(job, answer)
    for correct in (-1, 3, 2.5, "1", True, None, float("nan")):
        assert not is_valid(job, {"outcome": answer["outcome"] | {"correct": correct}})
    assert is_valid(job, {"outcome": answer["outcome"] | {"correct": 1.5}})
    for value in (-0.1, 1.1, "1", True, None, float("nan")):
        assert not is_valid(job, {"outcome": answer["outcome"] | {"value": value}})
    assert not is_valid(job, {"outcome": answer["outcome"] | {"more": 1}})


def test_refused_guess_has_its_problems_with_their_places() -> None:
    job = build_guess("original_row\n1\n9\n")
    answer = compute_result(job)
    assert is_valid(job, answer)
    (problem,) = answer["refused"]["problems"]
    assert (problem["file"], problem["row"], answer["refused"]["total"]) == ("guess", 2, 1)
    assert "outcome" not in answer
    changed: list[dict[str, Any]] = [
        {"problems": []},
        {"problems": [problem] * 21},
        {"problems": [problem | {"row": "2"}]},
        {"problems": [problem | {"file": "a\0"}]},
        {"problems": [problem | {"more": 1}]},
        {"problems": [problem | {"message": "text"}]},
        {"total": -1},
        {"more": 1},
    ]
    for changes in changed:
        assert not is_valid(job, {"refused": answer["refused"] | changes})
    assert not is_valid(job, answer | {"outcome": {}})


def test_guess_at_a_question_that_is_not_asked_is_refused() -> None:
    """A re-score set may remove a question before a guess is judged."""
    job = build_guess(
        "disease\nnone\nnone\n", competition_file=template("membership"), question="attribute", secret=b""
    )
    answer = compute_result(job)
    assert is_valid(job, answer)
    (problem,) = answer["refused"]["problems"]
    assert (problem["file"], problem["code"]) == ("guess", "unknown_question")


def test_error_of_the_answer_is_not_told_to_the_guesser() -> None:
    with pytest.raises(InvalidUpload):
        compute_result(build_guess(secret=b"not the secret"))


def test_problem_of_an_organizers_file_is_not_told_to_the_guesser(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_problem(*_: object) -> Any:
        raise InvalidUpload([FileProblem("register", 3, None, "ragged_row", Message("a secret cell"))])

    track = TRACKS["microdata"]
    question = replace(track.questions["link"], judge=find_problem)
    monkeypatch.setitem(TRACKS, "microdata", replace(track, questions={"link": question}))
    with pytest.raises(InvalidUpload):
        compute_result(build_guess())


@pytest.mark.parametrize(
    ("error", "package", "ending"),
    [
        (KeyError("a secret cell"), "mine", "KeyError"),
        (SystemExit("a secret cell"), "mine", "SystemExit"),
        (
            InvalidResult("{package} returned nan", package="other"),
            "other",
            "InvalidResult: other returned nan",
        ),
        (InvalidResult("it returned nan"), "", "InvalidResult: it returned nan"),
    ],
)
def test_error_names_the_package_whose_code_failed_without_its_message(
    monkeypatch: pytest.MonkeyPatch, error: Exception | SystemExit, package: str, ending: str
) -> None:
    def fail(*_: object) -> Any:
        raise error

    packages = (Package("other", "1.0", "other:PLUGIN"), Package("mine", "1.0", "tests.track:PLUGIN"))
    monkeypatch.setattr(answers, "INSTALLED", InstalledParts({}, packages))
    monkeypatch.setattr(scoring, "judge", fail)
    job = build_guess()
    with pytest.raises(JobFailure) as failure:
        answers.read_answer(job, answers.answer(b"".join(answers.write_request(job))))
    assert failure.value.package == package
    assert failure.value.trace.endswith(ending)
    assert "in fail" in failure.value.trace
    assert "secret cell" not in failure.value.trace


def test_child_cannot_blame_a_package_of_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    own, neighbour, stranger = (
        Package(name, "1.0", "x:PLUGIN", environment=name[0]) for name in ("ab", "ac", "b")
    )
    monkeypatch.setattr(answers, "INSTALLED", InstalledParts({}, (own, neighbour, stranger)))
    blamed = [answers.find_failed_package(JobFailure(package=name), own) for name in ("ab", "ac", "b", "")]
    assert blamed == [own, neighbour, own, own]


def build_release_reader() -> ReadReleaseJob:
    return ReadReleaseJob(competition_file="", files={}, secret=b"", team=TeamData())


RELEASE: Json = {"files": {}, "sizes": {"rows": 1}, "secret": "eA==", "remarks": []}
REMARK = {"code": "x", "message": {"template": "{n}", "values": {"n": 1}}}


@pytest.mark.parametrize(
    "changes",
    [
        {"sizes": {}},
        {"sizes": {"rows": -5}},
        {"sizes": {"rows": 10**25}},
        {"sizes": {"rows": 1, **dict.fromkeys(map(str, range(100)), 1)}},
        {"files": {"another": ""}},
        {"remarks": [REMARK] * 101},
        {"remarks": [REMARK | {"code": "\0"}]},
        {"remarks": [REMARK | {"message": {"template": "\0", "values": {}}}]},
        {"remarks": [REMARK | {"message": {"template": "{n}" * 300, "values": {"n": "y" * 300}}}]},
    ],
)
def test_release_with_impossible_values_is_rejected(changes: Json) -> None:
    job = build_release_reader()
    assert is_valid(job, RELEASE | {"remarks": [REMARK]})
    assert not is_valid(job, RELEASE | changes)


def test_many_short_values_are_not_read() -> None:
    content = b'{"value":' + b"[" * 5 + b"1," * (1 << 18) + b"1"
    with pytest.raises(ValueError, match="too many values"):
        build_release_reader().read_result(content)


RAISED: Json = {"kind": "Conflict", "code": "x", "message": {"template": "x", "values": {}}}


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "InvalidUpload"},
        {"kind": "NotSignedIn"},
        {"code": "x\0"},
        {"message": [1]},
        {"message": {"template": "\0", "values": {}}},
        {"message": {"template": "{n}", "values": {"n": float("nan")}}},
        {"message": {"template": "{n}", "values": {"n": {}}}},
        {"message": {"template": "{n:.6g}", "values": {"n": 10**400}}},
        {"message": {"template": "{n}", "values": {"n": {"template": 5, "values": {}}}}},
        {"message": {"template": "{n}" * 3000, "values": {"n": "y" * 9000}}},
        {"message": {"template": "x", "values": {str(number): "y" * 9000 for number in range(8)}}},
    ],
)
def test_malformed_error_is_an_invalid_answer(changes: Json) -> None:
    job = build_release_reader()
    with pytest.raises(Conflict):
        answers.read_answer(job, b"raised\n" + json.dumps(RAISED).encode())
    with pytest.raises(ValueError, match=r"."):
        answers.read_answer(job, b"raised\n" + json.dumps(RAISED | changes).encode())


@pytest.mark.parametrize(
    "answer",
    [
        b"returned\ncbuiltins\nprint\n.",
        b'returned\n{"value":%b,"more":2}' % json.dumps(RELEASE).encode(),
        b"returned\n" + b"[" * 100_000,
        b'crashed\n{"trace":"\\ud800","package":""}',
    ],
    ids=["a pickle", "more in it", "nested deeply", "half a character"],
)
def test_malformed_answer_is_invalid(answer: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        answers.read_answer(build_release_reader(), answer)


DESCRIPTION: Json = {"library": "1", "versions": {}, "plugins": [], "catalogues": [["a", "b"]]}
PLUGIN: Json = {"name": "a", "version": "1", "entry": "a:B", "broken": ""}


@pytest.mark.parametrize(
    "changes",
    [{"plugins": 1}, {"plugins": [1]}, {"plugins": [{"name": "a"}]}, {"catalogues": [["a"]]}, {"more": 1}],
)
def test_description_of_another_shape_is_rejected(changes: Json) -> None:
    assert is_valid(DescribeJob(), DESCRIPTION)
    assert not is_valid(DescribeJob(), DESCRIPTION | changes)


def test_reason_in_a_description_is_cut_to_a_line() -> None:
    content = {"value": DESCRIPTION | {"plugins": [PLUGIN | {"broken": "\n\033" + "x" * 5_000}]}}
    (plugin,) = DescribeJob().read_result(json.dumps(content).encode())["plugins"]
    assert plugin["broken"] == "␊␛" + "x" * 298


def nest(depth: int) -> Any:
    return [nest(depth - 1)] if depth else "deep"


@pytest.mark.parametrize(
    ("value", "is_plain"),
    [
        ({"a": [1, 2.5, None, True, "…"]}, True),
        ({"a": nest(9)}, True),
        ({"a": nest(10)}, False),
        ({"a": float("nan")}, False),
        ({"a": 10**400}, False),
        ({"a\0": 1}, False),
        ({"a": "x" * 10_001}, False),
    ],
)
def test_report_has_only_plain_values(value: Json, is_plain: bool) -> None:
    assert is_valid(AdviceJob(competition_file="", question={}), value) is is_plain

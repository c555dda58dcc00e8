"""Validation of scoring children's answers: real ones are accepted, all others rejected."""

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import FileProblem, InvalidResult, InvalidUpload
from anoncup.messages import Message
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.tables.csv_text import write_csv
from tests.support.arena import build_competition_toml, build_noisy_release, build_original_table
from tests.support.shop_contest import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS
from workers import scorer
from workers.jobs import AdviceJob, JudgeJob, ScoreJob, TargetFilesJob, write_request
from workers.scorer import JobContext, judge, score, write_target_files

Json = dict[str, Any]


def compute_answer(request: ScoreJob) -> Json:
    """Return the answer that a child would give. File contents take the place of digests."""

    def load_original(digests: Any, file: str) -> Any:
        competition = parse_competition(file)
        contents = {name: text.encode() for name, text in digests}
        return competition, TRACKS[competition.track].parse_original(contents, competition)[0]

    result = score(request, JobContext(str.encode, load_original), lambda *_: None)
    answer: Json = json.loads(json.dumps(result))
    return answer


@pytest.fixture(scope="module")
def microdata() -> tuple[ScoreJob, Json]:
    table = build_original_table()
    anonymized, secret = build_noisy_release(1, table)
    files = {"anonymized": anonymized.decode()}
    request = ScoreJob(
        build_competition_toml(), {"original": write_csv(table).decode()}, files, secret.decode()
    )
    return request, compute_answer(request)


@pytest.fixture(scope="module")
def transactions() -> tuple[ScoreJob, Json]:
    file = template(2016).replace("min_rows_kept", "# min_rows_kept")
    original = {"customers": CUSTOMERS, "transactions": TRANSACTIONS}
    files = {"customers": RELEASED_CUSTOMERS, "transactions": RELEASED_TRANSACTIONS}
    request = ScoreJob(file, original, files, "original_row\n3\n1\n2\n")
    return request, compute_answer(request)


@pytest.mark.parametrize("track", ["microdata", "transactions"])
def test_computed_verdict_is_valid(track: str, request: pytest.FixtureRequest) -> None:
    job, verdict = request.getfixturevalue(track)
    assert job.is_valid_answer(verdict)


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
    assert not request.is_valid_answer(replace_value(verdict, *path, value=value))


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
        path for path in paths if request.is_valid_answer(replace_value(verdict, *path, value=None))
    ]
    assert nullable_paths == [("excessive", "threshold")]
    for path in paths:
        assert not request.is_valid_answer(replace_value(verdict, *path, value={"more": "x"})), path
        if isinstance(path[-1], str):
            assert not request.is_valid_answer(replace_value(verdict, *path[:-1], "more", value="x")), path


def test_only_optional_fields_of_a_verdict_may_be_missing(microdata: tuple[ScoreJob, Json]) -> None:
    request, verdict = microdata
    optional = set()
    for *path, name in list_paths(verdict):
        changed_verdict = copy.deepcopy(verdict)
        container: Any = changed_verdict
        for step in path:
            container = container[step]
        if isinstance(container, dict) and "details" not in path:
            del container[name]
            optional |= {name} if request.is_valid_answer(changed_verdict) else set()
    assert optional == {"correct", "trials", "details", "interval", "sd"}


def test_measures_of_another_track_are_rejected(
    microdata: tuple[ScoreJob, Json], transactions: tuple[ScoreJob, Json]
) -> None:
    request, verdict = microdata
    assert not request.is_valid_answer(replace_value(verdict, "measures", value=transactions[1]["measures"]))


def add_note(verdict: Json, text: str, **values: Any) -> Json:
    """Return the verdict with a note of an attacker."""
    note = {"note": text, "note_template": "{said}" if values else text, "note_values": values}
    return replace_value(verdict, "attackers", "euc1", value=verdict["attackers"]["euc1"] | note)


def test_names_and_notes_may_use_any_script(microdata: tuple[ScoreJob, Json]) -> None:
    request, verdict = microdata
    for text in ("収入\u3000（円）", "a\nb", "💡"):
        assert request.is_valid_answer(add_note(verdict, text))
        assert request.is_valid_answer(add_note(verdict, text, said=text))
        assert request.is_valid_answer(
            add_note(verdict, text, said={"template": "{a}", "values": {"a": [text]}})
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
    ],
)
def test_note_must_match_its_template_and_values(
    microdata: tuple[ScoreJob, Json], text: str, note_value: Any
) -> None:
    request, verdict = microdata
    assert not request.is_valid_answer(add_note(verdict, text, said=note_value))


def test_violation_must_match_its_template_and_values(microdata: tuple[ScoreJob, Json]) -> None:
    request, verdict = microdata
    violation = {"code": "x", "message": "3 rows", "template": "{a} rows", "values": {"a": 3}}
    for values, is_valid in (({"a": 3}, True), ({"a": 4}, False)):
        rejected = verdict | {"verdict": "rejected", "violations": [violation | {"values": values}]}
        assert request.is_valid_answer(rejected) is is_valid


def test_counted_message_must_match_its_plural_form(
    microdata: tuple[ScoreJob, Json],
) -> None:
    request, verdict = microdata
    plural = {"one": "{a} row", "many": "{a} rows", "by": "a"}
    violation = {"code": "x", "template": "{a} rows", "values": {"a": 3}}
    for text, forms, is_valid in (
        ("3 rows", plural, True),
        ("3 row", plural, False),
        ("3 rows", plural | {"many": "{a} lines"}, False),
        ("3 rows", plural | {"more": "x"}, False),
        ("3 rows", {"one": "{a} row"}, False),
        ("3 rows", None, False),
    ):
        violations = [violation | {"message": text, "plural": forms}]
        assert (
            request.is_valid_answer(verdict | {"verdict": "rejected", "violations": violations}) is is_valid
        )
    for forms, is_valid in ((plural, True), (plural | {"one": "no row"}, False)):
        note = {"note": "1 row", "note_template": "{a} row", "note_values": {"a": 1}, "note_plural": forms}
        attacker = verdict["attackers"]["euc1"] | note
        assert (
            request.is_valid_answer(replace_value(verdict, "attackers", "euc1", value=attacker)) is is_valid
        )


def test_target_files_are_texts_named_like_release_files(transactions: tuple[ScoreJob, Json]) -> None:
    request, _ = transactions
    job = TargetFilesJob(
        request.competition_file, request.original, request.files, file_names=tuple(sorted(request.files))
    )
    answer = write_target_files(
        job,
        JobContext(str.encode, lambda *_: pytest.fail("nothing is prepared")),
        lambda *_: None,
    )
    assert job.is_valid_answer(answer)
    for files in (
        {},
        {"customers": "x"},
        {**answer["files"], "more": ""},
        {"customers": 1, "transactions": 2},
    ):
        assert not job.is_valid_answer({"files": files})


def test_guess_has_at_most_as_many_correct_rows_as_rows() -> None:
    row_file, file = "original_row\n1\n2\n", template(2015)
    sizes = {"originals": 2, "rows": 2}
    job = JudgeJob(file, {}, row_file, row_file, "link", sizes, guesser="red", guesser_files={})
    context = JobContext(str.encode, lambda *_: pytest.fail("nothing is prepared"))
    answer = json.loads(json.dumps(judge(job, context, lambda *_: None)))
    assert (answer["outcome"]["correct"], answer["outcome"]["value"]) == (2, 1.0)
    assert job.is_valid_answer(answer)
    for correct in (-1, 3, 2.5, "1", True, None, float("nan")):
        assert not job.is_valid_answer({"outcome": answer["outcome"] | {"correct": correct}})
    assert job.is_valid_answer({"outcome": answer["outcome"] | {"correct": 1.5}})
    for value in (-0.1, 1.1, "1", True, None, float("nan")):
        assert not job.is_valid_answer({"outcome": answer["outcome"] | {"value": value}})
    assert not job.is_valid_answer({"outcome": answer["outcome"] | {"more": 1}})


def refuse_guess(job: JudgeJob, row_file: str) -> Any:
    context = JobContext(str.encode, lambda *_: pytest.fail("nothing is prepared"))
    return json.loads(json.dumps(judge(replace(job, guess=row_file), context, lambda *_: None)))


def test_refused_guess_has_its_problems_with_their_places() -> None:
    row_file = "original_row\n1\n2\n"
    sizes = {"originals": 2, "rows": 2}
    job = JudgeJob(template(2015), {}, row_file, row_file, "link", sizes, guesser="red", guesser_files={})
    answer = refuse_guess(job, "original_row\n1\n9\n")
    assert job.is_valid_answer(answer)
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
        assert not job.is_valid_answer({"refused": answer["refused"] | changes})
    assert not job.is_valid_answer(answer | {"outcome": {}})


def test_guess_at_a_question_that_is_not_asked_is_refused() -> None:
    """A re-score set may remove a question before a guess is judged."""
    job = JudgeJob(template("membership"), {}, "", "", "attribute", {"originals": 2}, "red", {})
    answer = refuse_guess(job, "disease\nnone\nnone\n")
    assert job.is_valid_answer(answer)
    (problem,) = answer["refused"]["problems"]
    assert (problem["file"], problem["code"]) == ("guess", "unknown_question")


def test_error_of_the_answer_is_not_told_to_the_guesser() -> None:
    row_file = "original_row\n1\n2\n"
    sizes = {"originals": 2, "rows": 2}
    job = JudgeJob(template(2015), {}, row_file, "not the secret", "link", sizes, "red", {})
    with pytest.raises(InvalidUpload):
        refuse_guess(job, row_file)


def test_problem_of_an_organizers_file_is_not_told_to_the_guesser(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_problem(*_: object) -> Any:
        raise InvalidUpload([FileProblem("register", 3, None, "ragged_row", Message("a secret cell"))])

    track = TRACKS["microdata"]
    question = replace(track.questions["link"], judge=find_problem)
    monkeypatch.setitem(TRACKS, "microdata", replace(track, questions={"link": question}))
    row_file = "original_row\n1\n2\n"
    sizes = {"originals": 2, "rows": 2}
    job = JudgeJob(template(2015), {}, row_file, row_file, "link", sizes, "red", {})
    with pytest.raises(InvalidUpload):
        refuse_guess(job, row_file)


class RecordingPipe:
    """A connection to a parent that sends one request and keeps the answers."""

    def __init__(self, request: Any) -> None:
        self.requests = [request]
        self.answers: list[Any] = []

    def receive(self) -> Any:
        return self.requests.pop() if self.requests else None

    def send(self, message: Any) -> None:
        self.answers.append(message)

    def fetch(self, digest: str) -> bytes:
        return digest.encode()


@pytest.mark.parametrize(
    ("error", "package", "ending"),
    [
        (KeyError("a secret cell"), "mine", "KeyError"),
        (
            InvalidResult("{package} returned nan", package="other"),
            "other",
            "InvalidResult: other returned nan",
        ),
        (InvalidResult("it returned nan"), "", "InvalidResult: it returned nan"),
    ],
)
def test_error_names_the_package_whose_code_failed_without_its_message(
    monkeypatch: pytest.MonkeyPatch, error: Exception, package: str, ending: str
) -> None:
    def fail(*_: object) -> Any:
        raise error

    packages = (Package("other", "1.0", "other:PLUGIN"), Package("mine", "1.0", "tests.track:PLUGIN"))
    monkeypatch.setattr(scorer, "INSTALLED", InstalledParts({}, packages))
    monkeypatch.setattr(scorer, "HANDLERS", {JudgeJob: fail})
    pipe = RecordingPipe(write_request(JudgeJob("", {}, "", "", "link", {}, "red", {})))
    scorer.run(pipe)
    (answer,) = pipe.answers
    assert (answer["failed"], answer["package"]) == ("crash", package)
    assert answer["trace"].endswith(ending)
    assert "in fail" in answer["trace"]
    assert "secret cell" not in answer["trace"]


def nest(depth: int) -> Any:
    return [nest(depth - 1)] if depth else "deep"


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [
        ({"a": [1, 2.5, None, True, "…"]}, True),
        ({"a": nest(7)}, True),
        ({"a": nest(8)}, False),
        ({"a": float("nan")}, False),
        ({"a": 10**400}, False),
        ({"a\0": 1}, False),
        ({"a": "x" * 10_001}, False),
    ],
)
def test_report_has_only_plain_values(value: Json, is_valid: bool) -> None:

    assert AdviceJob("", {}, {}).is_valid_answer(value) is is_valid

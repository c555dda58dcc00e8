"""Dry runs of uploads: what a submission or a guess would be answered, without one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from limits import RateLimitItemPerYear
from sqlalchemy import text

from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv, source_from_secret
from app.config import Settings
from app.db.transaction import transaction
from app.http import throttle
from app.services.submissions import uploads
from tests.support.arena import ROWS, Arena, competition_file, noisy_release
from tests.support.contest import Contest
from tests.support.uploads import BAD_UPLOADS, GOOD_SECRET, GOOD_TABLE, cut

pytestmark = pytest.mark.full

GOOD = {"anonymized": GOOD_TABLE, "secret": GOOD_SECRET}


def check(arena: Arena, files: dict[str, bytes], team: str = "red", **texts: str) -> Response:
    sent = {name: (f"{name}.csv", content) for name, content in files.items()}
    path = f"/competitions/{arena.slug}/submissions/check"
    return arena.post(path, token=arena.team(team), files=sent, data=texts)


def submit(arena: Arena, files: dict[str, bytes]) -> Response:
    return arena.submit("red", anonymized=files["anonymized"], secret=files["secret"])


Send = Callable[[Arena, dict[str, bytes]], Response]


def faults(problem: Any) -> list[tuple[str, str]]:
    return [(each["file"], each["code"]) for each in problem["errors"]]


def check_guess(contest: Contest, target: str, content: bytes, team: str = "blue", **texts: str) -> Response:
    files = {"guess": ("guess.csv", content)}
    token = contest.arena.team(team)
    return contest.arena.post(f"/targets/{target}/guesses/check", token=token, files=files, data=texts)


def everything_stored(settings: Settings) -> tuple[dict[str, str | None], list[Path]]:
    """Return a digest of the rows of each table, and the names of all stored files."""
    rows = "SELECT md5(string_agg(each::text, chr(10) ORDER BY each::text)) FROM {} each"
    with transaction() as session:
        names = session.scalars(text("SELECT relname FROM pg_stat_user_tables")).all()
        digests = {name: session.scalar(text(rows.format(name))) for name in names}
    return digests, sorted((settings.data / "blobs").rglob("*"))


@pytest.mark.parametrize("case", BAD_UPLOADS.values(), ids=BAD_UPLOADS)
def test_a_check_finds_the_faults_that_a_submission_would_be_refused_for(
    arena: Arena, case: tuple[str, bytes, str, int | None, bool]
) -> None:
    file, content, code, _, _ = case
    sent = GOOD | {file: content}
    checked = check(arena, sent)
    refused = arena.submit("red", anonymized=sent["anonymized"], secret=sent["secret"])
    assert checked.status_code == refused.status_code == 422
    assert checked.headers["content-type"] == "application/problem+json"
    assert checked.json() == refused.json()
    assert checked.json()["errors"][0]["code"] == code


def test_a_check_lists_missing_files_together_with_the_faults_of_those_that_came(arena: Arena) -> None:
    faulty = table_csv(arena.table.assign(income="many"))
    problem = check(arena, {"anonymized": faulty}).json()
    assert [each["code"] for each in problem["errors"][:2]] == ["missing_file", "not_a_number"]
    assert (problem["errors"][0]["file"], problem["total"]) == ("secret", ROWS + 1)
    (only,) = check(arena, {"anonymized": GOOD_TABLE}).json()["errors"]
    assert (only["file"], only["code"]) == ("secret", "missing_file")
    (only,) = check(arena, {"secret": GOOD_SECRET}).json()["errors"]
    assert (only["file"], only["code"]) == ("anonymized", "missing_file")


TWICE = cut(GOOD_SECRET, lambda rows: [*rows[:-1], rows[1]])
OTHER_NAMES = GOOD_TABLE.replace(b"income,rent", b"salary,rent")


@pytest.mark.parametrize("send", [check, submit], ids=["check", "submission"])
def test_one_answer_names_the_faults_of_the_release_and_of_the_secret(arena: Arena, send: Send) -> None:
    problem = send(arena, {"anonymized": OTHER_NAMES, "secret": TWICE}).json()
    assert faults(problem) == [("anonymized", "header"), ("secret", "duplicate_row")]
    assert problem["total"] == 2


def test_of_many_faults_some_of_each_file_are_listed(arena: Arena) -> None:
    broken = {"anonymized": table_csv(arena.table.assign(income="many")), "secret": TWICE}
    problem = check(arena, broken).json()
    assert (len(problem["errors"]), problem["total"]) == (20, ROWS + 1)
    assert faults(problem)[-2:] == [("anonymized", "not_a_number"), ("secret", "duplicate_row")]


def test_a_secret_is_checked_before_the_release_is_chosen(arena: Arena) -> None:
    problem = check(arena, {"secret": TWICE}).json()
    assert faults(problem) == [("anonymized", "missing_file"), ("secret", "duplicate_row")]


def without_header(content: bytes) -> bytes:
    return cut(content, lambda rows: rows[1:])


SWAPPED = {
    "swapped": ({"anonymized": GOOD_SECRET, "secret": GOOD_TABLE}, ["anonymized", "secret"]),
    "secret twice": ({"anonymized": GOOD_SECRET, "secret": GOOD_SECRET}, ["anonymized"]),
    "release twice": ({"anonymized": GOOD_TABLE, "secret": GOOD_TABLE}, ["secret"]),
    "a column of numbers": (
        {"anonymized": without_header(GOOD_SECRET), "secret": GOOD_TABLE},
        ["anonymized", "secret"],
    ),
    "alone": ({"anonymized": without_header(GOOD_SECRET)}, ["anonymized"]),
}


@pytest.mark.parametrize(("sent", "files"), SWAPPED.values(), ids=SWAPPED)
def test_files_in_each_others_place_are_told_so(
    arena: Arena, sent: dict[str, bytes], files: list[str]
) -> None:
    problem = check(arena, sent).json()
    found = [each for each in problem["errors"] if each["code"] != "missing_file"]
    assert [(each["file"], each["code"]) for each in found] == [(name, "misplaced_file") for name in files]
    told = {"anonymized": "this looks like the secret: were the files swapped?"}
    told["secret"] = "this looks like the release: were the files swapped?"
    assert [each["message"] for each in found] == [told[name] for name in files]


def test_a_release_that_is_short_of_rows_is_named_beside_its_secret(arena: Arena) -> None:
    short = cut(GOOD_TABLE, lambda rows: rows[:-1])
    (fault,) = check(arena, {"anonymized": short, "secret": GOOD_SECRET}).json()["errors"]
    assert fault["message"] == "40 lines after original_row, but the release has 39"


def test_a_check_of_good_files_gives_the_warnings_and_digests_of_their_receipt(arena: Arena) -> None:
    in_order = {"anonymized": table_csv(arena.table), "secret": b"original_row\n" + b"".join(
        b"%d\n" % row for row in range(1, ROWS + 1)
    )}  # fmt: skip
    for _ in range(2):  # the second time it was sent before
        checked = check(arena, in_order).json()
        receipt = arena.submit("red", anonymized=in_order["anonymized"], secret=in_order["secret"]).json()
        assert checked == {"rows": ROWS, "sha256": receipt["sha256"], "warnings": receipt["warnings"]}
    assert {each["code"] for each in checked["warnings"]} == {"rows_in_original_order", "sent_before"}
    other = check(arena, in_order, team="blue").json()
    assert [each["code"] for each in other["warnings"]] == ["rows_in_original_order"]


def test_a_check_warns_of_too_few_rows(arena: Arena) -> None:
    few = table_csv(arena.table.iloc[:10])
    secret = b"original_row\n" + b"".join(b"%d\n" % row for row in range(10, 0, -1))
    (warning,) = check(arena, {"anonymized": few, "secret": secret}).json()["warnings"]
    assert warning["code"] == "too_few_rows"
    assert warning["values"] == {"found": 10, "needed": 20}


OTHER_ORDERS = {
    "if original_row and anonymized_row are exchanged": np.argsort,
    "if the rows are shifted by one": lambda source: np.roll(source, 1),
}


@pytest.mark.parametrize("said", OTHER_ORDERS)
def test_a_check_warns_of_a_secret_in_another_order(arena: Arena, said: str) -> None:
    source = source_from_secret(GOOD_SECRET, originals=ROWS, anonymized=ROWS)
    sent = GOOD | {"secret": secret_csv(OTHER_ORDERS[said](source))}
    (warning,) = check(arena, sent).json()["warnings"]
    assert warning["code"] == "secret_of_another_file"
    assert warning["message"].endswith(said)


def test_a_check_for_which_memory_is_short_says_nothing_of_the_secret(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(uploads, "doubts_about_secret", fail)
    assert check(arena, GOOD).json()["warnings"] == []


def test_a_check_writes_nothing(arena: Arena, settings: Settings) -> None:
    arena.submit("red")
    quota = arena.get(f"/competitions/{arena.slug}/quota", token=arena.team("red")).json()
    before = everything_stored(settings)
    table, secret = noisy_release(5, arena.table)
    assert check(arena, {"anonymized": table, "secret": secret}, comment="a try").status_code == 200
    assert check(arena, {"anonymized": table, "secret": b"original_row\n0\n"}).status_code == 422
    assert everything_stored(settings) == before
    assert arena.get(f"/competitions/{arena.slug}/quota", token=arena.team("red")).json() == quota


def test_files_are_checked_before_the_phase_begins(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file("small", opens=1, closes=2))
    assert check(arena, GOOD).status_code == 200
    assert arena.submit("red").status_code == 409


def test_a_check_after_the_phase_has_ended_is_refused_as_a_submission_is(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file("small", opens=-2, closes=-1))
    for sent in (GOOD, GOOD | {"secret": TWICE}):
        checked, submitted = check(arena, sent), submit(arena, sent)
        assert checked.status_code == submitted.status_code == 409
        assert checked.json() == submitted.json()
    assert checked.json()["code"] == "phase_closed"


def test_a_team_without_quota_left_still_checks_files(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file("small", more="[limits]\nattempts_total = 1"))
    assert arena.submit("red").status_code == 202
    assert arena.submit("red", seed=2).json()["code"] == "quota_used_up"
    assert check(arena, GOOD).status_code == 200


def test_a_check_keeps_to_the_limits_of_a_submission(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file("small", more="[limits]\nfile_mb = 1"))
    answer = check(arena, GOOD | {"anonymized": b"x" * (2**20 + 1)})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    answer = check(arena, GOOD, comment="x" * 1001)
    assert (answer.status_code, answer.json()["code"]) == (422, "comment")


@pytest.mark.parametrize("sent", ["file", "text"])
def test_a_comment_with_a_nul_or_as_a_file_is_refused_as_in_a_submission(arena: Arena, sent: str) -> None:
    token, files = arena.team("red"), {name: (f"{name}.csv", content) for name, content in GOOD.items()}
    if sent == "file":
        content: dict[str, Any] = {"files": files | {"comment": ("c.txt", b"a try")}}
        reason = "send the comment as text, not as a file"
    else:
        content = {"files": files, "data": {"comment": "a\0try"}}
        reason = "a comment must not contain the character NUL or half a character"
    for path in ("/submissions/check", "/submissions"):
        answer = arena.post(f"/competitions/small{path}", token=token, **content)
        assert (answer.status_code, answer.json()["code"]) == (422, "comment")
        assert reason in answer.json()["detail"]


def test_checks_are_throttled_per_team_and_say_how_long_to_wait(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "CHECKS_PER_TEAM", RateLimitItemPerYear(2, 1, "checks"))
    assert [check(arena, GOOD).status_code for _ in range(2)] == [200, 200]
    refused = check(arena, GOOD)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_checks")
    assert int(refused.headers["retry-after"]) == refused.json()["values"]["seconds"] > 0
    assert check(arena, GOOD, team="blue").status_code == 200
    assert arena.submit("red").status_code == 202


@pytest.fixture
def contest(client: TestClient) -> Contest:
    made = Contest.opened(client)
    made.submit("red")
    made.submit("blue")
    made.attack()
    return made


def target_of(contest: Contest, *, own: bool = False) -> str:
    (found,) = [one["id"] for one in contest.targets("blue") if one["own"] is own]
    return str(found)


@pytest.mark.parametrize(
    "content",
    [
        b"guess\n" + b"1\n" * ROWS,
        b"original_row\n" + b"1\n" * 3,
        b"original_row\n" + b"99\n" * ROWS,
        b"PK\x03\x04",
        b"",
    ],
)
def test_a_check_of_a_guess_finds_the_faults_that_the_guess_would_be_refused_for(
    contest: Contest, content: bytes
) -> None:
    target = target_of(contest)
    checked, refused = check_guess(contest, target, content), contest.guess("blue", target, content)
    assert checked.status_code == refused.status_code == 422
    assert checked.json() == refused.json()


def test_a_check_of_a_guess_counts_answers_warns_and_writes_nothing(
    contest: Contest, settings: Settings
) -> None:
    target = target_of(contest)
    before = everything_stored(settings)
    answer = check_guess(contest, target, b"original_row\n" + b"1\n" * 30 + b"0\n" * 10)
    assert answer.json() == {"question": "link", "answered": 30, "warnings": []}
    nobody = check_guess(contest, target, b"original_row\n" + b"0\n" * ROWS).json()
    assert [each["code"] for each in nobody["warnings"]] == ["no_answer"]
    from_zero = b"original_row\n" + b"".join(b"%d\n" % row for row in range(ROWS))
    (warning,) = check_guess(contest, target, from_zero).json()["warnings"]
    assert warning["code"] == "rows_from_zero"
    assert everything_stored(settings) == before


def test_a_guess_is_checked_only_by_who_could_send_it(contest: Contest) -> None:
    guess = b"original_row\n" + b"1\n" * ROWS
    own = check_guess(contest, target_of(contest, own=True), guess)
    assert (own.status_code, own.json()["code"]) == (403, "own_target")
    unknown = check_guess(contest, target_of(contest), guess, question="riddle")
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_question")

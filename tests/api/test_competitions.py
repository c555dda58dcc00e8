"""A competition through the API: made, described, revised, and held still once somebody has submitted."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from anoncup.competition.parser import parse_competition
from anoncup.tables.csv_text import table_csv
from app.db.models import Competition, Evaluation, State, Submission
from app.db.transaction import transaction
from app.services.contests import revisions
from tests.support.arena import API, Arena, competition_file, noisy_release, original_table
from tests.support.competition_uploads import put_file, put_original
from tests.support.uploads import score_everything
from tests.support.wait import PATIENCE_S


def described(arena: Arena) -> dict[str, Any]:
    found: dict[str, Any] = arena.get(f"/competitions/{arena.slug}").json()
    return found


def file_of(arena: Arena) -> str:
    answer = arena.client.get(f"{API}/competitions/{arena.slug}/competition.toml")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/toml")
    return str(answer.text)


def test_a_competition_is_described_to_everybody(arena: Arena) -> None:
    found = arena.client.get(f"{API}/competitions/{arena.slug}").json()
    assert found["title"] == {"en": "Small cup", "ja": "小さな杯"}
    assert (found["track"], found["timezone"], found["state"]) == ("microdata", "Asia/Tokyo", "anonymization")
    assert (found["original_rows"], found["original_files"]) == (40, ["original.csv"])
    assert [phase["name"] for phase in found["phases"]] == ["anonymization"]
    assert arena.client.get(f"{API}/competitions").json() == [found]


def test_everybody_downloads_the_original_as_it_was_uploaded(arena: Arena) -> None:
    answer = arena.client.get(f"{API}/competitions/{arena.slug}/original/original.csv")
    assert answer.content == table_csv(arena.table)
    missing = arena.client.get(f"{API}/competitions/{arena.slug}/original/other.csv")
    assert (missing.status_code, missing.json()["code"]) == (404, "no_such_file")


def test_a_competition_that_nobody_made_is_not_found(arena: Arena) -> None:
    answer = arena.client.get(f"{API}/competitions/nothing")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_such_competition")


@pytest.mark.full
def test_a_slug_can_be_taken_once(arena: Arena) -> None:
    answer = arena.post("/competitions", content=competition_file(arena.slug))
    assert (answer.status_code, answer.json()["code"]) == (409, "slug_taken")


@pytest.mark.full
def test_of_ten_competitions_made_at_once_with_the_same_slug_one_is(arena: Arena) -> None:
    with ThreadPoolExecutor(10) as pool:
        files = [competition_file("contested")] * 10
        answers = list(pool.map(lambda file: arena.post("/competitions", content=file), files))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 9


GOOD = competition_file("other")
BAD_FILES: dict[str, tuple[str | bytes, str]] = {
    "no toml": ("= = =", "not_toml"),
    "empty": ("", "invalid_request"),
    "blank": (" ", "missing_key"),
    "not text": (b"\xff\xfe", "encoding"),
    "nul": (GOOD + "\x00", "not_toml"),
    "too large": (GOOD + "#" * 2**20, "too_large"),
    "unknown key": (GOOD.replace("[excessive]", "[excessive]\ncolour = 1"), "unknown_key"),
    "bad slug": (GOOD.replace('"other"', '"Not A Slug"'), "wrong_value"),
    "other track": (GOOD.replace('"microdata"', '"transactions"'), "unknown_measure"),
    "no such track": (GOOD.replace('"microdata"', '"chess"'), "wrong_value"),
    "no such zone": (GOOD.replace("Asia/Tokyo", "Asia/Nowhere"), "wrong_value"),
    "no such measure": (GOOD + "\n[measures.beauty]\nweight = 1.0", "unknown_measure"),
    "no weights": (GOOD.replace("weight = 1.0", "").replace("weight = 2.0", ""), "no_weights"),
    "both roles": (GOOD.replace('["sex", "age"]', '["sex", "income"]'), "column_in_both_roles"),
    "deep": ("a = " + "[" * 100_000, "not_toml"),
    "deep but closed": ("a = " + "[" * 50_000 + "]" * 50_000, "not_toml"),
    "deep keys": ("a" + ".a" * 100_000 + " = 1", "not_toml"),
    "long integer": (GOOD.replace("threshold = 0.2", "threshold = " + "9" * 5000), "not_toml"),
    "large integer": (GOOD.replace("threshold = 0.2", "threshold = " + "9" * 400), "wrong_value"),
    "infinite": (GOOD.replace("threshold = 0.2", "threshold = inf"), "wrong_value"),
    "not a number": (GOOD.replace("threshold = 0.2", "threshold = nan"), "wrong_value"),
    "large limit": (GOOD.replace("[excessive]", f"[limits]\nfile_mb = {'9' * 400}\n[excessive]"), ""),
    "end of time": (
        GOOD.replace(
            "[[phases]]", '[[phases]]\nname="anonymization"\nstart=0001-01-01\nend=1-1-1\n[[phases]]'
        ),
        "not_toml",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_cannot_be_used_is_answered_with_the_reason(
    arena: Arena, case: tuple[str | bytes, str]
) -> None:
    content, code = case
    before = file_of(arena)
    for answer in (arena.post("/competitions", content=content), put_file(arena, content)):
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        if code:
            assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert file_of(arena) == before
    assert len(arena.get("/competitions").json()) == 1


@pytest.mark.full
@pytest.mark.parametrize(
    "window",
    [
        ("0001-01-01T00:00:00", "9999-12-31T23:59:59"),
        ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"),
        ("1970-01-01T00:00:00Z", "2038-01-19T03:14:08Z"),
    ],
)
def test_a_phase_may_reach_to_the_ends_of_time_or_is_refused(
    client: TestClient, window: tuple[str, str]
) -> None:
    arena = Arena.opened(client)
    lines = [
        line for line in competition_file("eternal").splitlines() if not line.startswith(("start", "end"))
    ]
    file = "\n".join([*lines, f"start = {window[0]}", f"end = {window[1]}"])
    answer = arena.post("/competitions", content=file)
    assert answer.status_code in {201, 422}, answer.text
    assert client.get(f"{API}/competitions").status_code == 200
    assert client.get("/").status_code == 200


def test_the_scales_are_written_into_the_published_file_in_full_precision(arena: Arena) -> None:
    published = parse_competition(file_of(arena))
    assert {"mean_mae", "cross_count", "information_loss"} <= set(published.scales)
    with transaction() as session:
        kept = session.scalars(select(Competition.scales)).one()
    assert dict(published.scales) == kept
    without = {**vars_of(published), "scales": {}}
    assert without == vars_of(parse_competition(competitions_file_before(arena)))


def competitions_file_before(arena: Arena) -> str:
    with transaction() as session:
        return session.scalars(select(Competition.file)).one()


def vars_of(competition: Any) -> dict[str, Any]:
    return {name: getattr(competition, name) for name in competition.__dataclass_fields__}


def test_a_scale_that_the_organizer_fixed_stays(arena: Arena) -> None:
    fixed = competition_file(more="[scales]\nmean_mae = 12.5")
    assert put_file(arena, fixed).status_code == 200
    scales = parse_competition(file_of(arena)).scales
    assert scales["mean_mae"] == 12.5
    assert scales["cross_count"] != 12.5


SPELLINGS_OF_SCALES = {
    "indented": "  [scales]\n  mean_mae = 12.5\n",
    "quoted": '["scales"]\nmean_mae = 12.5\n',
    "spaced": "[ scales ]\nmean_mae = 12.5\n",
    "commented": "[scales] # fixed\nmean_mae = 12.5\n",
}


@pytest.mark.full
@pytest.mark.parametrize("spelling", SPELLINGS_OF_SCALES.values(), ids=SPELLINGS_OF_SCALES)
def test_the_published_file_can_be_read_however_scales_are_written(arena: Arena, spelling: str) -> None:
    """Or the file is refused: what everybody downloads and every worker scores by must parse."""
    check_published(arena, competition_file(more=spelling))


@pytest.mark.full
@pytest.mark.parametrize("line", ["scales = { mean_mae = 12.5 }", "scales.mean_mae = 12.5"])
def test_the_published_file_can_be_read_with_scales_in_one_line(arena: Arena, line: str) -> None:
    check_published(arena, competition_file().replace("format = 1", f"format = 1\n{line}"))


@pytest.mark.full
@pytest.mark.parametrize(
    "title", ['"a\u2028b"', '"""\n[scales]\n"""', "'''\n[[x]]\n'''", '"\\u0000"', '"a\x85b"']
)
def test_the_published_file_can_be_read_with_any_title(arena: Arena, title: str) -> None:
    file = competition_file().replace('en = "Small cup"', f"en = {title}")
    if "\n" in title:  # not in an inline table
        line = next(line for line in competition_file().splitlines() if line.startswith("title"))
        file = competition_file().replace(line, f"title = {title}")
    check_published(arena, file, scale=None)


def check_published(arena: Arena, file: str, scale: float | None = 12.5) -> None:
    answer = put_file(arena, file)
    assert answer.status_code in {200, 422}, answer.text
    published = parse_competition(file_of(arena))
    assert published.scales["cross_count"] > 0
    if answer.status_code == 200:
        assert published.title == parse_competition(file).title
        assert scale is None or published.scales["mean_mae"] == scale
    again = put_original(arena, table_csv(arena.table))
    assert again.status_code == 200
    identifier = arena.submit("red").json()["id"]
    score_everything()
    assert arena.submission(identifier, "red")["status"] == "SCORED"


@pytest.mark.full
def test_the_published_file_may_be_put_back_after_a_submission_with_other_phases(arena: Arena) -> None:
    """What an organizer does to extend a phase: download the file, change an end, upload it."""
    assert arena.submit("red").status_code == 202
    end = described(arena)["phases"][0]["end"]
    published = file_of(arena)
    written = published.split("end = ")[1].split()[0]
    extended = put_file(arena, published.replace(written, "2090-01-01T00:00:00Z"))
    assert extended.status_code == 200, extended.text
    assert described(arena)["phases"][0]["end"] == "2090-01-01T00:00:00Z" != end


CHANGES_THAT_MOVE_SCORES = {
    "threshold": competition_file(threshold=0.3),
    "weight": competition_file().replace("weight = 2.0", "weight = 3.0"),
    "measure": competition_file().replace("[measures.cross_count]", "[measures.cor_mae]"),
    "attacker": competition_file(more='[attackers.id_sa]\ncolumn = "rent"'),
    "scale": competition_file(more="[scales]\nmean_mae = 1.0"),
    "rows kept": competition_file(more="[limits]\nmin_rows_kept = 0.9"),
    "columns": competition_file().replace('["income", "rent"]', '["income"]'),
    "slug": competition_file("renamed"),
}


@pytest.mark.parametrize("file", CHANGES_THAT_MOVE_SCORES.values(), ids=CHANGES_THAT_MOVE_SCORES)
def test_what_is_measured_stands_once_somebody_has_submitted(arena: Arena, file: str) -> None:
    assert arena.submit("red").status_code == 202
    before = file_of(arena)
    answer = put_file(arena, file)
    assert (answer.status_code, answer.json()["code"]) == (409, "fixed")
    assert file_of(arena) == before


def test_everything_but_the_slug_may_change_before_the_first_submission(arena: Arena) -> None:
    changes = dict(CHANGES_THAT_MOVE_SCORES)
    assert put_file(arena, changes.pop("slug")).status_code == 409
    columns = changes.pop("columns")
    for name, file in changes.items():
        assert put_file(arena, file).status_code == 200, name
        assert described(arena)["original_rows"] == 40
    assert put_file(arena, columns).status_code == 200
    assert described(arena)["original_rows"] is None  # the data have other columns now


def test_what_moves_no_score_may_change_after_a_submission(arena: Arena) -> None:
    assert arena.submit("red").status_code == 202
    later = competition_file(closes=5, more='[publication]\nboard = "organizers"\n[limits]\nfile_mb = 2')
    assert put_file(arena, later.replace("Small cup", "Renamed cup")).status_code == 200
    assert described(arena)["title"]["en"] == "Renamed cup"


def changed(arena: Arena, old: str, new: str) -> bytes:
    return table_csv(arena.table).decode().replace(old, new, 1).encode()


def test_an_original_with_mistakes_is_answered_with_their_places(arena: Arena) -> None:
    cases: dict[str, tuple[bytes, str, int | None, str | None]] = {
        "missing column": (changed(arena, "sex,age", "sex,years"), "header", None, "age"),
        "extra column": (b"sex,age,income,rent,x\nf,20,1,2,3\n", "column_without_role", None, "x"),
        "twice": (b"sex,sex,income,rent\nf,f,1,2\n", "header", None, "sex"),
        "order": (b"age,sex,income,rent\n20,f,1,2\n", "columns_order", None, None),
        "no rows": (b"sex,age,income,rent\n", "no_rows", None, None),
        "empty": (b"\n", "no_header", None, None),
        "ragged": (b"sex,age,income,rent\nf,20,1,2\nf,20,1\n", "ragged_row", 2, None),
        "number": (b"sex,age,income,rent\nf,20,1,2\nf,20,many,2\n", "not_a_number", 2, "income"),
        "nan": (b"sex,age,income,rent\nf,20,1,2\nf,20,1,NaN\n", "not_a_number", 2, "rent"),
        "infinite": (b"sex,age,income,rent\nf,20,1e999,2\n", "not_finite", 1, "income"),
        "missing": (b"sex,age,income,rent\nf,20,,2\n", "missing_value", 1, "income"),
        "nul": (b"sex,age,income,rent\nf\0,20,1,2\n", "control_character", 1, "sex"),
        "binary": (b"\xff\xfe\x00\x01", "encoding", None, None),
    }
    before = described(arena)
    for name, (content, code, row, column) in cases.items():
        answer = put_original(arena, content)
        assert answer.status_code == 422, name
        first = answer.json()["errors"][0]
        assert (first["file"], first["code"], first["row"]) == ("original", code, row), name
        assert column is None or first["column"] == column, name
    assert described(arena) == before


@pytest.mark.full
def test_an_original_in_shift_jis_is_read_and_said_so(arena: Arena) -> None:
    content = "sex,age,income,rent\n女,20,1,2\n男,30,3,4\n".encode("cp932")
    answer = put_original(arena, content)
    assert (answer.status_code, answer.json()["original_rows"]) == (200, 2)
    assert [remark["code"] for remark in answer.json()["remarks"]] == ["read_as_cp932"]
    assert arena.get(f"/competitions/{arena.slug}/original/original.csv").content == content


@pytest.mark.parametrize(
    "content", [b"sex,age,income,rent\nf,20,1,2\n", b"sex,age,income,rent\n" + b"f,20,1,2\n" * 5]
)
def test_an_original_without_any_variety_is_answered(arena: Arena, content: bytes) -> None:
    answer = put_original(arena, content)
    assert answer.status_code in {200, 422}, answer.text
    parse_competition(file_of(arena))
    assert arena.client.get(f"/competitions/{arena.slug}").status_code == 200


@pytest.mark.full
def test_the_same_original_may_be_put_again_after_a_submission(arena: Arena) -> None:
    assert arena.submit("red").status_code == 202
    before = file_of(arena)
    assert put_original(arena, table_csv(arena.table)).status_code == 200
    assert file_of(arena) == before


def test_a_competition_without_an_original_accepts_no_submission(arena: Arena) -> None:
    arena.post("/competitions", content=competition_file("bare"))
    bare = Arena(arena.client, arena.organizer, "bare", original_table())
    answer = bare.submit("red")
    assert (answer.status_code, answer.json()["code"]) == (409, "no_original")
    missing = arena.get("/competitions/bare/original/original.csv")
    assert (missing.status_code, missing.json()["code"]) == (404, "no_original")
    assert "[scales]" not in file_of(bare)


@pytest.mark.full
def test_data_and_submissions_that_arrive_at_once_agree_in_the_end(arena: Arena) -> None:
    """Two originals are put in turns while teams submit: each is scored by the data that stand."""
    tables = [arena.table, arena.table.iloc[::-1].reset_index(drop=True)]
    teams = [f"team {number}" for number in range(6)]
    for team in teams:
        arena.team(team)
    start = threading.Barrier(8, timeout=PATIENCE_S)

    def put(number: int) -> list[int]:
        start.wait()
        return [put_original(arena, table_csv(tables[(number + turn) % 2])).status_code for turn in range(4)]

    def send(number: int) -> list[int]:
        table, secret = noisy_release(number, tables[number % 2])
        start.wait()
        return [arena.submit(teams[number], anonymized=table, secret=secret).status_code for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        putting = [pool.submit(put, number) for number in range(2)]
        sending = [pool.submit(send, number) for number in range(6)]
        put_statuses = [status for future in putting for status in future.result()]
        sent_statuses = [status for future in sending for status in future.result()]
    assert set(put_statuses) <= {200, 409}
    assert set(sent_statuses) <= {202, 409}
    in_quiet = [
        arena.submit(teams[number], anonymized=table, secret=secret).status_code
        for number in range(6)
        for table, secret in [noisy_release(number, tables[number % 2])]
    ]
    assert 202 in in_quiet
    sent_statuses += in_quiet
    score_everything()
    with transaction() as session:
        states = set(session.scalars(select(Evaluation.state)))
        assert session.scalar(select(func.count()).select_from(Submission)) == sent_statuses.count(202)
    assert states <= {State.SCORED, State.REJECTED}
    other = next(
        table
        for table in tables
        if table_csv(table) != arena.get(f"/competitions/{arena.slug}/original/original.csv").content
    )
    assert put_original(arena, table_csv(other)).json()["code"] == "fixed"


@pytest.mark.full
def test_a_revision_computed_from_an_older_state_is_not_put_in_force(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another file is put while the scales of the first are being computed."""
    computed = revisions.revision

    def slow(*args: Any, **kwargs: Any) -> revisions.Revision:
        made = computed(*args, **kwargs)
        monkeypatch.setattr(revisions, "revision", computed)
        assert put_file(arena, competition_file(threshold=0.4)).status_code == 200
        return made

    monkeypatch.setattr(revisions, "revision", slow)
    answer = put_file(arena, competition_file(threshold=0.6))
    assert (answer.status_code, answer.json()["code"]) == (409, "changed_meanwhile")
    assert parse_competition(file_of(arena)).threshold == 0.4


def test_a_file_sent_as_json_is_refused(arena: Arena) -> None:
    answer = arena.post("/competitions", json={"file": GOOD})
    assert answer.status_code == 422
    assert json.loads(answer.content)["code"] in {"not_toml", "invalid_request"}

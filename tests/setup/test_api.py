"""Competitions through the API: created, described, revised, and fixed after the first submission."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select

from anoncup.competition.parser import parse_competition
from anoncup.tables.csv_text import write_csv
from app.core.db.models import Competition, Evaluation, Round, State, Submission
from app.core.db.transaction import transaction
from tests.support.arena import API, Arena, build_competition_toml, build_noisy_release, build_original_table
from tests.support.database_rows import load_one
from tests.support.organizer_uploads import upload_competition_file, upload_original
from tests.support.uploads import score_everything
from tests.support.wait import TIMEOUT_S


def get_competition(arena: Arena) -> dict[str, Any]:
    competition: dict[str, Any] = arena.get(f"/competitions/{arena.slug}").json()
    return competition


def get_file(arena: Arena) -> str:
    response = arena.client.get(f"{API}/competitions/{arena.slug}/competition.toml")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/toml")
    return str(response.text)


def test_anyone_reads_the_description_of_a_competition(arena: Arena) -> None:
    competition = arena.client.get(f"{API}/competitions/{arena.slug}").json()
    assert competition["title"] == {"en": "Small cup", "ja": "小さな杯"}
    assert (competition["track"], competition["timezone"], competition["state"]) == (
        "microdata",
        "Asia/Tokyo",
        "anonymization",
    )
    assert (competition["original_rows"], competition["original_files"]) == (40, ["original.csv"])
    assert [phase["name"] for phase in competition["phases"]] == ["anonymization"]
    assert arena.client.get(f"{API}/competitions").json() == [competition]


def test_anyone_downloads_the_original_file_unchanged(arena: Arena) -> None:
    response = arena.client.get(f"{API}/competitions/{arena.slug}/original/original.csv")
    assert response.content == write_csv(arena.table)
    missing = arena.client.get(f"{API}/competitions/{arena.slug}/original/other.csv")
    assert (missing.status_code, missing.json()["code"]) == (404, "no_such_file")


@pytest.mark.full
def test_only_one_of_parallel_competitions_gets_a_slug(arena: Arena) -> None:
    with ThreadPoolExecutor(10) as pool:
        files = [build_competition_toml("contested")] * 10
        responses = list(pool.map(lambda file: arena.post("/competitions", content=file), files))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 9


VALID_FILE = build_competition_toml("other")
INVALID_FILES: dict[str, tuple[str | bytes, str]] = {
    "no toml": ("= = =", "not_toml"),
    "empty": ("", "invalid_request"),
    "not text": (b"\xff\xfe", "encoding"),
    "nul": (VALID_FILE + "\x00", "not_toml"),
    "too large": (VALID_FILE + "#" * 2**20, "too_large"),
    "no weights": (VALID_FILE.replace("weight = 1.0", "").replace("weight = 2.0", ""), "no_weights"),
}
"""The reader of competition files has more of them in its own tests."""


@pytest.mark.parametrize("case", INVALID_FILES.values(), ids=INVALID_FILES)
def test_invalid_file_is_refused_with_the_reason(arena: Arena, case: tuple[str | bytes, str]) -> None:
    content, code = case
    file_before = get_file(arena)
    for response in (arena.post("/competitions", content=content), upload_competition_file(arena, content)):
        assert 400 <= response.status_code < 500, response.text
        assert response.headers["content-type"] == "application/problem+json"
        assert (response.status_code, response.json()["code"]) == (422, code)
    assert get_file(arena) == file_before
    assert len(arena.get("/competitions").json()) == 1


def test_published_file_has_scales_in_full_precision(arena: Arena) -> None:
    published = parse_competition(get_file(arena))
    assert {"mean_mae", "cross_count", "information_loss"} <= set(published.scales)
    stored_scales = load_one(select(Round.scales))
    assert dict(published.scales) == stored_scales
    unscaled = {**read_fields(published), "scales": {}}
    assert unscaled == read_fields(parse_competition(read_stored_file(arena)))


def read_stored_file(arena: Arena) -> str:
    return load_one(select(Competition.file))


def read_fields(competition: Any) -> dict[str, Any]:
    return {name: getattr(competition, name) for name in competition.__dataclass_fields__}


SCORING_CHANGES = {
    "threshold": build_competition_toml(threshold=0.3),
    "weight": build_competition_toml().replace("weight = 2.0", "weight = 3.0"),
    "measure": build_competition_toml().replace("[measures.cross_count]", "[measures.cor_mae]"),
    "attacker": build_competition_toml(extra_toml='[attackers.id_sa]\ncolumn = "rent"'),
    "scale": build_competition_toml(extra_toml="[scales]\nmean_mae = 1.0"),
    "rows kept": build_competition_toml(extra_toml="[limits]\nmin_rows_kept = 0.9"),
    "columns": build_competition_toml().replace('["income", "rent"]', '["income"]'),
    "slug": build_competition_toml("renamed"),
}


@pytest.mark.parametrize("file", SCORING_CHANGES.values(), ids=SCORING_CHANGES)
def test_scoring_settings_are_fixed_after_the_first_submission(arena: Arena, file: str) -> None:
    assert arena.submit("red").status_code == 202
    file_before = get_file(arena)
    response = upload_competition_file(arena, file)
    assert (response.status_code, response.json()["code"]) == (409, "fixed")
    assert get_file(arena) == file_before


def test_everything_except_the_slug_can_change_before_submissions(arena: Arena) -> None:
    changes = dict(SCORING_CHANGES)
    assert upload_competition_file(arena, changes.pop("slug")).status_code == 409
    columns = changes.pop("columns")
    for name, file in changes.items():
        assert upload_competition_file(arena, file).status_code == 200, name
        assert get_competition(arena)["original_rows"] == 40
    assert upload_competition_file(arena, columns).status_code == 200
    assert get_competition(arena)["original_rows"] is None  # the columns no longer match the data


def test_competition_without_original_data_accepts_no_submission(arena: Arena) -> None:
    upload_competition_file(arena, SCORING_CHANGES["columns"])  # they no longer match the data
    response = arena.submit("red")
    assert (response.status_code, response.json()["code"]) == (409, "no_original")
    missing = arena.get("/competitions/small/original/original.csv")
    assert (missing.status_code, missing.json()["code"]) == (404, "no_original")
    assert "[scales]" not in get_file(arena)


@pytest.mark.full
def test_parallel_originals_and_submissions_stay_consistent(arena: Arena) -> None:
    """Two originals replace each other while teams submit; submissions are scored by the current one."""
    tables = [arena.table, arena.table.iloc[::-1].reset_index(drop=True)]
    teams = [f"team {number}" for number in range(6)]
    for team in teams:
        arena.get_team_token(team)
    start = threading.Barrier(8, timeout=TIMEOUT_S)

    def put_originals(number: int) -> list[int]:
        start.wait()
        return [
            upload_original(arena, write_csv(tables[(number + round_number) % 2])).status_code
            for round_number in range(4)
        ]

    def send_releases(number: int) -> list[int]:
        table, secret = build_noisy_release(number, tables[number % 2])
        start.wait()
        return [arena.submit(teams[number], anonymized=table, secret=secret).status_code for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        put_futures = [pool.submit(put_originals, number) for number in range(2)]
        submit_futures = [pool.submit(send_releases, number) for number in range(6)]
        put_statuses = [status for future in put_futures for status in future.result()]
        sent_statuses = [status for future in submit_futures for status in future.result()]
    assert set(put_statuses) <= {200, 409}
    assert set(sent_statuses) <= {202, 409}
    later_statuses = [
        arena.submit(teams[number], anonymized=table, secret=secret).status_code
        for number in range(6)
        for table, secret in [build_noisy_release(number, tables[number % 2])]
    ]
    assert 202 in later_statuses
    sent_statuses += later_statuses
    score_everything()
    with transaction() as session:
        states = set(session.scalars(select(Evaluation.state)))
        assert session.scalar(select(func.count()).select_from(Submission)) == sent_statuses.count(202)
    assert states <= {State.SCORED, State.REJECTED}
    other_table = next(
        table
        for table in tables
        if write_csv(table) != arena.get(f"/competitions/{arena.slug}/original/original.csv").content
    )
    assert upload_original(arena, write_csv(other_table)).json()["code"] == "fixed"


@pytest.mark.full
def test_weighted_measure_without_a_scale_is_refused(arena: Arena) -> None:
    """Without a scale, every loss, however small, would score 1."""
    constant_table = build_original_table().assign(sex="f", age="20")
    competition_before = arena.get("/competitions/small").json()
    response = upload_original(arena, write_csv(constant_table))
    assert response.status_code == 422
    assert (response.json()["code"], response.json()["values"]["name"]) == ("scale_zero", "cross_count")
    assert arena.get("/competitions/small").json() == competition_before
    weightless = build_competition_toml().replace(
        "[measures.cross_count]\nweight = 1.0", "[measures.cross_count]"
    )
    assert upload_competition_file(arena, weightless).status_code == 200
    assert upload_original(arena, write_csv(constant_table)).status_code == 200

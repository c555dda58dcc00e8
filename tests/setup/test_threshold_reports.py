"""Threshold reports: requested by organizers, computed by a worker, equal to those of the command."""

from typing import Any

import pytest

import anoncup
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.threshold_report import make_report
from anoncup.excessive.question import AdviceQuestion
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import write_csv
from tests.support.arena import Arena, build_competition_toml
from tests.support.page_requests import get_page
from workers import tasks

pytestmark = pytest.mark.full

PATH = "/competitions/small/threshold-reports"


def request_report(arena: Arena, **question: Any) -> str:
    response = arena.post(PATH, json={"draws": 20, **question})
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def test_report_matches_the_result_of_the_local_command(arena: Arena) -> None:
    identifier = request_report(arena, groups=["sex"])
    tasks.advise()
    report = arena.get(f"/threshold-reports/{identifier}").json()
    assert report["status"] == "SCORED"
    rules, track = parse_competition(build_competition_toml()), TRACKS["microdata"]
    original, _ = track.parse_original({"original": write_csv(arena.table)}, rules)
    local = make_report(AdviceQuestion(("sex",), draws=20), rules, original)
    plain = local.to_json()
    assert report["report"]["threshold"] == plain["threshold"]
    assert report["report"]["groups"] == plain["groups"] == 2
    releases = [(entry["method"], entry["rank"], entry["overall"]) for entry in plain["contest"]["releases"]]
    assert releases == [
        (entry["method"], entry["rank"], entry["overall"])
        for entry in report["report"]["contest"]["releases"]
    ]
    codes = [entry["code"] for entry in plain["contest"]["warnings"]]
    assert [entry["code"] for entry in report["report"]["contest"]["warnings"]] == codes
    assert [row["fixed"] for row in report["report"]["bounds"]] == [row["fixed"] for row in plain["bounds"]]
    (report_row,) = arena.get(PATH).json()
    assert report_row["question"]["groups"] == ["sex"]
    assert "report" not in report_row


def test_library_page_and_api_leave_out_the_same_columns(arena: Arena) -> None:
    table = arena.table.assign(age=[str(row) for row in range(len(arena.table))])
    assert arena.put("/competitions/small/original/original.csv", content=write_csv(table)).status_code == 200
    request_report(arena)
    assert arena.get(PATH).json()[0]["question"]["groups"] == ["sex"]
    html = get_page(arena, "/competitions/small/organize/threshold", organizer=True).text
    assert "hardly any two individuals agree: age." in html
    local = anoncup.advise(table, competition=build_competition_toml(), draws=0)
    assert (local.advice.groups, local.threshold is None) == (2, False)
    assert "hardly any two individuals agree: age" in str(local)
    named = str(anoncup.advise(table, competition=build_competition_toml(), groups=("sex", "age"), draws=0))
    assert "recommended threshold: none, because" in named
    assert (
        "leave out these columns, or make their values coarser, such as years instead of dates: age" in named
    )

"""The page of a submission: utility and risk, the limit, and visibility."""

from typing import Any

import pytest

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from app.competitions.competitions import build_published_file
from app.submissions.verdict_parts import build_attacker_lines, build_measure_lines, compare_with_threshold
from tests.recorded import build_verdict
from tests.support.arena import ROWS, Arena, build_competition_toml
from tests.support.contest import Contest, load_round
from tests.support.page_requests import get_page
from tests.support.team_pages import submit_and_score
from tests.support.visitor_pages import parse_body

pytestmark = pytest.mark.full


def test_contributions_add_up_to_the_utility_loss_and_deciding_attackers_have_the_risk(arena: Arena) -> None:
    result = arena.get_submission(submit_and_score(arena), "red")["result"]
    rules, verdict = parse_competition(build_published_file(load_round())), schemas.parse_verdict(result)
    lines = build_measure_lines(rules, TRACKS[rules.track], verdict, None)
    weights = {line.name: line.weight for line in lines if line.weight}
    assert weights == {"mean_mae": 0.25, "cross_count": 0.25, "information_loss": 0.5}
    assert sum(line.contribution or 0 for line in lines) == pytest.approx(result["utility"], abs=1e-12)
    deciding = [line for line in build_attacker_lines(rules, verdict) if line.is_decisive]
    assert deciding
    assert all(line.is_counted and line.entry.rate == result["security"] for line in deciding)


@pytest.mark.parametrize(
    ("more", "statistic", "share"),
    [("", "mean", 50.0), ('rule = "strict"', "largest", 150.0), ('approach = "I"', None, None)],
)
def test_limit_follows_the_rule(more: str, statistic: str | None, share: float | None) -> None:
    rules = parse_competition(
        build_competition_toml(threshold=0.2).replace("[excessive]", f"[excessive]\n{more}")
    )
    histogram = {"counts": [1], "end": 0.3}
    excessive = {"mean": 0.1, "max": 0.3, "threshold": 0.2, "distance": "gower", "histogram": histogram}
    limit = compare_with_threshold(
        rules, schemas.parse_verdict(build_verdict(excessive=excessive, violations=[]))
    )
    assert limit is not None
    assert limit.compared_distance == statistic
    assert limit.percent == (None if share is None else pytest.approx(share))
    assert limit.is_near == (statistic == "largest")


def read_attack_rows(contest: Contest, submission: str, **viewer: Any) -> list[list[str]]:
    """Return team, identified individuals and number of guesses from the table of a submission's page."""
    html = get_page(contest.arena, f"/submissions/{submission}", **viewer).text
    return [[team, hits, trials] for team, hits, _, trials in parse_body(html, 'class="wide rivals"')]


def test_hidden_attacks_are_shown_to_the_team_after_the_close(contest: Contest) -> None:
    first, second, *_ = contest.publish_targets("red", "red", "blue", "green")
    for team, rows in (("blue", 3), ("blue", 2), ("green", 9)):
        contest.submit_correct_guess(team, first, rows)
    expected = [["green", f"9 / {ROWS}", "1"], ["blue", f"3 / {ROWS}", "2"]]
    assert read_attack_rows(contest, first, team="red") == []
    assert read_attack_rows(contest, first, organizer=True) == expected
    contest.close_attacks()
    assert read_attack_rows(contest, first, team="red") == expected
    assert read_attack_rows(contest, second, team="red") == []
    assert get_page(contest.arena, f"/submissions/{first}", team="blue").status_code == 404
    assert contest.post_as_organizer(f"/submissions/{first}/disqualify").status_code == 200
    assert read_attack_rows(contest, first, team="red") == []

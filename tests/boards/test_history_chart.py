"""The specifications of the charts of scores and ranks over time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from anoncup.schemas import History, HistoryStep, HistoryTeam
from app.boards.history_chart import ScoreSeries, draw_history, list_series, rank_series
from app.core.locale.language import load_translator

EN = load_translator("en")
START = datetime(2026, 7, 1, tzinfo=UTC)


def add_hours(hours: int) -> datetime:
    return START + timedelta(hours=hours)


def build_history(**scores: Sequence[tuple[int, float | None]]) -> History:
    """Return a history of teams with scores after numbers of hours; the team ``own`` is the reader's."""
    teams = [
        HistoryTeam(
            team_id=uuid4(),
            team=name,
            own=name == "own",
            baseline=name == "baseline",
            steps=tuple(
                HistoryStep(
                    at=add_hours(hours), rank=None, overall=score, utility=score, security=score, score=None
                )
                for hours, score in steps
            ),
        )
        for name, steps in scores.items()
    ]
    return History(
        competition="small", title={"en": "Small"}, frozen_from=None, digits=None, teams=tuple(teams)
    )


def list_overall(history: History) -> list[ScoreSeries]:
    return list_series(history, by_formula=False, descending=False)


def test_teams_come_in_order_of_their_present_score_after_the_readers_own() -> None:
    history = build_history(
        b=[(0, 0.2)], own=[(0, 0.9)], a=[(0, 0.1)], gone=[(0, 0.05), (1, None)], baseline=[(0, 0)]
    )
    assert [series.team for series in list_overall(history)] == ["own", "a", "b", "gone"]


def test_ranks_change_when_others_overtake_or_withdraw() -> None:
    history = build_history(own=[(0, 0.5)], a=[(1, 0.4), (4, None)], b=[(2, 0.3), (3, 0.6)])
    ranks = {series.team: series.steps for series in rank_series(list_overall(history), descending=False)}
    assert ranks == {
        "own": [
            (add_hours(0), 1),
            (add_hours(1), 2),
            (add_hours(2), 3),
            (add_hours(3), 2),
            (add_hours(4), 1),
        ],
        "a": [(add_hours(1), 1), (add_hours(2), 2), (add_hours(3), 1), (add_hours(4), None)],
        "b": [(add_hours(2), 1), (add_hours(3), 3), (add_hours(4), 2)],
    }


@pytest.mark.parametrize(("descending", "ranks"), [(False, [1, 2, 2]), (True, [3, 1, 1])])
def test_equal_scores_share_a_rank(descending: bool, ranks: list[int]) -> None:
    history = build_history(a=[(0, 0.1)], b=[(0, 0.1 + 0.2)], c=[(0, 0.3)])
    all_series = sorted(list_overall(history), key=lambda series: series.team)
    assert [series.value for series in rank_series(all_series, descending=descending)] == ranks


def test_specification_of_a_small_history() -> None:
    history = build_history(own=[(0, 0.5)], a=[(30, 0.4)])
    chart = draw_history(
        "timeline",
        ("Scores over time", "Score"),
        list_overall(history),
        EN,
        zone="Asia/Tokyo",
        begin=add_hours(-90),
    )
    assert chart is not None
    own = {"team": "\u2068own\u2069", "own": True}
    rival = {"team": "\u2068a\u2069", "own": False}
    end = {"at": "2026-07-02T19:00:00Z"}
    assert chart.specification["data"]["values"] == [
        own | {"at": "2026-07-01T09:00:00Z", "value": 0.5},
        own
        | end
        | {"value": 0.5, "description": "\u2068own\u2069: 0.5", "label": "\u2068own\u2069", "order": 0},
        rival | {"at": "2026-07-02T15:00:00Z", "value": 0.4},
        rival
        | end
        | {"value": 0.4, "description": "\u2068a\u2069: 0.4", "label": "\u2068a\u2069", "order": 1},
    ]
    line, wide, points, labels = chart.specification["layer"]
    assert line["encoding"]["x"] == {
        "field": "at",
        "type": "temporal",
        "title": "Asia/Tokyo",
        "axis": {"format": "%m-%d", "grid": False},
        "scale": {"type": "utc", "domain": ["2026-06-27T15:00:00Z", "2026-07-02T19:00:00Z"]},
    }
    assert line["encoding"]["y"] == {
        "field": "value",
        "type": "quantitative",
        "title": "Score",
        "scale": {"domain": [0.4, 0.5], "nice": False, "padding": 8, "reverse": True},
    }
    assert line["encoding"]["color"] == {
        "condition": [
            {"test": "datum.own", "value": "var(--data-2)"},
            {"param": "near", "empty": False, "value": "var(--ink)"},
        ],
        "value": "var(--data-1)",
    }
    hover = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["team"]}
    assert wide["params"] == [{"name": "near", "select": hover}]
    assert points["transform"] == labels["transform"] == [{"filter": "isValid(datum.order)"}]
    assert chart.rows == [
        ("own", "2026-07-01 09:00:00 JST", 0.5),
        ("a", "2026-07-02 15:00:00 JST", 0.4),
    ]


def test_axis_of_ranks_has_whole_numbers() -> None:
    ranks = rank_series(list_overall(build_history(a=[(0, 0.1)], b=[(1, 0.2)])), descending=False)
    chart = draw_history("ranks", ("Ranks", "Rank"), ranks, EN, zone="UTC", are_ranks=True)
    assert chart is not None
    assert chart.specification["layer"][0]["encoding"]["y"] == {
        "field": "value",
        "type": "quantitative",
        "title": "Rank",
        "scale": {"domain": [0.5, 2.5], "nice": False, "padding": 0, "reverse": True},
        "axis": {"tickMinStep": 1},
    }


def test_the_best_sixty_teams_are_drawn_and_the_best_ten_named() -> None:
    history = build_history(**{f"t{n}": [(n, n / 100)] for n in range(70)})
    chart = draw_history("timeline", ("Scores", "Score"), list_overall(history), EN, zone="UTC")
    assert chart is not None
    assert len(chart.rows) == 60
    labels = [row["label"] for row in chart.specification["data"]["values"] if "label" in row]
    assert [label for label in labels if label] == [f"\u2068t{n}\u2069" for n in range(10)]
    assert chart.description == "Changes: 60. Not drawn: 10 further teams."


def test_history_without_steps_has_no_chart() -> None:
    assert draw_history("timeline", ("Scores", "Score"), [], EN, zone="UTC") is None

"""The specification of the chart of scores over time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from anoncup.schemas import History, HistoryStep, HistoryTeam
from app.boards.history_chart import draw_history
from app.core.locale.language import load_translator
from app.core.pages.vega import Chart

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


def draw(history: History) -> Chart:
    chart = draw_history(history, EN, zone="Asia/Tokyo", begin=add_hours(-90))
    assert chart is not None
    return chart


def test_teams_come_in_order_of_their_present_score_after_the_readers_own() -> None:
    history = build_history(
        b=[(0, 0.2)], own=[(0, 0.9)], a=[(0, 0.1)], gone=[(0, 0.05), (1, None)], baseline=[(0, 0)]
    )
    assert list(dict.fromkeys(row[0] for row in draw(history).rows)) == ["own", "a", "b", "gone"]


def test_specification_of_a_small_history() -> None:
    chart = draw(build_history(own=[(0, 0.5)], a=[(30, 0.4)]))
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
    line, _, points, labels = chart.specification["layer"]
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
        "title": "Overall score (lower is better)",
        "scale": {"domain": [0.4, 0.5], "nice": False, "padding": 8, "reverse": True},
    }
    assert points["transform"] == labels["transform"] == [{"filter": "isValid(datum.order)"}]
    assert chart.rows == [
        ("own", "2026-07-01 09:00:00 JST", 0.5),
        ("a", "2026-07-02 15:00:00 JST", 0.4),
    ]


def test_the_best_sixty_teams_are_drawn_and_the_best_ten_named() -> None:
    chart = draw(build_history(**{f"t{n}": [(n, n / 100)] for n in range(70)}))
    assert len(chart.rows) == 60
    labels = [row["label"] for row in chart.specification["data"]["values"] if "label" in row]
    assert [label for label in labels if label] == [f"\u2068t{n}\u2069" for n in range(10)]
    assert chart.description == "Changes: 60. Not drawn: 10 further teams."

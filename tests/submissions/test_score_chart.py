"""The specification of the chart of one team's scores."""

from datetime import UTC, datetime, timedelta

from app.core.locale.language import load_translator
from app.submissions.score_chart import draw_scores

EN = load_translator("en")
START = datetime(2026, 7, 1, tzinfo=UTC)


def test_specification_of_two_scores() -> None:
    scores = [(START, 0.4), (START + timedelta(hours=20), 0.5)]
    chart = draw_scores(scores, [0.4, 0.4], ("Scores over time", "Score"), EN, zone="UTC")
    assert chart is not None
    x = {
        "field": "at",
        "type": "temporal",
        "title": "UTC",
        "axis": {"format": "%m-%d %H:%M", "grid": False},
        "scale": {"type": "utc", "domain": ["2026-07-01T00:00:00Z", "2026-07-01T21:00:00Z"]},
    }
    scale = {"domain": [0.4, 0.5], "nice": False, "padding": 12, "reverse": True}
    y = {"field": "value", "type": "quantitative", "title": "Score", "scale": scale}
    assert chart.specification == {
        "data": {
            "values": [
                {
                    "at": "2026-07-01T00:00:00Z",
                    "value": 0.4,
                    "line": 0.4,
                    "description": "2026-07-01 00:00:00 UTC: 0.4",
                },
                {
                    "at": "2026-07-01T20:00:00Z",
                    "value": 0.5,
                    "line": 0.4,
                    "description": "2026-07-01 20:00:00 UTC: 0.5",
                },
                {"at": "2026-07-01T21:00:00Z", "line": 0.4},
            ]
        },
        "height": 240,
        "encoding": {"x": x},
        "layer": [
            {"mark": "line", "encoding": {"y": {**y, "field": "line"}}},
            {
                "transform": [{"filter": "isValid(datum.value)"}],
                "mark": {"type": "point", "size": 50},
                "encoding": {
                    "y": y,
                    "tooltip": {"field": "description"},
                    "description": {"field": "description"},
                },
            },
        ],
    }
    assert chart.description == "Scores: 2. First: 0.4, last: 0.5."
    assert chart.rows == [("2026-07-01 00:00:00 UTC", 0.4), ("2026-07-01 20:00:00 UTC", 0.5)]


def test_no_scores_have_no_chart() -> None:
    assert draw_scores([], [], ("Scores over time", "Score"), EN, zone="UTC") is None

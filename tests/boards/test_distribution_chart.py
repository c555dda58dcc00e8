"""The distribution shows each team's value and the median."""

import math

from app.boards.distribution_chart import draw_distribution
from app.boards.standing_pages import SCORE_COLUMNS
from app.core.locale.language import load_translator
from app.core.pages.vega import Chart
from tests.support.visitor_pages import build_board_from_rows, build_row

EN = load_translator("en")
OVERALL = SCORE_COLUMNS[0]
TITLE = "Overall (lower is better)"
X = {
    "field": "value",
    "type": "quantitative",
    "title": TITLE,
    "scale": {"domain": [0.2, 0.3], "nice": False, "padding": 12},
}
Y = {
    "field": "spread",
    "type": "quantitative",
    "title": None,
    "scale": {"domain": [-0.15, 1.3], "nice": False, "padding": 0},
    "axis": None,
}
LEGEND = {"orient": "bottom", "title": None, "columns": 2}
KINDS = ["Your team", "Other teams"]


def test_distribution_is_one_specification() -> None:
    board = build_board_from_rows(
        build_row(1, overall=0.2),
        build_row(2, overall=0.3, own=True),
        build_row(3, overall=None),
        build_row(4, overall=math.inf),
        build_row(None, overall=0.5, baseline=True),
    )
    chart = draw_distribution(board, OVERALL, EN)
    assert chart is not None
    median_line, median_label, points = chart.specification.pop("layer")
    assert chart == Chart(
        "distribution",
        "Overall",
        "Teams: 2. Least 0.2, median 0.25, largest 0.3. Your team: 0.3.",
        {
            "data": {
                "values": [
                    {
                        "value": 0.2,
                        "spread": 0.0,
                        "kind": "Other teams",
                        "own": False,
                        "description": "\u2068team 1\u2069: 0.2",
                    },
                    {
                        "value": 0.3,
                        "spread": 0.5,
                        "kind": "Your team",
                        "own": True,
                        "description": "\u2068team 2\u2069: 0.3",
                    },
                ]
            },
            "height": 170,
        },
        head=("Team", TITLE),
        rows=[("team 1", 0.2), ("team 2", 0.3)],
    )
    median = {"values": [{"at": 0.25, "label": "Median 0.25", "line": 0}]}
    assert (median_line["data"], median_label["data"]) == (median, median)
    assert points == {
        "mark": "point",
        "encoding": {
            "x": X,
            "y": Y,
            "shape": {
                "field": "kind",
                "scale": {"domain": KINDS, "range": ["diamond", "circle"]},
                "legend": LEGEND,
            },
            "color": {
                "field": "kind",
                "scale": {"domain": KINDS, "range": ["var(--data-2)", "var(--data-1)"]},
                "legend": LEGEND,
            },
            "size": {"condition": {"test": "datum.own", "value": 180}, "value": 65},
            "fillOpacity": {"condition": {"test": "datum.own", "value": 1}, "value": 0.55},
            "tooltip": {"field": "description"},
            "description": {"field": "description"},
        },
    }


def test_visitor_has_no_team_in_the_legend() -> None:
    chart = draw_distribution(build_board_from_rows(build_row(1)), OVERALL, EN)
    assert chart is not None
    assert chart.specification["layer"][-1]["encoding"]["shape"]["scale"] == {
        "domain": ["Teams"],
        "range": ["circle"],
    }


def test_nothing_is_drawn_without_values() -> None:
    assert draw_distribution(build_board_from_rows(build_row(None, overall=None)), OVERALL, EN) is None

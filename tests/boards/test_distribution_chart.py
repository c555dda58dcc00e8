"""The distribution shows each team's value and the median."""

import math

from app.boards.distribution_chart import draw_distribution
from app.boards.standing_pages import SCORE_COLUMNS
from app.core.locale.language import load_translator
from tests.support.visitor_pages import build_board_from_rows, build_row

EN = load_translator("en")
OVERALL = SCORE_COLUMNS[0]


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
    median_line, _, points = chart.specification["layer"]
    assert chart.description == "Teams: 2. Least 0.2, median 0.25, largest 0.3. Your team: 0.3."
    assert (chart.head, chart.rows) == (
        ("Team", "Overall (lower is better)"),
        [("team 1", 0.2), ("team 2", 0.3)],
    )
    names = "value", "spread", "kind", "own", "description"
    assert [tuple(row[name] for name in names) for row in chart.specification["data"]["values"]] == [
        (0.2, 0.0, "Other teams", False, "\u2068team 1\u2069: 0.2"),
        (0.3, 0.5, "Your team", True, "\u2068team 2\u2069: 0.3"),
    ]
    assert median_line["data"] == {"values": [{"at": 0.25, "label": "Median 0.25", "line": 0}]}
    encoding = points["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0.2, 0.3]
    kinds = ["Your team", "Other teams"]
    assert encoding["shape"]["scale"] == {"domain": kinds, "range": ["diamond", "circle"]}
    assert encoding["color"]["scale"] == {"domain": kinds, "range": ["var(--data-2)", "var(--data-1)"]}


def test_nothing_is_drawn_without_values() -> None:
    assert draw_distribution(build_board_from_rows(build_row(None, overall=None)), OVERALL, EN) is None

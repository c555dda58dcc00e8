"""The specification of the chart of utility loss against risk, and the words beside it."""

from typing import Any

from anoncup.schemas import Board
from app.boards.scatter_chart import draw_scatter
from app.core.locale.language import load_translator
from app.core.pages.vega import Chart, Spec
from tests.support.visitor_pages import build_board_from_rows, build_row

EN, JA = load_translator("en"), load_translator("ja")


def build_board(*rows: dict[str, Any], digits: int | None = None) -> Board:
    defaults = {"rank": None, "on_front": False}
    board_rows = [build_row(overall=(row["utility"] + row["security"]) / 2, **defaults | row) for row in rows]
    return build_board_from_rows(*board_rows, digits=digits)


def draw(board: Board, *, with_levels: bool = False) -> Chart:
    chart = draw_scatter(board, EN, with_levels=with_levels)
    assert chart is not None
    return chart


def get_layer(chart: Chart, name: str) -> Spec:
    return next(layer for layer in chart.specification["layer"] if layer.get("name") == name)


def list_points(chart: Chart, *fields: str) -> list[tuple[Any, ...]]:
    return [tuple(point[field] for field in fields) for point in chart.specification["data"]["values"]]


SMALL_BOARD = (
    {"team": "A", "rank": 1, "utility": 0.1, "security": 0.3, "on_front": True},
    {"team": "い", "rank": 2, "utility": 0.3, "security": 0.2, "on_front": True, "own": True},
    {"team": "identity", "utility": 0.0, "security": 1.0, "baseline": True, "on_front": True},
)


def test_specification_of_a_small_board() -> None:
    chart = draw(build_board(*SMALL_BOARD), with_levels=True)
    names = "kind", "rank", "is_required", "teams", "label", "order"
    assert list_points(chart, *names) == [
        ("Baselines", None, False, 1, "\u2068identity\u2069", 2),
        ("Pareto front", 1, True, 1, "1. \u2068A\u2069", 1),
        ("Your team", 2, True, 1, "2. \u2068い\u2069", 0),
    ]
    assert list_points(chart, "utility", "security", "description") == [
        (0.0, 1.0, "\u2068identity\u2069: utility loss 0.0000, risk 1.0000"),
        (0.1, 0.3, "\u2068A\u2069 (rank 1): utility loss 0.1000, risk 0.3000"),
        (0.3, 0.2, "\u2068い\u2069 (rank 2): utility loss 0.3000, risk 0.2000"),
    ]
    encoding = get_layer(chart, "points")["encoding"]
    assert [encoding[axis]["scale"]["domain"] for axis in "xy"] == [[0.0, 0.3], [0.2, 1.0]]
    looks = {
        "shape": ["diamond", "circle", "square"],
        "fill": ["var(--data-2)", "var(--data-1)", "var(--paper)"],
        "stroke": ["var(--paper)", "var(--paper)", "var(--quiet)"],
    }
    kinds = ["Your team", "Pareto front", "Baselines"]
    assert {name: encoding[name]["scale"] for name in looks} == {
        name: {"domain": kinds, "range": look} for name, look in looks.items()
    }
    assert chart.rows == [("A", 0.1, 0.3, "●"), ("い", 0.3, 0.2, "●"), ("identity", 0.0, 1.0, "●")]


def test_lines_of_equal_score_bear_their_values() -> None:
    chart = draw(build_board(*SMALL_BOARD), with_levels=True)
    levels = get_layer(chart, "level_values")["data"]["values"]
    assert " ".join(level["text"] for level in levels) == "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"
    assert levels[1] == {"end": 0.4, "text": "0.2"}  # from (0, 0.4) to (0.4, 0)


def test_tied_points_are_one_with_the_number_of_the_others_in_the_label() -> None:
    tied = [{"team": name, "rank": 1, "utility": 0.1, "security": 0.3} for name in "ABC"]
    baseline = {"team": "identity", "utility": 0.1, "security": 0.3, "baseline": True}
    chart = draw(build_board(*tied, baseline))
    assert list_points(chart, "label", "teams") == [("\u2068identity\u2069", 1), ("1. \u2068A\u2069 +2", 3)]
    names = "\u2068A\u2069 (rank 1), \u2068B\u2069 (rank 1), \u2068C\u2069 (rank 1)"
    assert (
        chart.specification["data"]["values"][1]["description"]
        == f"{names}: utility loss 0.1000, risk 0.3000"
    )
    assert chart.description.startswith("Teams: 3. ")


def test_points_beyond_the_edge_are_counted_in_the_text() -> None:
    rows = [{"team": f"T{n}", "rank": n, "utility": 0.1 + n / 100, "security": 0.3} for n in range(1, 9)]
    distant = {"team": "far", "rank": 9, "utility": 0.99, "security": 0.3}
    baseline = {"team": "identity", "utility": 0.0, "security": 1.0, "baseline": True}
    chart = draw(build_board(*rows, distant, baseline))
    assert get_layer(chart, "points")["encoding"]["x"]["scale"]["domain"] == [0.11, 0.18]
    assert chart.description.endswith("Points beyond the edge: 2.")
    near = draw(build_board(*rows, distant | {"own": True}))
    assert "Points beyond" not in near.description
    assert "\u2068far\u2069 (rank 9): utility loss 0.9900, risk 0.3000." in near.description


def test_rounded_values_have_as_many_decimals_as_on_the_board() -> None:
    chart = draw(build_board({"team": "A", "rank": 1, "utility": 0.1, "security": 0.3}, digits=2))
    assert list_points(chart, "description") == [("\u2068A\u2069 (rank 1): utility loss 0.10, risk 0.30",)]
    assert chart.description.endswith("Utility loss from 0.10 to 0.10, risk from 0.30 to 0.30.")


def test_japanese_sentences_end_with_their_mark() -> None:
    chart = draw_scatter(build_board(*SMALL_BOARD), JA, with_levels=False)
    assert chart is not None
    assert chart.description.endswith("リスク 0.2000。")


def test_board_without_scores_has_no_chart() -> None:
    board = build_board()
    assert draw_scatter(board, JA, with_levels=True) is None

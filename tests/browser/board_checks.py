"""Checks of the boards that a visitor reads during and after a contest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, expect

from app.core.pages.notation import format_number, format_score
from tests.browser.browser_user import BrowserUser
from tests.browser.contest_data import ROWS, PreparedRelease
from tests.browser.organizer_steps import open_competition


@dataclass(frozen=True, slots=True)
class TeamResult:
    """A team's final, how many of its rows the rival found, and how many of the rival's rows it found."""

    final_release: PreparedRelease
    rows_lost: int
    rows_found: int


def check_board_during_attacks(visitor: BrowserUser) -> None:
    open_competition(visitor)
    visitor.open_tab("boards")
    open_board(visitor, "reidentification")
    expect(visitor.page.locator("table.ranks tbody tr")).to_have_count(2)


def check_closed(visitor: BrowserUser) -> None:
    open_competition(visitor)
    phase = visitor.page.locator(".under_top").get_by_text(visitor.translate("phase_closed"), exact=True)
    visitor.wait_for(phase)


def check_anonymization_board(
    visitor: BrowserUser, slug: str, results: Mapping[str, TeamResult], file: str
) -> None:
    expected = compute_standings(results, file)
    visitor.expect_text("Final result")
    visitor.press("link", "The whole board")
    exact_loss = expected[0][3]
    visitor.wait_for(
        visitor.page.locator("table.ranks").get_by_text(exact_loss, exact=True)
    )  # after the reveal
    assert [row[:6] for row in read_ranks(visitor)] == expected
    rows = visitor.read_api(f"/competitions/{slug}/boards/anonymization")["rows"]
    assert [format_anonymization_row(row) for row in rows] == expected
    check_scatter(visitor, rows)


def compute_standings(results: Mapping[str, TeamResult], file: str) -> list[list[str]]:
    """Return the expected rows, ranked by the mean of loss and risk, lowest first."""
    lines = []
    for team, result in results.items():
        verdict, rival_rate = result.final_release.compute_verdict(file), result.rows_lost / ROWS
        risk = max(verdict.security, rival_rate)
        lines.append(((verdict.utility + risk) / 2, team, verdict.utility, risk, rival_rate))
    lines.sort()
    return [
        [
            str(rank),
            team,
            format_score(overall),
            format_score(loss),
            format_score(risk),
            format_score(rival_rate),
        ]
        for rank, (overall, team, loss, risk, rival_rate) in enumerate(lines, 1)
    ]


def format_anonymization_row(row: dict[str, Any]) -> list[str]:
    scores = [format_score(row[name]) for name in ("overall", "utility", "security", "rival_risk")]
    return [str(row["rank"]), row["team"], *scores]


def read_ranks(visitor: BrowserUser) -> list[list[str]]:
    rows = visitor.page.locator("table.ranks tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def check_scatter(visitor: BrowserUser, rows: list[dict[str, Any]]) -> None:
    """Check that the chart has a point for each team and shows its numbers as a table."""
    chart = visitor.page.locator("#scatter")
    expect(chart.locator(".mark-symbol.role-mark path[aria-label]")).to_have_count(len(rows))
    visitor.activate(chart.get_by_text(visitor.translate("The numbers as a table"), exact=True))
    for row in rows:
        line = chart.get_by_role("row").filter(has_text=row["team"])
        expect(line).to_be_visible()
        expect(line.get_by_role("cell").nth(0)).to_have_text(format_number(row["utility"]))
        expect(line.get_by_role("cell").nth(1)).to_have_text(format_number(row["security"]))
    visitor.check_page()


def open_board(visitor: BrowserUser, board_name: str) -> None:
    navigation = visitor.page.get_by_role("navigation", name=visitor.translate("Kinds of boards"))
    visitor.press("link", f"board_{board_name}", within=navigation)


def check_reidentification_board(visitor: BrowserUser, slug: str, results: Mapping[str, TeamResult]) -> None:
    open_board(visitor, "reidentification")
    best = sorted(results, key=lambda team: -results[team].rows_found)
    expected = [
        [
            str(rank),
            team,
            str(results[team].rows_found),
            str(ROWS),
            format_score(results[team].rows_found / ROWS),
            "1",
        ]
        for rank, team in enumerate(best, 1)
    ]
    assert read_ranks(visitor) == expected
    rows = visitor.read_api(f"/competitions/{slug}/boards/reidentification")["rows"]
    assert [format_reidentification_row(row) for row in rows] == expected


def format_reidentification_row(row: dict[str, Any]) -> list[str]:
    identified, guessed = format_number(row["identified"]), format_number(row["tried"])
    return [
        str(row["rank"]),
        row["team"],
        identified,
        guessed,
        format_score(row["rate"]),
        format_number(row["targets"]),
    ]


def check_matrix(visitor: BrowserUser, slug: str, results: Mapping[str, TeamResult]) -> None:
    open_board(visitor, "matrix")
    matrix = visitor.read_api(f"/competitions/{slug}/boards/matrix")
    table = visitor.page.locator("#matrix")
    heads = (
        table.locator("thead tr").first.locator("th").all_inner_texts()[2:]
    )  # the owner and the opaque name of each target
    owners = [next(team for team in results if team in head) for head in heads]
    assert sorted(owners) == sorted(results)
    expect(table.locator("tbody tr")).to_have_count(len(matrix["rows"]))
    for attacker, result in results.items():
        rate = f"{result.rows_found / ROWS:.2f}"
        assert read_attack_rates(table, attacker) == ["—" if owner == attacker else rate for owner in owners]
    visitor.check_page()


def read_attack_rates(table: Locator, attacker: str) -> list[str]:
    """Return the attacker's rate on each target, without the mean."""
    return table.locator("tbody tr").filter(has_text=attacker).locator("td").all_inner_texts()[1:]

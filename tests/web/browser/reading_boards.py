"""What a visitor reads on the boards when a contest is over, and what they must say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, expect

from app.charts.axes import number
from app.web.site.notation import numeral, score
from tests.web.browser.clicked_data import ROWS, Release
from tests.web.browser.organizing import goes_home
from tests.web.browser.person import Person


@dataclass(frozen=True, slots=True)
class Result:
    """A team's final, how many of its people the rival found, and how many of the rival's it found."""

    final: Release
    lost: int
    found: int


def reads_attacks_while_they_go_on(visitor: Person, feedback: str) -> None:
    """Who found how many is told at once, or not before the end."""
    goes_home(visitor)
    visitor.tab("boards")
    board(visitor, "reidentification")
    if feedback == "hidden":
        visitor.sees(
            "The results of attacks stay hidden until the re-identification phase has closed, so that nobody can use the scores to improve their guesses. It closes"
        )
    expect(visitor.page.locator("table.ranks tbody tr")).to_have_count(0 if feedback == "hidden" else 2)


def finds_it_closed(visitor: Person) -> None:
    goes_home(visitor)
    phase = visitor.page.locator(".under_top").get_by_text(visitor.word("closed"), exact=True)
    visitor.waits_for(phase)


def reads_who_won(visitor: Person, slug: str, results: Mapping[str, Result], file: str) -> None:
    expected = standings(results, file)
    visitor.sees("Final result")
    visitor.press("link", "The whole board")
    exact_loss = expected[0][3]
    visitor.waits_for(visitor.page.locator("table.ranks").get_by_text(exact_loss, exact=True))  # the reveal
    assert [row[:6] for row in ranks(visitor)] == expected
    told = visitor.told(f"/competitions/{slug}/boards/anonymization")["rows"]
    assert [anonymization_row(row) for row in told] == expected
    sees_the_scatter(visitor, told)


def standings(results: Mapping[str, Result], file: str) -> list[list[str]]:
    """By the final's own scores and the rival's guess: the lowest mean of loss and risk leads."""
    lines = []
    for team, result in results.items():
        verdict, rivals = result.final.verdict(file), result.lost / ROWS
        risk = max(verdict.security, rivals)
        lines.append(((verdict.utility + risk) / 2, team, verdict.utility, risk, rivals))
    lines.sort()
    return [
        [str(rank), team, score(overall), score(loss), score(risk), score(rivals)]
        for rank, (overall, team, loss, risk, rivals) in enumerate(lines, 1)
    ]


def anonymization_row(row: dict[str, Any]) -> list[str]:
    scores = [score(row[name]) for name in ("overall", "utility", "security", "rivals")]
    return [str(row["rank"]), row["team"], *scores]


def ranks(visitor: Person) -> list[list[str]]:
    rows = visitor.page.locator("table.ranks tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def sees_the_scatter(visitor: Person, told: list[dict[str, Any]]) -> None:
    """A point for each team, and its numbers as a table."""
    chart = visitor.page.locator("#scatter")
    expect(chart.locator(".picture").get_by_role("img")).to_have_count(len(told))
    visitor.touch(chart.get_by_text(visitor.word("The numbers as a table"), exact=True))
    for row in told:
        line = chart.get_by_role("row").filter(has_text=row["team"])
        expect(line).to_be_visible()
        expect(line.get_by_role("cell").nth(0)).to_have_text(number(row["utility"]))
        expect(line.get_by_role("cell").nth(1)).to_have_text(number(row["security"]))
    visitor.finds_no_fault()


def board(visitor: Person, which: str) -> None:
    between = visitor.page.get_by_role("navigation", name=visitor.word("Kinds of boards"))
    visitor.press("link", f"board_{which}", within=between)


def reads_who_attacked_best(visitor: Person, slug: str, results: Mapping[str, Result]) -> None:
    board(visitor, "reidentification")
    best = sorted(results, key=lambda team: -results[team].found)
    expected = [
        [str(rank), team, str(results[team].found), str(ROWS), score(results[team].found / ROWS), "1"]
        for rank, team in enumerate(best, 1)
    ]
    assert ranks(visitor) == expected
    told = visitor.told(f"/competitions/{slug}/boards/reidentification")["rows"]
    assert [reidentification_row(row) for row in told] == expected


def reidentification_row(row: dict[str, Any]) -> list[str]:
    identified, tried = numeral(row["identified"]), numeral(row["tried"])
    return [str(row["rank"]), row["team"], identified, tried, score(row["rate"]), numeral(row["targets"])]


def reads_who_found_whom(visitor: Person, slug: str, results: Mapping[str, Result]) -> None:
    board(visitor, "matrix")
    told = visitor.told(f"/competitions/{slug}/boards/matrix")
    table = visitor.page.locator("#heatmap table")
    heads = (
        table.locator("thead tr").first.locator("th").all_inner_texts()[2:]
    )  # whose target it is, and its opaque name
    owners = [next(team for team in results if team in head) for head in heads]
    assert sorted(owners) == sorted(results)
    expect(table.locator("tbody tr")).to_have_count(len(told["rows"]))
    for attacker, result in results.items():
        rate = f"{result.found / ROWS:.2f}"
        assert attacks_of(table, attacker) == ["—" if owner == attacker else rate for owner in owners]
    visitor.finds_no_fault()


def attacks_of(table: Locator, attacker: str) -> list[str]:
    """What it found in each target, without the mean."""
    return table.locator("tbody tr").filter(has_text=attacker).locator("td").all_inner_texts()[1:]

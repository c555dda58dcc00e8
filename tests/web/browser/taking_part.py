"""What a team does on the pages: it joins, sends releases, chooses its final, attacks."""

import io
from pathlib import Path

import pandas as pd
from playwright.sync_api import Locator, expect

from anoncup.messages import Message
from app.web.site.language import words_in
from app.web.site.notation import numeral, score
from app.web.site.sentences import sentence
from tests.support.arena import PASSWORD
from tests.web.browser.clicked_data import ROWS, Release
from tests.web.browser.person import Person


def joins(member: Person, link: str, team: str) -> None:
    member.opens(link)
    member.types({"Name of your team": team, "Your name": f"member of {team}", "Password": PASSWORD})
    member.press("button", "Create the account and the team")
    member.sees("done_joined")


def sends(member: Person, anonymized: bytes, secret: bytes, comment: str = "") -> None:
    """The page stays: it answers beside the form."""
    member.chooses_file("file_anonymized", anonymized)
    member.chooses_file("file_secret", secret)
    member.types({"Comment": comment})
    member.touch(member.control("button", "Send"))


def is_refused_a_word_for_a_number(member: Person, release: Release, slug: str) -> None:
    """It is shown at its file, row and column before it is sent; no attempt is used, and nothing is kept."""
    sends(member, with_a_word(release.anonymized, row=7, column=2), release.secret)
    problem = member.page.locator("#anonymized-problems")
    t = words_in(member.look.language)
    told = Message(
        "{column}, row {row}: {what}", column="income", row=7, what=Message("not a decimal number")
    )
    expect(problem).to_contain_text(sentence(told, t))
    expect(problem.locator("li")).to_have_count(1)
    expect(member.page.locator("#secret-problems")).to_be_empty()
    used = member.page.locator("#caps").get_by_role("listitem")
    expect(used.filter(has_text=member.word("used_attempts_total"))).to_contain_text("0 /")
    expect(used.filter(has_text=member.word("used_valid_total"))).to_contain_text("0 /")
    member.sees(
        "Your team has not submitted yet. Choose your files above and send them; a release is scored in a few moments."
    )
    assert member.told(f"/competitions/{slug}/submissions") == []
    member.finds_no_fault()


def with_a_word(table: bytes, *, row: int, column: int) -> bytes:
    lines = [line.split(b",") for line in table.split(b"\n")]
    lines[row][column] = b"plenty"
    return b"\n".join(b",".join(line) for line in lines)


def entry(member: Person, comment: str) -> Locator:
    """A line of what the team has sent."""
    sent = member.page.get_by_role("region", name=member.word("What your team has sent"))
    return sent.locator(".entry").filter(has_text=comment)


def sends_and_waits(member: Person, release: Release, comment: str, *, state: str) -> None:
    member.page.evaluate("window.stayed = true")
    sends(member, release.anonymized, release.secret, comment)
    waits(member, comment, state=state)


def waits(member: Person, comment: str, *, state: str) -> None:
    """The line changes until it says so, on the page as it was loaded."""
    tag = entry(member, comment).locator(".tag").first
    expect(tag).to_be_in_viewport()
    expect(tag).to_have_text(member.word(f"state_{state}"))
    assert member.page.evaluate("window.stayed")
    member.finds_no_fault()


def is_accepted(member: Person, release: Release, comment: str, file: str) -> None:
    """With the scores that the competition's file gives on any machine."""
    sends_and_waits(member, release, comment, state="SCORED")
    verdict = release.verdict(file)
    expected = [score(verdict.overall), score(verdict.utility), score(verdict.security)]
    expect(entry(member, comment).locator("dd")).to_have_text(expected)


def is_rejected_for_excess(member: Person, release: Release, comment: str, file: str) -> None:
    """The check warns that its secret may be another file's; it is sent all the same."""
    member.page.evaluate("window.stayed = true")
    sends(member, release.anonymized, release.secret, comment)
    member.sees("Nothing has been sent yet. Read the warning; press the button again to send.")
    member.touch(member.control("button", "Send"))
    waits(member, comment, state="REJECTED")
    line = entry(member, comment)
    member.touch(line.get_by_text(member.word("Why"), exact=True))
    (violation,) = release.verdict(file).violations
    t = words_in(member.look.language)
    expect(line.get_by_text(sentence(violation.message, t))).to_be_visible()
    member.finds_no_fault()
    expect(member.control("button", "Choose as final", within=line)).to_have_count(0)


def chooses_final(member: Person, comment: str) -> None:
    member.press("button", "Choose as final", within=entry(member, comment))
    member.sees("done_final_marked")
    expect(entry(member, comment)).to_contain_text("★ " + member.word("Final"))
    expect(member.control("button", "Unmark", within=entry(member, comment))).to_be_visible()


def reads_how_it_was_scored(member: Person, comment: str, release: Release, file: str) -> None:
    """Every measure and every attacker, with its number."""
    member.follow(entry(member, comment).get_by_role("link").first)
    verdict = release.verdict(file)
    for name, measure in verdict.measures.items():
        values = [cell.split(" ")[0] for cell in cells(member, "Measures", name)]  # and which way is better
        assert numeral(measure.value) in values, name
    for name, attacker in verdict.attackers.items():
        assert score(attacker.rate.rate) in cells(member, "Attackers", name), name
    member.tab("submissions")


def cells(member: Person, title: str, name: str) -> list[str]:
    """The row of a measure or an attacker."""
    table = member.page.get_by_role("region", name=member.word(title), exact=True).get_by_role("table").first
    code = member.page.get_by_text(name, exact=True)
    return table.get_by_role("row").filter(has=code).get_by_role("cell").all_inner_texts()


def downloads_the_rivals_target(member: Person, release: Release, folder: Path) -> None:
    """The target of the only rival is the release, table for table."""
    tab = member.page.get_by_role("link", name=member.word("Targets"), exact=True)
    member.waits_for(tab.first)
    member.sees("upload_over")
    member.tab("targets")
    with member.page.expect_download() as download:
        member.touch(rival(member).get_by_role("link", name="anonymized.csv"))
    download.value.save_as(folder / "target.csv")
    content = io.BytesIO((folder / "target.csv").read_bytes())
    kinds = {"sex": str, "age": str}
    assert pd.read_csv(content, dtype=kinds, keep_default_na=False).equals(release.table)


def rival(member: Person) -> Locator:
    """The row of a target that is another team's."""
    rows = member.page.get_by_role("row").filter(has=member.page.get_by_role("link", name="anonymized.csv"))
    return rows.filter(has_not_text=member.word("Yours"))


def guesses(member: Person, content: bytes, *, answered: int, right: str) -> None:
    """Choose the file on the target's page; the judgement appears without a new load."""
    member.follow(rival(member).locator("a.target"))
    member.chooses_file("Guess file", content)
    member.press("button", "Send a guess")
    member.sees("done_guessed")
    newest = member.page.locator("#guesses tbody tr").first
    expect(newest).to_contain_text(member.word("Scored"))
    told = newest.get_by_role("cell")
    expect(told.nth(1)).to_have_text(f"{answered} / {ROWS}")
    expect(told.nth(2)).to_have_text(right)
    member.finds_no_fault()
    member.press("link", "All targets")

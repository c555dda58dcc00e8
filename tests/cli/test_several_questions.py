"""Guesses by commands where a competition asks several questions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import ROWS
from tests.support.command_line import Anoncup
from tests.support.contest import judge_everything
from tests.support.several_questions_contest import claims, played
from tests.support.several_questions_track import RIDDLES
from tests.support.track_package import installed

pytestmark = pytest.mark.full


def test_a_guess_names_its_question_and_the_lists_do_where_there_are_several(
    anoncup: Anoncup, client: TestClient, signed_in: Callable[[str], None], folder: Path
) -> None:
    (packages := folder / "packages").mkdir()
    with installed(RIDDLES, "tests.support.several_questions_track", packages):
        contest, red = played(client)
        signed_in(contest.arena.team("blue"))
        name = contest.target_of(red)["name"]
        (folder / "ages.csv").write_bytes(claims(contest, red, 8))
        (folder / "rows.csv").write_bytes(contest.right_on(red, 4))
        sent = anoncup("guess", f"small/{name}", "--file", "ages.csv", "--question", "value", "--json")
        assert (sent.status, sent.json["question"]) == (0, "value")
        assert "question" not in anoncup("guesses", "small").out
        assert anoncup("guess", f"small/{name}", "--file", "rows.csv").status == 0
        unknown = anoncup("guess", f"small/{name}", "--file", "rows.csv", "--question", "who")
        assert (unknown.status, "the questions asked here are link, value" in unknown.err) == (2, True)
        judge_everything()
        rates = {one["question"]: one["rate"] for one in anoncup("guesses", "small", "--json").json}
        assert rates == {"value": 8 / ROWS, "link": 4 / ROWS}
        assert "question" in anoncup("guesses", "small").out
        assert "link: 2, value: 2" in anoncup("targets", "small").out
        shown = anoncup("board", "small", "--which", "reidentification").out
        head, line = (
            next(one.split() for one in shown.splitlines() if word in one) for word in ("rank", "blue")
        )
        assert head == ["rank", "team", "score", "mean", "targets", "link", "value"]
        assert line == ["1", "blue", "*", "0.1", "0.1", "1", "0.1", "0"]

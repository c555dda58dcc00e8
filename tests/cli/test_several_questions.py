"""Commands for guesses in a competition with several questions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import ROWS
from tests.support.command_line import CommandRunner
from tests.support.contest import judge_everything
from tests.support.several_questions_contest import build_claims, create_contest
from tests.support.several_questions_track import SEVERAL_QUESTIONS_TRACK
from tests.support.track_package import install_track

pytestmark = pytest.mark.full


def test_guess_must_name_its_question(
    anoncup: CommandRunner, client: TestClient, sign_in_as: Callable[[str], None], folder: Path
) -> None:
    (packages := folder / "packages").mkdir()
    with install_track(SEVERAL_QUESTIONS_TRACK, "tests.support.several_questions_track", packages):
        contest, red = create_contest(client)
        sign_in_as(contest.arena.get_team_token("blue"))
        name = contest.find_target(red)["name"]
        (folder / "ages.csv").write_bytes(build_claims(contest, red, 8))
        (folder / "rows.csv").write_bytes(contest.build_guess(red, 4))
        guess = anoncup("guess", f"small/{name}", "--file", "ages.csv", "--question", "value", "--json")
        assert (guess.status, guess.json["question"]) == (0, "value")
        assert "question" not in anoncup("guesses", "small").stdout
        assert anoncup("guess", f"small/{name}", "--file", "rows.csv").status == 0
        unknown = anoncup("guess", f"small/{name}", "--file", "rows.csv", "--question", "who")
        assert (unknown.status, "the questions asked here are link, value" in unknown.stderr) == (2, True)
        judge_everything()
        rates = {entry["question"]: entry["rate"] for entry in anoncup("guesses", "small", "--json").json}
        assert rates == {"value": 8 / ROWS, "link": 4 / ROWS}
        assert "question" in anoncup("guesses", "small").stdout
        assert "link: 2, value: 2" in anoncup("targets", "small").stdout
        board_text = anoncup("board", "small", "--which", "reidentification").stdout
        head, line = (
            next(entry.split() for entry in board_text.splitlines() if word in entry)
            for word in ("rank", "blue")
        )
        assert head == ["rank", "team", "score", "mean", "targets", "link", "value"]
        assert line == ["1", "blue", "*", "0.1", "0.1", "1", "0.1", "0"]

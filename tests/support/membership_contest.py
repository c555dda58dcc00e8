"""A contest of membership to test in: its organizers hide a column, and two teams have sent a release."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Phase
from anoncup.tracks.membership.adapter import files_of
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.tables import Original, written
from anoncup.tracks.model import About
from tests.scoring.membership_cases import survey
from tests.support.arena import API, Arena
from tests.support.contest import Contest, turn
from tests.support.uploads import score_everything

TRACK = TRACKS["membership"]
ROWS = 60
PATH = "/competitions/small"
HIDDEN = "disease"


def competition_file() -> str:
    """The template, open now, with a hidden column."""
    now = datetime.now(UTC)
    text = template("membership").replace('slug = "membership"', 'slug = "small"')
    text = text.replace("reveal_notice_hours = 24", "reveal_notice_hours = 0")
    windows = [
        Phase("anonymization", now - timedelta(days=1), now + timedelta(days=1)),
        Phase("reidentification", now + timedelta(days=2), now + timedelta(days=3)),
    ]
    return with_phases(text + f'\n[questions.attribute]\nhidden = "{HIDDEN}"\n', windows)


def public_part(whole: Original) -> Original:
    """Candidates without the hidden column; the background keeps it."""
    names = [name for name in whole.candidates.schema.names if name != HIDDEN]
    return Original(whole.candidates.only(*names), whole.background)


@dataclass
class Played:
    """The contest, and what its organizers hold: the candidates with all columns."""

    contest: Contest
    rules: Rules
    whole: Original
    released: dict[str, bytes]
    submissions: dict[str, str]

    @property
    def arena(self) -> Arena:
        return self.contest.arena

    @property
    def public(self) -> Original:
        return public_part(self.whole)

    @property
    def truth(self) -> bytes:
        return written(self.whole.candidates.only(HIDDEN))

    def own(self, team: str) -> bytes:
        answer = self.arena.get(f"{PATH}/own/members.csv", token=self.arena.team(team))
        assert answer.status_code == 200, answer.text
        return answer.content

    def members(self, team: str) -> Members:
        sizes = {"originals": ROWS, "rows": ROWS // 2}
        about = About(self.rules, sizes, lambda: self.public, truth={"hidden": self.truth})
        found: Members = TRACK.answers.read(self.own(team), about)
        return found

    def release(self, team: str, method: str) -> bytes:
        made = TRACK.anonymize(
            TRACK.methods[method],
            self.public,
            self.rules,
            np.random.default_rng(len(team)),
            {},
            answer=self.members(team),
        )
        return TRACK.files_of(made[0])["released"]

    def submit(self, team: str, content: bytes, **more: bytes) -> Any:
        files = {"released": ("r.csv", content)} | {name: (name, each) for name, each in more.items()}
        return self.arena.post(f"{PATH}/submissions", token=self.arena.team(team), files=files)

    def guess(self, team: str, of: str, question: str, content: bytes) -> Any:
        target = self.contest.target_of(self.submissions[of])["id"]
        return self.arena.client.post(
            f"{API}/targets/{target}/guesses",
            headers={"Authorization": f"Bearer {self.arena.team(team)}"},
            files={"guess": ("g.csv", content)},
            data={"question": question},
        )


def opened(client: TestClient) -> Played:
    """Two teams with their members drawn, and a release of each."""
    text, whole = competition_file(), survey(ROWS)
    rules = parse_competition(text)
    arena = Arena.opened(client, file=text, original=files_of(public_part(whole)))
    made = Played(Contest(arena), rules, whole, {}, {})
    held = made.arena.put(f"{PATH}/truth/hidden.csv", content=made.truth)
    assert held.status_code == 200, held.text
    early = made.submit("red", b"")
    assert (early.status_code, early.json()["code"]) == (409, "not_drawn_yet")
    made.arena.team("blue")
    turn()
    for team, method in (("red", "copy"), ("blue", "independent")):
        made.released[team] = made.release(team, method)
        answer = made.submit(team, made.released[team])
        assert answer.status_code == 202, answer.text
        made.submissions[team] = answer.json()["id"]
    score_everything()
    return made

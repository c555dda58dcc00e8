"""A membership contest whose organizers hide a column and in which teams have submitted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from anoncup.tracks.membership.adapter import files_of
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.tables import MembershipOriginal, write_table
from anoncup.tracks.model import AnyContext, ReleaseContext
from tests.support.arena import Arena
from tests.support.contest import Contest, run_clock
from tests.support.membership_cases import build_survey
from tests.support.uploads import score_everything

TRACK = TRACKS["membership"]
ROWS = 60
COMPETITION_PATH = "/competitions/small"
HIDDEN_COLUMN = "disease"
METHODS = {"red": "copy", "blue": "independent"}
GUESSES = {"membership": b"score\n" + b"0.5\n" * ROWS, "attribute": b"disease\n" + b"none\n" * ROWS}
"""A guess at each question that knows nothing."""


def build_competition_toml() -> str:
    """Return the template, open now, with a hidden column; results of guesses are shown at once."""
    now = datetime.now(UTC)
    text = template("membership").replace('slug = "membership"', 'slug = "small"')
    text = text.replace("reveal_notice_hours = 24", "reveal_notice_hours = 0")
    text = text.replace('feedback = "hidden"', 'feedback = "immediate"')
    windows = [
        Phase("anonymization", now - timedelta(days=1), now + timedelta(days=1)),
        Phase("reidentification", now + timedelta(days=2), now + timedelta(days=3)),
    ]
    return replace_phases(text + f'\n[questions.attribute]\nhidden = "{HIDDEN_COLUMN}"\n', windows)


@dataclass
class MembershipContest:
    """The contest and the organizers' data: the candidates with all columns."""

    contest: Contest
    rules: Rules
    full_original: MembershipOriginal
    public_original: MembershipOriginal
    hidden_file: bytes
    submissions: dict[str, str] = field(default_factory=dict)

    @property
    def arena(self) -> Arena:
        return self.contest.arena

    def get_team_file(self, team: str) -> bytes:
        response = self.arena.get(f"{COMPETITION_PATH}/own/members.csv", team=team)
        assert response.status_code == 200, response.text
        return response.content

    def get_members(self, team: str) -> Members:
        sizes = {"originals": ROWS, "rows": ROWS // 2}
        context: AnyContext = ReleaseContext(
            self.rules, sizes, lambda: self.public_original, organizer_files={"hidden": self.hidden_file}
        )
        members: Members = TRACK.answer_spec.read(self.get_team_file(team), context)
        return members

    def build_release(self, team: str, method: str) -> bytes:
        release = TRACK.anonymize(
            TRACK.methods[method],
            self.public_original,
            self.rules,
            np.random.default_rng(len(team)),
            {},
            answer=self.get_members(team),
        )
        return TRACK.files_of(release[0])["released"]

    def submit_guess(self, team: str, victim_team: str, question: str, content: bytes) -> Any:
        target = self.contest.find_target(self.submissions[victim_team])["id"]
        return self.contest.submit_guess(team, target, content, question=question)


def create_contest(client: TestClient, methods: Mapping[str, str] = METHODS) -> MembershipContest:
    """Create the contest with teams, their allocated members, and a scored release of each by a method."""
    text, full_original = build_competition_toml(), build_survey(ROWS)
    candidates = full_original.candidates
    names = [name for name in candidates.schema.names if name != HIDDEN_COLUMN]
    public_original = MembershipOriginal(candidates.select_columns(*names), full_original.background)
    arena = Arena.create(client, file=text, original=files_of(public_original))
    hidden_file = write_table(candidates.select_columns(HIDDEN_COLUMN))
    contest = MembershipContest(
        Contest(arena), parse_competition(text), full_original, public_original, hidden_file
    )
    response = arena.put(f"{COMPETITION_PATH}/truth/hidden.csv", content=hidden_file)
    assert response.status_code == 200, response.text
    for team in methods:
        arena.get_team_token(team)
    run_clock()
    for team, method in methods.items():
        files = {"released": ("r.csv", contest.build_release(team, method))}
        response = arena.post(f"{COMPETITION_PATH}/submissions", team=team, files=files)
        assert response.status_code == 202, response.text
        contest.submissions[team] = response.json()["id"]
    score_everything()
    return contest

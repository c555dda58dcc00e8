"""A membership contest whose organizers hide a column and in which two teams have submitted."""

from dataclasses import dataclass
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


def build_competition_toml() -> str:
    """Return the template, open now, with a hidden column."""
    now = datetime.now(UTC)
    text = template("membership").replace('slug = "membership"', 'slug = "small"')
    text = text.replace("reveal_notice_hours = 24", "reveal_notice_hours = 0")
    windows = [
        Phase("anonymization", now - timedelta(days=1), now + timedelta(days=1)),
        Phase("reidentification", now + timedelta(days=2), now + timedelta(days=3)),
    ]
    return replace_phases(text + f'\n[questions.attribute]\nhidden = "{HIDDEN_COLUMN}"\n', windows)


def drop_hidden_column(full_original: MembershipOriginal) -> MembershipOriginal:
    """Return the original without the hidden column of the candidates; the background keeps it."""
    names = [name for name in full_original.candidates.schema.names if name != HIDDEN_COLUMN]
    return MembershipOriginal(full_original.candidates.select_columns(*names), full_original.background)


@dataclass
class MembershipContest:
    """The contest and the organizers' data: the candidates with all columns."""

    contest: Contest
    rules: Rules
    full_original: MembershipOriginal
    releases: dict[str, bytes]
    submissions: dict[str, str]

    @property
    def arena(self) -> Arena:
        return self.contest.arena

    @property
    def public_original(self) -> MembershipOriginal:
        return drop_hidden_column(self.full_original)

    @property
    def hidden_file(self) -> bytes:
        return write_table(self.full_original.candidates.select_columns(HIDDEN_COLUMN))

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

    def submit_release(self, team: str, content: bytes, **other_files: bytes) -> Any:
        files = {"released": ("r.csv", content)} | {
            name: (name, file_content) for name, file_content in other_files.items()
        }
        return self.arena.post(f"{COMPETITION_PATH}/submissions", team=team, files=files)

    def submit_guess(self, team: str, victim_team: str, question: str, content: bytes) -> Any:
        target = self.contest.find_target(self.submissions[victim_team])["id"]
        return self.contest.submit_guess(team, target, content, question=question)


def create_contest(client: TestClient) -> MembershipContest:
    """Create the contest with two teams, their allocated members and a scored release of each."""
    text, full_original = build_competition_toml(), build_survey(ROWS)
    rules = parse_competition(text)
    arena = Arena.create(client, file=text, original=files_of(drop_hidden_column(full_original)))
    contest = MembershipContest(Contest(arena), rules, full_original, {}, {})
    hidden_response = contest.arena.put(f"{COMPETITION_PATH}/truth/hidden.csv", content=contest.hidden_file)
    assert hidden_response.status_code == 200, hidden_response.text
    early_response = contest.submit_release("red", b"")
    assert (early_response.status_code, early_response.json()["code"]) == (409, "not_drawn_yet")
    contest.arena.get_team_token("blue")
    run_clock()
    for team, method in (("red", "copy"), ("blue", "independent")):
        contest.releases[team] = contest.build_release(team, method)
        response = contest.submit_release(team, contest.releases[team])
        assert response.status_code == 202, response.text
        contest.submissions[team] = response.json()["id"]
    score_everything()
    return contest

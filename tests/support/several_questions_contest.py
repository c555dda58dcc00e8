"""A contest of two questions to test in, up to its second phase."""

from fastapi.testclient import TestClient

from tests.support.arena import Arena
from tests.support.contest import Contest, two_phase_file
from tests.support.several_questions_track import ASKED, claims_of


def played(client: TestClient, asked: str = ASKED) -> tuple[Contest, str]:
    """In the second phase; what red has submitted."""
    more = f'{asked}\n[publication]\nfeedback = "immediate"\n'
    file = two_phase_file(more=more).replace('track = "microdata"', 'track = "riddles"')
    contest = Contest(Arena.opened(client, file=file))
    submission = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    return contest, submission


def claims(contest: Contest, submission: str, right: int) -> bytes:
    """A guess of ages that is right on the first ``right`` rows and abstains on the others."""
    return claims_of(contest.arena.table["age"], contest.secrets[submission], right)

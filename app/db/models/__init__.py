"""The tables. Names are the contest's own; what a competition says is in its file, not in columns."""

from anoncup.schemas import TokenKind
from app.db.models.allocations import Drawn, Seed, SeedOpening, Truth
from app.db.models.competitions import (
    Announcement,
    AuditEntry,
    Clarification,
    Competition,
    Heartbeat,
    Organizer,
    ThresholdReport,
    WitnessedEnd,
)
from app.db.models.declarations import Base, State
from app.db.models.people import Invite, Member, PasswordLink, Team, Token, User
from app.db.models.rehearsals import RehearsalMove
from app.db.models.submissions import Attempt, Evaluation, Grant, Rescore, Secret, Submission
from app.db.models.targets import Guess, GuessTerms, Opening, SubmissionTerms, Target

__all__ = [
    "Announcement",
    "Attempt",
    "AuditEntry",
    "Base",
    "Clarification",
    "Competition",
    "Drawn",
    "Evaluation",
    "Grant",
    "Guess",
    "GuessTerms",
    "Heartbeat",
    "Invite",
    "Member",
    "Opening",
    "Organizer",
    "PasswordLink",
    "RehearsalMove",
    "Rescore",
    "Secret",
    "Seed",
    "SeedOpening",
    "State",
    "Submission",
    "SubmissionTerms",
    "Target",
    "Team",
    "ThresholdReport",
    "Token",
    "TokenKind",
    "Truth",
    "User",
    "WitnessedEnd",
]

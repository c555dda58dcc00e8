"""The database tables. The settings of a competition are in its file, not in columns."""

from anoncup.schemas import TokenKind
from app.db.models.allocations import AllocatedFiles, OrganizerFile, Seed, SeedOpening
from app.db.models.competitions import (
    Announcement,
    AuditEntry,
    Clarification,
    Competition,
    Heartbeat,
    ObservedDeadline,
    Organizer,
    ThresholdReport,
)
from app.db.models.declarations import Base, State
from app.db.models.people import Invite, Member, PasswordLink, Team, Token, User
from app.db.models.rehearsals import RehearsalMove
from app.db.models.submissions import Attempt, Evaluation, Grant, Rescore, Secret, Submission
from app.db.models.targets import Guess, GuessTerms, Opening, SubmissionTerms, Target

__all__ = [
    "AllocatedFiles",
    "Announcement",
    "Attempt",
    "AuditEntry",
    "Base",
    "Clarification",
    "Competition",
    "Evaluation",
    "Grant",
    "Guess",
    "GuessTerms",
    "Heartbeat",
    "Invite",
    "Member",
    "ObservedDeadline",
    "Opening",
    "Organizer",
    "OrganizerFile",
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
    "User",
]

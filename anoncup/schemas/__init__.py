"""What the service, its clients and the command line say to each other, each thing declared once.

Pure: no rows, no services, no server. A client reads the same types that the API answers with.
"""

from anoncup.schemas.accounts import (
    IssuedToken,
    Joined,
    Me,
    PasswordLink,
    SignedUp,
    TeamOfMine,
    Token,
    TokenKind,
    User,
)
from anoncup.schemas.advice import Advice, Evidence, advice
from anoncup.schemas.allocations import Draw, Draws, Own
from anoncup.schemas.attacks import (
    CheckedGuess,
    Guess,
    GuessReceipt,
    Manifest,
    ManifestEntry,
    Revealed,
    Target,
)
from anoncup.schemas.boards import (
    AttackersBoard,
    AttackersRow,
    AttackHistory,
    AttackHistoryRow,
    AttackStep,
    Board,
    BoardRow,
    Cell,
    Column,
    History,
    HistoryLeaders,
    HistoryPlace,
    HistoryRank,
    HistoryStep,
    HistoryTeam,
    Line,
    Matrix,
    MatrixRow,
    MatrixTarget,
)
from anoncup.schemas.competitions import (
    Competition,
    Listed,
    Listing,
    Original,
    Phase,
    State,
    UnavailableCompetition,
)
from anoncup.schemas.fields import Form
from anoncup.schemas.health import Alive, Queue, Ready, Worker
from anoncup.schemas.notices import Failed, Said, failed
from anoncup.schemas.people import (
    Announcement,
    AuditEntry,
    Clarification,
    Entrant,
    Invite,
    Person,
    RulingIn,
    Team,
    TeamJudged,
)
from anoncup.schemas.problems import Problem, WrongInFile
from anoncup.schemas.rehearsals import FailedMove, Rehearsal, RehearsalStep
from anoncup.schemas.rejudgings import Change, Outcome, Rescore, RescoreSummary, Stage
from anoncup.schemas.reports import Report, ReportSummary
from anoncup.schemas.submissions import (
    MOST_GRANTED,
    BaselineReceipt,
    Cap,
    CheckedSubmission,
    Grant,
    GrantIn,
    Progress,
    Quota,
    Receipt,
    Submission,
)
from anoncup.schemas.verdicts import FORMAT, Attacked, Judged, Measured, Verdict, read

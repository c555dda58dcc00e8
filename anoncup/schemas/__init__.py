"""Schemas of the API, shared by the service, its clients and the command line.

They depend neither on the database nor on the server. The client parses responses into the types that the
API returns.
"""

from anoncup.schemas.advice import Advice, PlayedRelease, Report, ReportSummary, SampleContest, parse_advice
from anoncup.schemas.attacks import (
    CheckedGuess,
    Guess,
    GuessReceipt,
    Manifest,
    ManifestEntry,
    RevealedTarget,
    Target,
)
from anoncup.schemas.boards import (
    AttackersBoard,
    AttackersRow,
    Board,
    BoardLine,
    BoardRow,
    Cell,
    ColumnLabel,
    History,
    HistoryStep,
    HistoryTeam,
    Matrix,
    MatrixRow,
    MatrixTarget,
    TotalBoard,
    TotalRow,
)
from anoncup.schemas.competitions import (
    AllocationReveal,
    Competition,
    CompetitionList,
    ListedCompetition,
    Original,
    OwnFiles,
    Phase,
    PublishReview,
    Round,
    State,
    TeamAllocation,
    UnavailableCompetition,
)
from anoncup.schemas.fields import Form
from anoncup.schemas.health import Alive, Queue, Ready, Worker
from anoncup.schemas.notices import FailureFields, Notice, Problem, WrongInFile, build_failure_fields
from anoncup.schemas.people import (
    Announcement,
    AuditEntry,
    Entrant,
    Invite,
    IssuedToken,
    Me,
    NewUser,
    PasswordLink,
    Person,
    RulingIn,
    SignedUp,
    Team,
    TeamDisqualification,
    TeamMembership,
    Token,
    TokenKind,
    User,
)
from anoncup.schemas.submissions import (
    MAX_GRANT,
    MAX_POINTS,
    Adjustment,
    AdjustmentIn,
    BaselineReceipt,
    Cap,
    CheckedSubmission,
    Grant,
    GrantIn,
    Quota,
    Receipt,
    Rescore,
    RescoreChange,
    RescoreGuess,
    RescoreGuessOutcome,
    RescoreOutcome,
    RescoreSummary,
    Stage,
    Submission,
)
from anoncup.schemas.verdicts import (
    FORMAT,
    AttackerVerdict,
    GuessOutcome,
    MeasureVerdict,
    Verdict,
    parse_verdict,
)

"""What the service, its clients and the command line say to each other, each thing declared once.

Pure: no rows, no services, no server. A client reads the same types that the API answers with.
"""

from app.wire.accounts import (
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
from app.wire.advice import Advice, Evidence, advice
from app.wire.attacks import CheckedGuess, Guess, GuessReceipt, Manifest, ManifestEntry, Revealed, Target
from app.wire.boards import (
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
from app.wire.competitions import Competition, Listed, Listing, Original, Phase, State, UnavailableCompetition
from app.wire.draws import Draw, Draws, Own
from app.wire.form import Form
from app.wire.health import Alive, Queue, Ready, Worker
from app.wire.people import (
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
from app.wire.problems import Problem, WrongInFile
from app.wire.rehearsals import FailedMove, Rehearsal, RehearsalStep
from app.wire.reports import Report, ReportSummary
from app.wire.rescores import Change, Outcome, Rescore, RescoreSummary, Stage
from app.wire.said import Failed, Said, failed
from app.wire.submissions import (
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
from app.wire.verdicts import (
    FORMAT,
    Attacked,
    Judged,
    Measured,
    Verdict,
    read,
)

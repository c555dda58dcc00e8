"""What the service, its clients and the command line say to each other, each thing declared once.

Pure: no rows, no services, no server. A client reads the same types that the API answers with.
"""

from app.wire.attacks import Guess, GuessReceipt, Target
from app.wire.boards import (
    AttackersBoard,
    AttackersRow,
    Board,
    BoardRow,
    Cell,
    Line,
    Matrix,
    MatrixRow,
    MatrixTarget,
)
from app.wire.form import Form
from app.wire.people import Announcement, AuditEntry, Entrant, Invite, Person, Team
from app.wire.reports import Report, ReportSummary
from app.wire.said import Said
from app.wire.submissions import Cap, Quota, Receipt, Submission
from app.wire.verdicts import (
    FORMAT,
    Attacked,
    Evidence,
    Excess,
    Histogram,
    Measured,
    Resemblance,
    Verdict,
    read,
)

__all__ = [
    "FORMAT",
    "Announcement",
    "Attacked",
    "AttackersBoard",
    "AttackersRow",
    "AuditEntry",
    "Board",
    "BoardRow",
    "Cap",
    "Cell",
    "Entrant",
    "Evidence",
    "Excess",
    "Form",
    "Guess",
    "GuessReceipt",
    "Histogram",
    "Invite",
    "Line",
    "Matrix",
    "MatrixRow",
    "MatrixTarget",
    "Measured",
    "Person",
    "Quota",
    "Receipt",
    "Report",
    "ReportSummary",
    "Resemblance",
    "Said",
    "Submission",
    "Target",
    "Team",
    "Verdict",
    "read",
]

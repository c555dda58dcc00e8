"""What the service, its clients and the command line say to each other, each thing declared once.

Pure: no rows, no services, no server. A client reads the same types that the API answers with.
"""

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
from app.wire.said import Said
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
    "Attacked",
    "AttackersBoard",
    "AttackersRow",
    "Board",
    "BoardRow",
    "Cell",
    "Evidence",
    "Excess",
    "Form",
    "Histogram",
    "Line",
    "Matrix",
    "MatrixRow",
    "MatrixTarget",
    "Measured",
    "Resemblance",
    "Said",
    "Verdict",
    "read",
]

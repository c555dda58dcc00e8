"""what a guess was asked and came to, and what is counted of a release"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

SIZES = (
    "UPDATE submissions SET sizes = json_build_object('originals', original_rows, 'rows', rows)"
    " FROM competitions WHERE competitions.id = submissions.competition_id",
    "UPDATE targets SET sizes = submissions.sizes FROM submissions"
    " WHERE submissions.id = targets.submission_id",
)
# Nothing is taken off for chance where rows are linked; of no row the value is that of a rate, 0.
OUTCOMES = (
    "UPDATE guesses SET outcome = json_build_object("
    "'value', correct::float8 / greatest(targets.rows, 1), 'baseline', 0, 'correct', correct,"
    " 'trials', targets.rows, 'details', '{}'::json)"
    " FROM targets WHERE targets.id = guesses.target_id AND correct IS NOT NULL"
)


def upgrade() -> None:
    for table in ("submissions", "targets"):
        op.add_column(table, sa.Column("sizes", sa.JSON(), nullable=True))
    for statement in SIZES:
        op.execute(statement)
    for table in ("submissions", "targets"):
        op.alter_column(table, "sizes", nullable=False)
    op.add_column("guesses", sa.Column("question", sa.Text(), server_default="link", nullable=False))
    op.alter_column("guesses", "question", server_default=None)
    op.add_column("guesses", sa.Column("outcome", sa.JSON(), nullable=True))
    op.execute(OUTCOMES)


def downgrade() -> None:
    op.drop_column("guesses", "outcome")
    op.drop_column("guesses", "question")
    op.drop_column("targets", "sizes")
    op.drop_column("submissions", "sizes")

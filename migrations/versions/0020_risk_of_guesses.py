"""what a guess found beyond chance, for boards to compare"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

RISKS = """
UPDATE guesses SET risk = CASE WHEN chance >= 1 THEN 0 ELSE greatest(0, (value - chance) / (1 - chance)) END
FROM (SELECT id, (outcome ->> 'value')::float8, (outcome ->> 'baseline')::float8 FROM guesses)
     AS found (guess, value, chance)
WHERE guess = id AND outcome IS NOT NULL
"""


def upgrade() -> None:
    op.add_column("guesses", sa.Column("risk", sa.Float(), nullable=True))
    op.execute(RISKS)


def downgrade() -> None:
    op.drop_column("guesses", "risk")

"""what counts in each competition, by name and version"""

import tomllib
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

COLUMNS = (("competitions", "scored_by"), ("rescores", "scored_by"), ("rescores", "replaced_scored_by"))
NEVER = {"random_in_cluster"}
"""It presumes what no attacker knows, and counted in no version."""
DISTANCES = {"microdata": "gower", "transactions": "jaccard_quantity"}
"""Where the file names none."""

FIRST = sa.text(
    """
    SELECT DISTINCT ON (s.competition_id) s.competition_id, c.file, e.verdict
    FROM submissions s
    JOIN competitions c ON c.id = s.competition_id
    JOIN evaluations e ON e.submission_id = s.id AND e.current
    WHERE e.verdict IS NOT NULL AND json_typeof(e.verdict) = 'object'
    ORDER BY s.competition_id, s.received_at, s.id
    """
)


def upgrade() -> None:
    for table, column in COLUMNS:
        op.add_column(table, sa.Column(column, sa.JSON(), server_default=sa.text("'{}'"), nullable=False))
    competitions = sa.table("competitions", sa.column("id", sa.Uuid()), sa.column("scored_by", sa.JSON()))
    connection = op.get_bind()
    for identifier, file, verdict in connection.execute(FIRST).all():
        connection.execute(
            sa.update(competitions)
            .where(competitions.c.id == identifier)
            .values(scored_by=counted(file, verdict))
        )


def counted(file: str, verdict: dict[str, Any]) -> dict[str, str]:
    """What counted when the first submission was scored: that it has been scored by since."""
    try:
        rules = tomllib.loads(file)
    except tomllib.TOMLDecodeError:
        return {}
    measures, attackers = table_of(rules, "measures"), table_of(rules, "attackers")
    excessive = table_of(rules, "excessive")
    distance = excessive.get("distance", DISTANCES.get(str(rules.get("track"))))
    return {
        **{
            f"measures.{name}": str(each["version"])
            for name, each in table_of(verdict, "measures").items()
            if table_of(measures, name).get("weight", 0) > 0
        },
        **{
            f"attackers.{name}": str(each["version"])
            for name, each in table_of(verdict, "attackers").items()
            if name not in NEVER and table_of(attackers, name).get("counts", True)
        },
        **({f"distances.{distance}": "1"} if distance and "threshold" in excessive else {}),
    }


def table_of(parent: dict[str, Any], key: str) -> dict[str, Any]:
    found = parent.get(key, {})
    return found if isinstance(found, dict) else {}


def downgrade() -> None:
    for table, column in reversed(COLUMNS):
        op.drop_column(table, column)

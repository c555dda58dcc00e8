"""what was said of releases, and why work failed, with its template and values: it was English alone"""

from alembic import op

from migrations.sentences import WORK, english, rewrite, rewrite_what_was_said, said

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in WORK:
        op.execute(
            f"ALTER TABLE {table} ALTER COLUMN failure TYPE json USING CASE WHEN failure IS NOT NULL"
            " THEN json_build_object('template', failure, 'values', json_build_object()) END"
        )
        rewrite(table, "failure", lambda failure: said(failure["template"]))
    rewrite_what_was_said()


def downgrade() -> None:
    for table in WORK:
        rewrite(table, "failure", lambda failure: {"template": english(failure)})
        op.execute(f"ALTER TABLE {table} ALTER COLUMN failure TYPE text USING failure ->> 'template'")

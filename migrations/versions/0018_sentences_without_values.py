"""sentences that 0015 left without values: of large and infinite distances, and of missing private keys"""

from migrations.sentences import OPENING_KEY_MISSING, WORK, Json, read, rewrite, rewrite_what_was_said

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in WORK:
        rewrite(table, "failure", with_code)
    rewrite_what_was_said()


def with_code(failure: Json) -> Json:
    found = read(failure["template"], failure["values"])
    missing = found["template"] == OPENING_KEY_MISSING
    return {"code": "opening_key_missing" if missing else failure["code"], **found}


def downgrade() -> None:
    """Nothing: 0017 says them by the same templates, where it knows them."""

"""why work failed, with the code beside the sentence: programs had the English alone to tell by"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

CODES = {
    "scoring took longer than the limit of {limit} s": "time_limit",
    "scoring needed more memory than the limit of {limit} MB": "memory_limit",
    "scoring was tried {times} times and never finished; last: {last}": "attempts_used_up",
    "the scoring process was killed, perhaps for want of memory": "child_died",
    "the competition's file cannot be read: {reason}": "competition_unavailable",
    "the file is not in the store": "file_lost",
    "the file could not be read": "storage_unavailable",
    "a stored file is damaged": "file_damaged",
    "the private key {key_id} is not in ANONCUP_OPENING_KEYS_DIR": "opening_key_missing",
    "a sealed secret does not open": "secret_unreadable",
    "a sealed secret belongs to another submission": "secret_unreadable",
}
"""Of what was stored until now; what else failed was the scoring itself."""
REST = "scoring_failed"
WORK = ("evaluations", "guesses", "threshold_reports")


def upgrade() -> None:
    code = "coalesce(CAST(:codes AS json) ->> (failure ->> 'template'), :rest)"
    for table in WORK:
        op.execute(stored_as(f"'code', {code}, ", table).bindparams(codes=json.dumps(CODES), rest=REST))


def downgrade() -> None:
    for table in WORK:
        op.execute(stored_as("", table))


def stored_as(code: str, table: str) -> sa.TextClause:
    sentence = "'template', failure -> 'template', 'values', failure -> 'values'"
    made = f"json_build_object({code}{sentence})"
    return sa.text(f"UPDATE {table} SET failure = {made} WHERE failure IS NOT NULL")  # noqa: S608  # our names

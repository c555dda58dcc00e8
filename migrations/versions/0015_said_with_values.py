"""what was said of releases, and why work failed, with its template and values: it was English alone"""

import re
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

Json = dict[str, Any]

TEMPLATES = (
    "{found} rows are left; at least {needed} must be",
    "the {which} {distance} distance of individuals is {found}; at most {limit} is allowed",
    "{found} anonymized individuals lie within a {distance} distance of {limit} of somebody else's "
    "original; none may",
    "under the {distance} distance, which has no bound, every individual must be kept",
    "sparse assignment: {rows} rows are more than dense_limit = {limit}; "
    "the total cost is the least possible",
    "sparse assignment: {rows} rows are more than dense_limit = {limit}; {late} rows whose nearest {nearest} "
    "went to others were matched with what was left, {without} of them abstain",
    "{file} is not UTF-8; it was read as Shift_JIS (CP932)",
    "{name}: some numbers are spelled differently from the original's (such as 1.0 for 1); "
    "quasi-identifiers are compared as text, so these cells count as changed",
    "{name}.csv is still to be uploaded; until then nobody sees the data",
    "your team has sent this very table {times} times before",
    "{alone} of {groups} groups have one individual, who stays in place whatever the cheat: "
    "name fewer group columns, or merge rare values",
    "scoring took longer than the limit of {limit} s",
    "scoring needed more memory than the limit of {limit} MB",
    "the competition's file cannot be read: {reason}",
    "scoring was tried {times} times and never finished; last: {last}",
)
"""Of what was stored until now; a sentence of another form is its own template."""
PLACE = re.compile(r"\{(\w+)\}")
SAID = {"which", "distance", "reason", "last"}
"""Values that are words themselves."""
NAMES = {"file", "name"}

NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?"

WORK = ("evaluations", "guesses", "threshold_reports")
BATCH = 500


def pattern(template: str) -> re.Pattern[str]:
    literal = PLACE.split(template)
    found = [re.escape(part) if at % 2 == 0 else group(part) for at, part in enumerate(literal)]
    return re.compile("".join(found), re.DOTALL)


def group(name: str) -> str:
    return f"(?P<{name}>{'.+' if name in SAID | NAMES else NUMBER})"


PATTERNS = {template: pattern(template) for template in TEMPLATES}


def upgrade() -> None:
    for table in WORK:
        op.execute(
            f"ALTER TABLE {table} ALTER COLUMN failure TYPE json USING CASE WHEN failure IS NOT NULL"
            " THEN json_build_object('template', failure, 'values', json_build_object()) END"
        )
        rewrite(table, "failure", lambda failure: said(failure["template"]))
    rewrite("submissions", "remarks", lambda remarks: [with_values(each) for each in remarks])
    rewrite("evaluations", "verdict", verdict_with_values)
    rewrite("threshold_reports", "report", lambda report: with_said("remedy", report))


def downgrade() -> None:
    for table in WORK:
        rewrite(table, "failure", lambda failure: {"template": english(failure)})
        op.execute(f"ALTER TABLE {table} ALTER COLUMN failure TYPE text USING failure ->> 'template'")


def rewrite(table: str, column: str, change: Callable[[Any], Any]) -> None:
    """A few rows at a time: a verdict is long."""
    rows = sa.table(table, sa.column("id", sa.Uuid()), sa.column(column, sa.JSON()))
    some = sa.select(rows).where(rows.c[column].is_not(None)).order_by(rows.c.id).limit(BATCH)
    connection, query = op.get_bind(), some
    while found := connection.execute(query).all():
        for identifier, old in found:
            if (new := change(old)) != old:
                values = {column: new}
                connection.execute(sa.update(rows).where(rows.c.id == identifier).values(values))
        query = some.where(rows.c.id > found[-1].id)


def verdict_with_values(verdict: Json) -> Json:
    violations = [with_values(each) for each in verdict.get("violations", [])]
    attackers = {name: with_said("note", each) for name, each in verdict.get("attackers", {}).items()}
    new = {"violations": violations, "attackers": attackers}
    return {name: new.get(name, value) for name, value in verdict.items()}


def with_values(entry: Json) -> Json:
    return {**entry, **said(entry["message"])} if "message" in entry else entry


def with_said(name: str, entry: Json) -> Json:
    if entry.get(name) is None:
        return entry
    found = said(entry[name])
    return {**entry, f"{name}_template": found["template"], f"{name}_values": found["values"]}


def said(text: str) -> Json:
    """The sentence as a template with values; a sentence of none of the forms is its own template."""
    for template, form in PATTERNS.items():
        if found := form.fullmatch(text):
            values = {name: value_of(name, each) for name, each in found.groupdict().items()}
            if english({"template": template, "values": values}) == text:
                return {"template": template, "values": values}
    return {"template": text, "values": {}}


def value_of(name: str, text: str) -> Any:
    if name in SAID:
        return said(text)
    return text if name in NAMES else int(text) if text.isdecimal() else float(text)


def english(message: Json) -> str:
    def put(place: re.Match[str]) -> str:
        value = message["values"].get(place[1], place[0])
        return english(value) if isinstance(value, dict) else str(value)

    return PLACE.sub(put, message["template"]) if message["values"] else message["template"]

"""Sentences that were stored in English alone, taken apart into templates and values; not for new ones."""

import re
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

Json = dict[str, Any]

FAR = "the {which} {distance} distance of individuals is {found:.6g}; at most {limit} is allowed"
OPENING_KEY_MISSING = "the private key {key_id} is not in ANONCUP_OPENING_KEYS_DIR"
TEMPLATES = (
    "{found} rows are left; at least {needed} must be",
    FAR,
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
    OPENING_KEY_MISSING,
)
"""Of what was stored until 0015; a sentence of another form is its own template."""
NEWER = {FAR.replace(":.6g", ""): FAR}
"""Templates that were other ones until 0018."""
PLACE = re.compile(r"\{(\w+)(:\.6g)?\}")
SAID = {"which", "distance", "reason", "last"}
"""Values that are words themselves."""
NAMES = {"file", "name", "key_id"}
NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?|inf"

WORK = ("evaluations", "guesses", "threshold_reports")
BATCH = 500


def pattern(template: str) -> re.Pattern[str]:
    literal = PLACE.split(template)
    found = [re.escape(part) + group(name) for part, name in zip(literal[::3], literal[1::3], strict=False)]
    return re.compile("".join(found) + re.escape(literal[-1]), re.DOTALL)


def group(name: str) -> str:
    return f"(?P<{name}>{'.+' if name in SAID | NAMES else NUMBER})"


PATTERNS = {template: pattern(template) for template in TEMPLATES}


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


def rewrite_what_was_said() -> None:
    """Of releases and in reports. What has values keeps them."""
    rewrite("submissions", "remarks", lambda remarks: [with_values(each) for each in remarks])
    rewrite("evaluations", "verdict", verdict_with_values)
    rewrite("threshold_reports", "report", lambda report: with_said("remedy", report))


def verdict_with_values(verdict: Json) -> Json:
    violations = [with_values(each) for each in verdict.get("violations", [])]
    attackers = {name: with_said("note", each) for name, each in verdict.get("attackers", {}).items()}
    new = {"violations": violations, "attackers": attackers}
    return {name: new.get(name, value) for name, value in verdict.items()}


def with_values(entry: Json) -> Json:
    if "message" not in entry:
        return entry
    return {**entry, **read(entry.get("template") or entry["message"], entry.get("values") or {})}


def with_said(name: str, entry: Json) -> Json:
    if entry.get(name) is None:
        return entry
    found = read(entry.get(f"{name}_template") or entry[name], entry.get(f"{name}_values") or {})
    return {**entry, f"{name}_template": found["template"], f"{name}_values": found["values"]}


def read(template: str, values: Json) -> Json:
    """A message by the templates of today: one without values may be a sentence of which none was known."""
    if not values:
        return said(template)
    inner = {name: read(**each) if isinstance(each, dict) else each for name, each in values.items()}
    return {"template": NEWER.get(template, template), "values": inner}


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
    if name in NAMES or text == "inf":  # which JSON in the database is not
        return text
    return int(text) if text.isdecimal() else float(text)


def english(message: Json) -> str:
    def put(place: re.Match[str]) -> str:
        value = message["values"].get(place[1], place[0])
        if place[2] and not isinstance(value, str):
            return f"{value:.6g}"
        return english(value) if isinstance(value, dict) else str(value)

    return PLACE.sub(put, message["template"]) if message["values"] else message["template"]

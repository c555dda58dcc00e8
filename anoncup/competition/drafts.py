"""Create draft competition files, and change the columns of a file."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from anoncup.competition.parser import parse_common_rules, parse_rounds
from anoncup.competition.templates import DESCRIPTION_EXAMPLE, TEMPLATES, THRESHOLD_NOTE, template
from anoncup.competition.writer import replace_basics, replace_columns, set_threshold, set_weights
from anoncup.errors import InvalidCompetition, InvalidInput
from anoncup.messages import Message
from anoncup.plugins import INSTALLED, TRACKS
from anoncup.rules.parameters import Parameter, Roles
from anoncup.rules.settings import Columns
from anoncup.rules.toml_text import format_table, format_value, parse_toml, replace_tables
from anoncup.tables.files import Remark

ResultT = TypeVar("ResultT")

PLACEHOLDER_COLUMNS = Columns(("quasi_identifier",), ("sensitive",))
"""Columns of a draft until data are uploaded; the format requires at least one column for each role."""
DRAFT_SOURCES = tuple(dict.fromkeys((*TEMPLATES, *TRACKS)))
"""Names of templates and tracks from which a draft can be made."""
_MAX_SLUG_LENGTH = 63


def create_draft(source: str) -> str:
    """Return a competition file to start from. It has no threshold, because that depends on the data."""
    if source not in DRAFT_SOURCES:
        raise InvalidInput("drafts start from {names}", code="unknown_template", names=DRAFT_SOURCES)
    text = _create_template_draft(source) if source in TEMPLATES else _create_track_draft(source)
    threshold_note = THRESHOLD_NOTE if parse_common_rules(text).excessive else ""
    return text + threshold_note + DESCRIPTION_EXAMPLE


def create_named_draft(source: str, name: str) -> str:
    """Return a draft with this title and an address made from it.

    Time zone and phases are those of the template, or of the first one of the track.
    """
    language = "ja" if re.search("[ぁ-ヿ一-鿿]", name) else "en"
    rules = next(iter(parse_rounds(template(source)).values()))
    return replace_basics(
        create_draft(source),
        slug=make_slug(name) or "draft",
        titles={language: name},
        timezone=rules.timezone,
        phases=rules.phases,
    )


def make_slug(title: str) -> str:
    """Return the title's Latin letters and digits, joined by hyphens; empty if it has none."""
    words = re.findall("[a-z0-9]+", unicodedata.normalize("NFKD", title).casefold())
    return "-".join(words)[:_MAX_SLUG_LENGTH].strip("-")


def _create_template_draft(name: str) -> str:
    """Return a template without its threshold and comments.

    The comments describe its settings. They would become wrong when the settings are changed.
    """
    text = "".join(line for line in template(name).splitlines(True) if not line.startswith("#"))
    return set_threshold(text, None)


def _create_track_draft(track: str) -> str:
    """Return the draft of a track's first template with its measures, of equal weight, and its attackers.

    Parts that packages add to the track do not count.
    """
    parts = TRACKS[track]
    first = next(iter(parts.examples.templates), None)
    basics = f'format = 1\nslug = "draft"\ntitle = "draft"\ntrack = {format_value(track)}\ntimezone = "UTC"\n'
    text = _create_template_draft(first) if first else basics
    if parts.settings.has_columns:
        text = replace_columns(text, PLACEHOLDER_COLUMNS)
    weights = {
        name: 1.0
        for name, measure in parts.measures.items()
        if measure.weighs and INSTALLED.find_provider(f"{track}.measures.{name}") is None
    }
    text = set_weights(replace_tables(text, "measures", ""), weights)
    attackers = [name for name, part in parts.attackers.items() if part.may_count and part.counts_by_default]
    tables = [format_table(f"attackers.{name}", {"counts": True}) for name in attackers]
    return replace_tables(text, "attackers", "\n\n".join(tables))


def change_columns(text: str, columns: Columns) -> str:
    """Return the file with new column roles. Parameters no longer name columns that lost their role."""
    rules = parse_common_rules(text)
    track = TRACKS[rules.track]
    roles = track.settings.list_columns_by_role(columns, rules.settings)
    tables: Any = parse_toml(text)
    for kind, parts in (("measures", track.measures), ("attackers", track.attackers)):
        entries = tables.get(kind, {})
        fitted = {
            name: _fit_parameters(entry, parts[name].parameters, roles) for name, entry in entries.items()
        }
        if fitted != entries:
            text = replace_tables(
                text,
                kind,
                "\n\n".join(format_table(f"{kind}.{name}", entry) for name, entry in fitted.items()),
            )
    return replace_columns(text, columns)


def _fit_parameters(
    entry: Mapping[str, object], parameters: Sequence[Parameter], roles: Roles
) -> dict[str, object]:
    """Return the settings of a part without unknown column names and parameters that become empty."""
    fitted = {
        parameter.name: parameter.drop_unknown_columns(entry[parameter.name], roles)
        for parameter in parameters
        if parameter.name in entry
    }
    return {name: value for name, value in {**entry, **fitted}.items() if value is not None}


WEIGHT_REMOVED = "weight_taken"
_NO_SCALE = "scale_zero"


def drop_weights_without_scale(
    file: str, compute: Callable[[str], ResultT]
) -> tuple[str, ResultT, list[Remark]]:
    """Compute with a file, setting to 0 the weights of measures that have no scale on these data.

    Drafts give every measure a weight, but not every table has the columns for all of them.
    """
    dropped: list[str] = []
    while True:
        try:
            return file, compute(file), list(map(_build_weight_remark, dropped))
        except InvalidCompetition as problem:
            name = problem.message.values.get("name")
            if problem.code != _NO_SCALE or not isinstance(name, str) or name in dropped:
                raise
            file = set_weights(file, {name: 0.0})
            dropped.append(name)


def _build_weight_remark(name: str) -> Remark:
    message = Message("the weight of {name} is now 0, because it measures nothing on these data", name=name)
    return Remark(WEIGHT_REMOVED, message)


_SERVICE_TABLES = ("scales", "scored_by")
"""Tables that the service adds to a file."""


@dataclass(frozen=True, slots=True)
class Change:
    """A key of a competition file, such as ``excessive.threshold``. A value is None where it is missing."""

    key: str
    old: object
    new: object


def list_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return the keys of two parsed files that differ.

    Tables that the service adds to a file are compared only if the new file has them.
    """
    kept = {name: table for name, table in old.items() if name not in _SERVICE_TABLES or name in new}
    return list(_compare("", kept, new))


def _compare(key: str, old: object, new: object) -> Iterator[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            yield from _compare(f"{key}.{name}" if key else name, old.get(name), new.get(name))
    elif _is_list_of_tables(old) and _is_list_of_tables(new) and len(old) == len(new):
        for index, (old_table, new_table) in enumerate(zip(old, new, strict=True)):
            yield from _compare(f"{key}[{index}]", old_table, new_table)
    elif old != new:
        yield Change(key, old, new)


def _is_list_of_tables(value: object) -> TypeGuard[list[Mapping[str, object]]]:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)

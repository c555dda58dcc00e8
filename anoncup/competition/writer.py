"""Settings written back into the text of a competition file, a table at a time."""

from collections.abc import Iterable, Mapping

from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import (
    AttackerSettings,
    Columns,
    Excessive,
    Limits,
    MeasureSettings,
    Parameters,
    Phase,
    Publication,
    Ranking,
)
from anoncup.rules.toml_text import key_text, table_text, value_text, with_tables
from anoncup.tracks.model import Track


def with_head(text: str, head: Mapping[str, object]) -> str:
    """The file with these values at its top, in place of those it had under the same keys."""
    for key in head:
        text = with_tables(text, key, "")
    lines = [f"{key_text(key)} = {value_text(value)}" for key, value in head.items()]
    return "\n".join(lines) + "\n\n" + text.lstrip()


def with_title(text: str, titles: Mapping[str, str]) -> str:
    return with_tables(text, "title", table_text("title", titles))


def with_columns(text: str, columns: Columns) -> str:
    roles = {"quasi_identifiers": columns.quasi_identifiers, "sensitive": columns.sensitive}
    return with_tables(text, "columns", table_text("columns", roles))


def with_measures(text: str, measures: Mapping[str, MeasureSettings]) -> str:
    """Only what differs from the usual is written: a measure of weight 0 and no parameters is not named."""
    tables = [
        table_text(f"measures.{name}", {"weight": settings.weight or None, **settings.parameters})
        for name, settings in measures.items()
        if settings.weight or settings.parameters
    ]
    return with_tables(text, "measures", "\n\n".join(tables))


def with_attackers(text: str, track: Track, attackers: Mapping[str, AttackerSettings]) -> str:
    """As ``with_measures``: an attacker that is as it would be unnamed, without parameters, is not named."""
    known = track.attackers
    usual = {name: one.may_count if one.by_default else None for name, one in known.items()}
    tables = [
        table_text(
            f"attackers.{name}",
            {"counts": None if one.counts == usual[name] else one.counts, **one.parameters},
        )
        for name, one in attackers.items()
        if one.counts != (known[name].may_count and known[name].by_default) or one.parameters
    ]
    return with_tables(text, "attackers", "\n\n".join(tables))


def with_questions(text: str, track: Track, questions: Mapping[str, Parameters]) -> str:
    """The questions that are asked: an optional one is named by that, any other where it has parameters."""
    tables = [
        table_text(f"questions.{name}", parameters)
        for name, parameters in questions.items()
        if parameters or track.questions[name].optional
    ]
    return with_tables(text, "questions", "\n\n".join(tables))


def with_excessive(text: str, rule: Excessive) -> str:
    return with_tables(text, "excessive", table_text("excessive", fields_of(rule)))


def with_publication(text: str, publication: Publication, ranking: Ranking, limits: Limits) -> str:
    text = with_tables(text, "publication", table_text("publication", fields_of(publication)))
    text = with_tables(text, "ranking", table_text("ranking", fields_of(ranking)))
    return with_tables(text, "limits", table_text("limits", fields_of(limits)))


def with_scored_by(text: str, versions: Mapping[str, str]) -> str:
    """The file with what counts fixed to these names and versions; of none, without that table."""
    return with_tables(text, "scored_by", table_text("scored_by", versions) if versions else "")


def fields_of(settings: Excessive | Publication | Ranking | Limits) -> dict[str, object]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


def with_basics(
    text: str, *, slug: str, titles: Mapping[str, str], timezone: str, phases: Iterable[Phase]
) -> str:
    """The file under this name and titles, with these windows on the clock of this zone."""
    text = with_title(with_head(text, {"slug": slug, "timezone": timezone}), titles)
    return with_phases(text, phases)

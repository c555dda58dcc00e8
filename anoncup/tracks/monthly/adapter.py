"""What is done with the tables of the monthly track."""

from __future__ import annotations  # rules know their tracks

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.random import Generator

from anoncup.tables.csv_text import table_csv
from anoncup.tables.files import Remark
from anoncup.tracks.memo import once
from anoncup.tracks.model import About, Files
from anoncup.tracks.monthly import attackers, original, release
from anoncup.tracks.monthly.answer import Named
from anoncup.tracks.monthly.files import KNOWLEDGE, SHARES
from anoncup.tracks.monthly.knowledge import drawn, knowledge_csv, known_rows, parse_knowledge
from anoncup.tracks.monthly.original import Original
from anoncup.tracks.monthly.release import Published, Release, shuffled, with_deletions
from anoncup.tracks.parts import Method

if TYPE_CHECKING:
    from anoncup.rules.model import Rules


class Scored(Release):
    """A release, with what an attacker sees of it, made when somebody asks."""

    @property
    def target(self) -> attackers.Target:
        return once(self.memo, ("target",), lambda: attackers.target_of(self.original, self))


def release_of(tables: Original, made: Release, answer: Named) -> Scored:  # noqa: ARG001
    """The answer adds nothing: who has AT in T's order has it."""
    return Scored(tables, made.records)


def parse_original(files: Files, rules: Rules) -> tuple[Original, list[Remark]]:  # noqa: ARG001
    """M and T, and what there is of the tables of partial knowledge."""
    found, remarks = original.parse_original(files)
    knowledge = {}
    for table in SHARES:
        if table in files:
            knowledge[table], more = parse_knowledge(files[table], found, table)
            remarks += more
    return replace(found, knowledge=knowledge), remarks


def parse_release(files: Files, tables: Original, rules: Rules) -> tuple[Release, list[Remark]]:  # noqa: ARG001
    return release.parse_release(files["transactions"], tables)


def parse_target(files: Files, tables: Original, rules: Rules) -> Published:  # noqa: ARG001
    return release.parse_target(files["transactions"], tables)


def files_of(tables: Original | Release) -> dict[str, bytes]:
    """A release, or an original with what there is of the tables of partial knowledge."""
    if isinstance(tables, Release):
        return {"transactions": table_csv(with_deletions(tables.records.cells, tables.records.kept))}
    known = {name: knowledge_csv(tables, kept) for name, kept in tables.knowledge.items()}
    return {
        "customers": table_csv(tables.customers),
        "transactions": table_csv(tables.records.cells),
        **known,
    }


def frames(tables: Original) -> Sequence[pd.DataFrame]:
    """Of M, T and what there is of the tables of partial knowledge."""
    rows = known_rows(tables)
    known = [with_deletions(rows, kept) for kept in tables.knowledge.values()]
    return (tables.customers, tables.records.cells, *known)


def anonymize(
    method: Method,
    tables: Original,
    rules: Rules,  # noqa: ARG001 - the columns are the same everywhere
    rng: Generator,
    parameters: Mapping[str, Any],
) -> tuple[Release, Named]:
    return method.apply(tables, rng=rng, **parameters)


def published(made: Release, answer: Named, about: About, rng: Generator) -> dict[str, bytes]:  # noqa: ARG001
    """The kept rows in a new order, which tells nothing of T's."""
    return {"transactions": table_csv(shuffled(made, rng))}


def make_knowledge(
    tables: Original,
    truth: Files,  # noqa: ARG001
    rules: Rules,  # noqa: ARG001
    generator: Callable[[str], Generator],
) -> dict[str, bytes]:
    """The tables of partial knowledge, as many rows of each as its share says."""
    return {name: knowledge_csv(tables, kept) for name, kept in drawn(tables, generator(KNOWLEDGE)).items()}


def mean_of_largest(found: Mapping[str, Sequence[float]]) -> float:
    """What E takes of teams' guesses: the mean over the questions of the largest; unanswered, 0."""
    return fsum(max(each, default=0.0) for each in found.values()) / len(found)

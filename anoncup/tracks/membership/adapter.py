"""What is done with the tables of the membership track."""

from __future__ import annotations  # rules know their tracks

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from anoncup.tables.files import Remark
from anoncup.tracks.membership import attackers, example
from anoncup.tracks.membership.measures import BINS, binned, total_variation
from anoncup.tracks.membership.rows import in_order
from anoncup.tracks.membership.settings import public_schema
from anoncup.tracks.membership.tables import Original, Table, frame, parse_candidates, parse_rows, written
from anoncup.tracks.model import Files

if TYPE_CHECKING:
    from anoncup.rules.model import Rules
    from anoncup.tracks.membership.answer import Members

CANDIDATES, BACKGROUND, RELEASED = "candidates", "background", "released"
"""The files."""


@dataclass(frozen=True, slots=True)
class Target:
    """A release as others see it."""

    original: Original
    released: Table

    @property
    def rows(self) -> int:
        return self.released.rows

    @property
    def seen(self) -> attackers.Target:
        """All in the columns that everybody knows."""
        public, background = self.original.candidates, self.original.background
        names = public.schema.names
        return attackers.Target(public, self.released.only(*names), background and background.only(*names))


@dataclass(frozen=True, slots=True)
class Release:
    """A target and the members whom it stands for."""

    target: Target
    members: Table

    @property
    def original(self) -> Original:
        return self.target.original

    @property
    def released(self) -> Table:
        return self.target.released


def parse_original(files: Files, rules: Rules) -> tuple[Original, list[Remark]]:
    schema = public_schema(rules)
    candidates, remarks = parse_candidates(files[CANDIDATES], schema)
    if BACKGROUND not in files:
        return Original(candidates), remarks
    background, more = parse_rows(files[BACKGROUND], rules.settings.schema, file=BACKGROUND)
    return Original(candidates, background), [*remarks, *more]


def parse_release(files: Files, original: Original, rules: Rules) -> tuple[Table, list[Remark]]:
    fewest, most = rules.settings.rows(original.rows)
    return parse_rows(files[RELEASED], rules.settings.schema, file=RELEASED, fewest=fewest, most=most)


def files_of(tables: Table | Original) -> dict[str, bytes]:
    if isinstance(tables, Table):
        return {RELEASED: written(tables)}
    background = {} if tables.background is None else {BACKGROUND: written(tables.background)}
    return {CANDIDATES: written(tables.candidates), **background}


def canonical_files(released: Table) -> dict[str, bytes]:
    """The rows sorted: their order says nothing of a release, and might of its members."""
    return files_of(in_order(released))


def frames(original: Original) -> Sequence[pd.DataFrame]:
    """Of each file that is there."""
    return [frame(table) for table in (original.candidates, original.background) if table is not None]


def prepare(original: Original, rules: Rules) -> Original:  # noqa: ARG001
    return original


def target_of(original: Original, released: Table) -> Target:
    return Target(original, released)


def release_of(original: Original, released: Table, members: Members) -> Release:
    return Release(Target(original, released), members.table)


def by_column(release: Release) -> dict[str, float]:
    """The distance of each column's distribution, which ``marginals`` is the mean of."""
    schema = release.members.schema
    names = [column.name for column in schema.numeric] + [column.name for column in schema.categorical]
    cells = binned(release.members, release.released, BINS)
    return {name: total_variation(*each) for name, each in zip(names, cells, strict=True)}


def example_data(rows: int | None, seed: int) -> dict[str, bytes]:
    """Candidates of a survey, and answers of others to it as a background, a quarter as many."""
    candidates = example.ROWS if rows is None else rows + rows % 2
    made = example.survey_table(candidates + max(1, candidates // 4), seed=seed)
    places = np.arange(made.rows)
    return files_of(Original(made.at(places < candidates), made.at(places >= candidates)))

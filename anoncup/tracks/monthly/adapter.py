"""Adapt the monthly code to the ``Track`` interface."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from numpy.random import Generator

from anoncup.rules.model import Rules
from anoncup.tables.csv_text import write_csv
from anoncup.tables.files import Remark
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.files import Files
from anoncup.tracks.model import ReleaseContext
from anoncup.tracks.monthly import original, release
from anoncup.tracks.monthly.answer import PseudonymTable
from anoncup.tracks.monthly.attackers import MonthlyTarget, build_target
from anoncup.tracks.monthly.files import KNOWLEDGE_PERCENTAGES, KNOWLEDGE_PURPOSE
from anoncup.tracks.monthly.knowledge import (
    parse_knowledge,
    sample_known_rows,
    truncate_goods,
    write_knowledge,
)
from anoncup.tracks.monthly.original import MonthlyOriginal
from anoncup.tracks.monthly.release import (
    MonthlyRelease,
    mark_deleted_rows,
    shuffle_kept_rows,
)
from anoncup.tracks.parts import Method


def parse_original(files: Files, rules: Rules) -> tuple[MonthlyOriginal, list[Remark]]:
    """Parse M, T and the existing tables of partial knowledge."""
    tables, remarks = original.parse_original(files)
    knowledge = {}
    for table_name in KNOWLEDGE_PERCENTAGES:
        if table_name in files:
            knowledge[table_name], knowledge_remarks = parse_knowledge(files[table_name], tables, table_name)
            remarks += knowledge_remarks
    return replace(tables, knowledge=knowledge), remarks


def parse_release(
    files: Files,
    tables: MonthlyOriginal,
    rules: Rules,
    own_files: Files,
) -> tuple[MonthlyRelease, list[Remark]]:
    return release.parse_release(files["transactions"], tables)


def parse_target(files: Files, tables: MonthlyOriginal, rules: Rules) -> MonthlyTarget:
    return build_target(tables, release.parse_kept_rows(files["transactions"], tables))


def view_release(tables: MonthlyOriginal, parsed_release: MonthlyRelease) -> MonthlyTarget:
    return build_target(tables, parsed_release.kept_rows)


def files_of(tables: MonthlyOriginal | MonthlyRelease) -> dict[str, bytes]:
    """Write a release, or an original with its existing tables of partial knowledge."""
    if isinstance(tables, MonthlyRelease):
        return {"transactions": write_csv(mark_deleted_rows(tables.records.cells, tables.records.is_kept))}
    knowledge_files = {name: write_knowledge(tables, is_kept) for name, is_kept in tables.knowledge.items()}
    return {
        "customers": write_csv(tables.customers),
        "transactions": write_csv(tables.records.cells),
        **knowledge_files,
    }


def build_frames(tables: MonthlyOriginal) -> Sequence[pd.DataFrame]:
    """Return M, T and the existing tables of partial knowledge."""
    rows = truncate_goods(tables)
    knowledge_frames = [mark_deleted_rows(rows, is_kept) for is_kept in tables.knowledge.values()]
    return (tables.customers, tables.records.cells, *knowledge_frames)


def anonymize(
    method: Method[tuple[MonthlyRelease, PseudonymTable]],
    tables: MonthlyOriginal,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
) -> tuple[MonthlyRelease, PseudonymTable]:
    return method.apply(tables, rng=rng, **parameters)


def write_target_files(
    parsed_release: MonthlyRelease,
    answer: PseudonymTable,
    context: ReleaseContext[MonthlyOriginal, MonthlyRelease],
    rng: Generator,
) -> dict[str, bytes]:
    """Return the kept rows in random order, which does not reveal their order in T."""
    return {"transactions": write_csv(shuffle_kept_rows(parsed_release, rng))}


def make_knowledge_files(tables: MonthlyOriginal, context: AllocationContext) -> dict[str, bytes]:
    """Make the tables of partial knowledge, each with its percentage of the rows of T."""
    return {
        name: write_knowledge(tables, is_kept)
        for name, is_kept in sample_known_rows(tables, context.generator(KNOWLEDGE_PURPOSE)).items()
    }

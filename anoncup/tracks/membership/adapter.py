"""The functions by which the ``Track`` of the membership contests reads, writes and describes its files.

The original are the candidates, and perhaps background rows of other people; a release is one table.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from anoncup.rules.model import Rules
from anoncup.tables.files import Remark
from anoncup.tracks.files import Files
from anoncup.tracks.membership import example
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.attackers import MembershipTarget
from anoncup.tracks.membership.measures import MARGINAL_BINS, bin_columns, total_variation
from anoncup.tracks.membership.settings import get_public_schema, get_settings
from anoncup.tracks.membership.tables import (
    MembershipOriginal,
    TypedTable,
    build_frame,
    parse_candidates,
    parse_rows,
    sort_rows,
    write_table,
)
from anoncup.tracks.parts import ScoredRelease

CANDIDATES_FILE, BACKGROUND_FILE, RELEASED_FILE = "candidates", "background", "released"


ScoredMembership: TypeAlias = "ScoredRelease[TypedTable, MembershipTarget, Members]"


def parse_original(files: Files, rules: Rules) -> tuple[MembershipOriginal, list[Remark]]:
    """Read the candidates and, if there is one, the background table; raise InvalidUpload with the places."""
    schema = get_public_schema(rules)
    candidates, remarks = parse_candidates(files[CANDIDATES_FILE], schema)
    if BACKGROUND_FILE not in files:
        return MembershipOriginal(candidates), remarks
    background, background_remarks = parse_rows(
        files[BACKGROUND_FILE], get_settings(rules).schema, file=BACKGROUND_FILE
    )
    return MembershipOriginal(candidates, background), [*remarks, *background_remarks]


def parse_release(
    files: Files,
    original: MembershipOriginal,
    rules: Rules,
    own_files: Files,
) -> tuple[TypedTable, list[Remark]]:
    """Read a release, whose number of rows the rules limit; raise InvalidUpload with the places."""
    min_rows, max_rows = get_settings(rules).compute_row_limits(original.rows)
    return parse_rows(
        files[RELEASED_FILE],
        get_settings(rules).schema,
        file=RELEASED_FILE,
        min_rows=min_rows,
        max_rows=max_rows,
    )


def files_of(tables: TypedTable | MembershipOriginal) -> dict[str, bytes]:
    """Write a release, or an original, as files by name."""
    if isinstance(tables, TypedTable):
        return {RELEASED_FILE: write_table(tables)}
    background = {} if tables.background is None else {BACKGROUND_FILE: write_table(tables.background)}
    return {CANDIDATES_FILE: write_table(tables.candidates), **background}


def write_canonical_files(release_table: TypedTable) -> dict[str, bytes]:
    """Write the release with sorted rows: their order must not reveal anything about the members."""
    return files_of(sort_rows(release_table))


def build_frames(original: MembershipOriginal) -> Sequence[pd.DataFrame]:
    """Return the table of each existing file."""
    return [build_frame(table) for table in (original.candidates, original.background) if table is not None]


def compute_marginals_by_column(scored: ScoredMembership) -> dict[str, float]:
    """Return the distance of each column's distribution; ``marginals`` is their mean."""
    members = scored.answer.table
    names = [column.name for column in members.schema.numeric]
    names += [column.name for column in members.schema.categorical]
    bins = bin_columns(members, scored.release, MARGINAL_BINS)
    return {name: total_variation(*column_bins) for name, column_bins in zip(names, bins, strict=True)}


def make_example_data(rows: int | None, seed: int) -> dict[str, bytes]:
    """Return the files of a survey: candidates, and a quarter as many further rows as background."""
    # Half of the candidates become members of a team, so their number is even.
    candidate_count = example.DEFAULT_ROWS if rows is None else rows + rows % 2
    survey = example.generate_survey(candidate_count + max(1, candidate_count // 4), seed=seed)
    positions = np.arange(survey.rows)
    return files_of(
        MembershipOriginal(
            survey.select_rows(positions < candidate_count), survey.select_rows(positions >= candidate_count)
        )
    )

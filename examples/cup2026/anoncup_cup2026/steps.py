"""Functions of the track. Candidates are named by their rows, which files count from 1."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import Problems, redact_values, write_csv
from anoncup.tables.files import MAX_ROWS, Remark
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.files import Files
from anoncup.tracks.membership import attackers, questions, settings
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.attackers import MembershipTarget
from anoncup.tracks.membership.example import generate_survey
from anoncup.tracks.membership.settings import CANDIDATE_COLUMN, NumericColumn, TableSchema, get_hidden_schema
from anoncup.tracks.membership.tables import (
    MembershipOriginal,
    TypedTable,
    build_frame,
    gower_distances,
    parse_rows,
    write_table,
)
from anoncup.tracks.model import ReleaseContext, Sizes
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import Method

Context = ReleaseContext[MembershipOriginal, object]
COHORT_COLUMN = NumericColumn("cohort", 1, 9999)
SCORE_SCHEMA = TableSchema((NumericColumn("score", 0, 1),))


def parse_release(
    files: Files, original: MembershipOriginal, rules: Rules, own_files: Files
) -> tuple[TypedTable, list[Remark]]:
    """Parse a release. For its own team, the size of the cohort limits its number of rows."""
    schema, limits = settings.get_settings(rules).schema, (1, original.rows)
    if own_files:
        limits = settings.get_settings(rules).compute_row_limits(2 * (own_files["cohort"].count(b"\n") - 1))
    return parse_rows(files["released"], schema, file="released", min_rows=limits[0], max_rows=limits[1])


def read_register(content: bytes, original: MembershipOriginal, rules: Rules) -> TypedTable:
    """Return the cohort and the hidden column of each candidate."""
    schema, rows = TableSchema((COHORT_COLUMN, *get_hidden_schema(rules).columns)), original.rows
    with redact_values():
        return parse_rows(content, schema, file="register", min_rows=rows, max_rows=rows)[0]


def check_register(name: str, content: bytes, original: MembershipOriginal, rules: Rules) -> None:
    read_register(content, original, rules)


def assign_cohort(original: MembershipOriginal, context: AllocationContext) -> dict[str, bytes]:
    """Return a cohort by lot. The service repeats it until no other team has the same cohort."""
    register = read_register(context.organizer_files["register"], original, context.rules)
    cohorts, number = register.numbers[:, 0], context.generator("cohort").bit_generator.random_raw()
    labels = np.unique(cohorts)
    is_member = cohorts == labels[int(number) % len(labels)]
    return {"cohort": write_cohort(original, build_frame(register), is_member, context.rules)}


def write_cohort(original: MembershipOriginal, hidden: pd.DataFrame, rows: BoolArray, rules: Rules) -> bytes:
    frame = build_frame(original.candidates).join(hidden)[list(settings.get_settings(rules).schema.names)]
    frame.insert(0, CANDIDATE_COLUMN, np.arange(1, len(frame) + 1))
    return write_csv(frame[rows])


def read_cohort(content: bytes, context: Context) -> Members:
    schema, hidden_names = settings.get_settings(context.rules).schema, get_hidden_schema(context.rules).names
    with redact_values():
        table, _ = parse_rows(content, add_candidate(schema), file="cohort")
    rows = table.numbers[:, 0].astype(np.int64) - 1
    return Members(rows, table.select_columns(*schema.names), table.select_columns(*hidden_names))


def check_cohort(cohort: Members, sizes: Sizes) -> None:
    if cohort.rows.max() >= sizes["originals"]:
        raise InvalidInput("the members of a cohort are candidates")


def anonymize(
    method: Method[TypedTable],
    original: MembershipOriginal,
    rules: Rules,
    rng: Generator,
    parameters: Mapping[str, Any],
    *,
    answer: Members | None = None,
) -> tuple[TypedTable, Members]:
    """Apply a method to the given cohort, or to random candidates with an invented hidden column."""
    if answer is None:
        column, is_member = get_hidden_schema(rules).columns[0], rng.permutation(original.rows) % 6 == 0
        hidden = pd.DataFrame({column.name: rng.choice(column.example_cells, original.rows)})
        content = write_cohort(original, hidden, is_member, rules)
        answer = read_cohort(content, ReleaseContext(rules, {}, lambda: original))
    return method.apply(answer.table, rng=rng, **parameters), answer


def add_candidate(schema: TableSchema) -> TableSchema:
    return TableSchema((NumericColumn(CANDIDATE_COLUMN, 1, MAX_ROWS), *schema.columns))


def build_guess(rows: IntArray, column: TypedTable) -> TypedTable:
    return TypedTable(add_candidate(column.schema), np.column_stack((rows + 1, column.numbers)), column.codes)


def build_scores(rows: IntArray, scores: FloatArray) -> TypedTable:
    return build_guess(rows, TypedTable(SCORE_SCHEMA, scores[:, None], np.empty((len(rows), 0), np.int64)))


def read_scores(content: bytes, context: Context) -> TypedTable:
    return parse_rows(content, add_candidate(SCORE_SCHEMA), file="guess")[0]


def read_values(content: bytes, context: Context) -> TypedTable:
    return parse_rows(content, add_candidate(get_hidden_schema(context.rules)), file="guess")[0]


def write_guess(guess: TypedTable) -> bytes:
    """Write numbers of candidates as integers, unless the judge is to refuse one that is none."""
    frame = build_frame(guess)
    is_whole = (frame[CANDIDATE_COLUMN] % 1 == 0).all()
    return write_csv(frame.astype({CANDIDATE_COLUMN: np.int64}) if is_whole else frame)


def make_perfect_scores(cohort: Members) -> TypedTable:
    return build_scores(cohort.rows, np.ones(len(cohort.rows)))


def make_perfect_values(cohort: Members) -> TypedTable:
    return build_guess(cohort.rows, questions.require_hidden_column(cohort))


def make_blind_scores(context: Context, rng: Generator) -> TypedTable:
    return build_scores(np.arange(context.sizes["originals"]), rng.random(context.sizes["originals"]))


def find_lines(guess: TypedTable, context: Context) -> IntArray:
    """Return the last line of the guess for each candidate, or -1; refuse unknown candidates."""
    numbers, known = guess.numbers[:, 0].tolist(), range(1, context.sizes["originals"] + 1)
    problems = Problems("guess")
    for row in (np.flatnonzero(~np.isin(numbers, known)) + 1).tolist():
        reason = Message("not from {least} to {most}", least=1, most=len(known))
        message = Message("{column}, row {row}: {what}", column=CANDIDATE_COLUMN, row=row, what=reason)
        problems.add("unknown_candidate", message, row=row, column=CANDIDATE_COLUMN)
    problems.raise_if_any()
    line_by_number = {number: line for line, number in enumerate(numbers)}
    return np.array([line_by_number.get(number, -1) for number in known])


def judge_membership(guess: TypedTable, cohort: Members, context: Context) -> Outcome:
    """Return the share of members found where 1% of the other candidates are taken for members."""
    lines = find_lines(guess, context)
    scores = np.where(lines < 0, 0.0, guess.numbers[lines, 1])
    return questions.compute_membership_outcome(scores, np.isin(np.arange(len(lines)), cohort.rows))


def judge_attribute(guess: TypedTable, cohort: Members, context: Context, *, hidden: str = "") -> Outcome:
    """Return the share of members whose value is right; the baseline is the share of the commonest value."""
    lines, truth = find_lines(guess, context)[cohort.rows], questions.require_hidden_column(cohort)
    values = guess.select_columns(*truth.schema.names).select_rows(lines)
    key = questions.build_answer_key(truth, 0.0)
    is_right, is_common = key.find_right_cells(values) & (lines >= 0), key.find_right_cells_of_best_constant()
    return Outcome(float(is_right.mean()), float(is_common.mean()), int(is_right.sum()), len(lines))


def closest_ratio(target: MembershipTarget) -> TypedTable:
    return build_scores(np.arange(target.original.rows), attackers.closest_ratio(target))


def nearest_value(target: MembershipTarget) -> TypedTable:
    """Take the hidden column of the released row that is nearest to a candidate."""
    release = target.release_table
    nearest = gower_distances(target.candidates, target.public_table, target.candidates).argmin(axis=1)
    (hidden_name,) = set(release.schema.names) - set(target.candidates.schema.names)
    return build_guess(np.arange(len(nearest)), release.select_columns(hidden_name).select_rows(nearest))


def make_example_data(rules: Rules, rows: int | None, seed: int) -> dict[str, bytes]:
    """Return the candidates of a health survey and the register of their six cohorts."""
    survey = generate_survey(600 if rows is None else rows + rows % 2, seed=seed)
    register = build_frame(survey.select_columns(*get_hidden_schema(rules).names))
    register.insert(0, COHORT_COLUMN.name, np.arange(survey.rows) % 6 + 1)
    candidates = survey.select_columns(*settings.get_public_schema(rules).names)
    return {"candidates": write_table(candidates), "register": write_csv(register)}

"""A test track in which organizers assign a cohort to each team, as in the cup of 2026.

A release is a table made of a team's cohort. A target also shows the ages of some members. Attackers name the
members, and say which of the shown members are ill or well. Only the organizers know all persons, so that
unknown persons in a guess are found when it is judged. ``INSTALLED_COHORTS`` describes the package.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import FloatArray
from anoncup.messages import Message
from anoncup.rules.parameters import Parameter
from anoncup.rules.toml_values import TomlTable, read_number
from anoncup.tables.csv_text import Problems, redact_values, write_csv
from anoncup.tables.files import Remark
from anoncup.tracks.capabilities import Allocation, AllocationContext, Examples, TrackSettings
from anoncup.tracks.files import Files, FileSpec, fixed_header
from anoncup.tracks.membership.schema import NumericColumn, TableSchema
from anoncup.tracks.membership.tables import parse_rows
from anoncup.tracks.model import AnswerSpec, Question, ReleaseContext, ShownAnswer, Sizes, TargetFiles, Track
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import AnyMethod, Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

COMPETITION_TEMPLATE = """
format = 1
slug = "small"
title = {{ en = "Cohorts", ja = "コホート" }}
track = "cohorts"
timezone = "Asia/Tokyo"
[cohorts]
asked = {asked}
[limits]
guesses_per_target = 1
[publication]
reveal_notice_hours = 0
[questions.attribute]
asks = "well"
[measures.mean_age]
weight = 1.0
[[phases]]
name = "anonymization"
start = {days[0]}
end = {days[1]}
[[phases]]
name = "reidentification"
start = {days[2]}
end = {days[3]}
"""
PERSON, AGE, ILL, TEAM = "person", "age", "ill", "team"
COHORT_COLUMNS = (PERSON, AGE, ILL)
LIMITS = {PERSON: (1.0, 9999.0), AGE: (0.0, 120.0), ILL: (0.0, 9.0)}
Context = ReleaseContext["AgesOriginal", FloatArray]


def build_competition_toml(asked: int = 2) -> str:
    """Return a competition file that is open now; ``asked`` is the number of members that a target shows."""
    now = datetime.now(UTC)
    days = [(now + timedelta(days=offset)).isoformat() for offset in (-1, 1, 2, 3)]
    return COMPETITION_TEMPLATE.format(asked=asked, days=days)


@dataclass(frozen=True, slots=True)
class AgesOriginal:
    """The ages of all persons, which everybody knows."""

    ages: FloatArray

    @property
    def rows(self) -> int:
        return len(self.ages)


@dataclass(frozen=True, slots=True)
class CohortTarget:
    """What attackers see: the released table, the ages of the shown members, and what they are asked."""

    original: AgesOriginal
    table: FloatArray
    shown_ages: FloatArray
    asks: str

    @property
    def rows(self) -> int:
        return len(self.table)


def parse_numbers(
    content: bytes, file: str, columns: tuple[str, ...], *, rows: int | None = None
) -> FloatArray:
    schema = TableSchema(tuple(NumericColumn(name, *LIMITS[name]) for name in columns))
    limits = {} if rows is None else {"min_rows": rows, "max_rows": rows}
    return parse_rows(content, schema, file=file, **limits)[0].numbers


def write_numbers(numbers: FloatArray, columns: tuple[str, ...]) -> bytes:
    return write_csv(pd.DataFrame(numbers.astype(int), columns=list(columns)))


def read_asked(table: TomlTable) -> int:
    asked = table.take("asked", read_number, 1.0)
    table.reject_unknown_keys()
    return int(asked)


def read_register(organizer_files: Files) -> pd.DataFrame:
    """Return all persons with their teams, or none where only the organizers know them."""
    lines = organizer_files.get("register", b"").decode().splitlines()[1:]
    cells = [line.split(",") for line in lines]
    return pd.DataFrame(cells, columns=[PERSON, TEAM, AGE, ILL])


def check_register(name: str, content: bytes, *_: object) -> None:
    problems = Problems(name)
    for row, line in enumerate(content.decode().splitlines()[1:], 1):
        if line.count(",") != 3:
            problems.add("ragged_row", Message("row {row}: four cells are needed", row=row), row=row)
    problems.raise_if_any()


def assign_cohort(original: AgesOriginal, context: AllocationContext) -> dict[str, bytes]:
    """Return the cohort of the team, and for baselines that of the first team."""
    register = read_register(context.organizer_files)
    members = register[register[TEAM] == (context.team or register[TEAM].iloc[0])]
    return {"cohort": write_csv(members[list(COHORT_COLUMNS)])} if len(members) else {}


def read_cohort(content: bytes, context: Context | None = None) -> FloatArray:
    with redact_values():
        return parse_numbers(content, "cohort", COHORT_COLUMNS)


def check_cohort(cohort: FloatArray, sizes: Sizes) -> None:
    if not len(cohort):
        raise InvalidInput("a cohort has members")


def parse_release(
    files: Files, original: AgesOriginal, rules: "Rules", own_files: Files
) -> tuple[FloatArray, list[Remark]]:
    """Read a release, which has as many rows as the cohort of its team."""
    rows = len(read_cohort(own_files["cohort"])) if own_files else None
    return parse_numbers(files["made"], "made", (AGE, ILL), rows=rows), []


def get_shown_members(cohort: FloatArray) -> FloatArray:
    """Return the first half of the cohort, whose ages the target shows."""
    return cohort[: len(cohort) // 2]


def vary_rest(cohort: FloatArray, context: Context, rng: Generator) -> FloatArray:
    """Return other persons of the same ages, who are ill where the members are well."""
    return np.column_stack([cohort[:, 0] + rng.integers(1, 9), cohort[:, 1], 1 - cohort[:, 2]])


def write_target(
    release: FloatArray, cohort: FloatArray, context: Context, rng: Generator
) -> dict[str, bytes]:
    ages = get_shown_members(cohort)[:, 1]
    return {
        "made": write_numbers(release[rng.permutation(len(release))], (AGE, ILL)),
        "shown": write_numbers(ages[:, None], (AGE,)),
    }


def parse_target(files: Files, original: AgesOriginal, rules: "Rules") -> CohortTarget:
    asks = str(rules.questions["attribute"].get("asks", "ill"))
    return CohortTarget(
        original,
        parse_numbers(files["made"], "made", (AGE, ILL)),
        parse_numbers(files["shown"], "shown", (AGE,))[:, 0],
        asks,
    )


def read_persons(content: bytes, context: Context) -> FloatArray:
    """Read the guessed members; nobody guesses that an own member is in another cohort."""
    persons = parse_numbers(content, "guess", (PERSON,))[:, 0]
    own_files = context.guesser.own_files if context.guesser else {}
    own_members = read_cohort(own_files["cohort"])[:, 0] if own_files else np.empty(0)
    report_rows(np.isin(persons, own_members), "own_member", "this person is in your own cohort")
    return persons


def report_rows(is_wrong: Any, code: str, sentence: str) -> None:
    problems = Problems("guess")
    for row in np.flatnonzero(is_wrong).tolist():
        message = Message("{column}, row {row}: {what}", column=PERSON, row=row + 1, what=Message(sentence))
        problems.add(code, message, row=row + 1, column=PERSON)
    problems.raise_if_any()


def judge_persons(persons: FloatArray, cohort: FloatArray, context: Context) -> Outcome:
    """Return the share of right persons; only the organizers' register tells who exists."""
    known_persons = read_register(context.organizer_files)[PERSON].astype(float)
    report_rows(~np.isin(persons, known_persons), "unknown_person", "there is no such person")
    right_count = len(set(persons) & set(cohort[:, 0]))
    return Outcome(right_count / max(len(persons), len(cohort)))


def judge_attribute(
    answers: FloatArray, cohort: FloatArray, context: Context, *, asks: str = "ill"
) -> Outcome:
    """Return the share of right answers. It fails for a cell 7, and returns no number for a cell 9."""
    is_ill = get_shown_members(cohort)[:, 2].astype(bool).tolist()
    claims = [{0.0: False, 1.0: True, 9.0: None}[cell] for cell in answers.tolist()]
    right = [answer == (ill == (asks == "ill")) for answer, ill in zip(claims, is_ill, strict=True)]
    return Outcome(math.nan if None in claims else sum(right) / len(right), 0.5)


def make_attribute_guess(cohort: FloatArray) -> FloatArray:
    """Return which of the shown members are well, as the competition file of the tests asks."""
    return 1 - get_shown_members(cohort)[:, 2]


def guess_from_nearest(target: CohortTarget) -> FloatArray:
    """Say of each shown member what the released row of the nearest age says."""
    nearest = np.abs(target.table[:, 0][None] - target.shown_ages[:, None]).argmin(axis=1)
    is_ill: FloatArray = target.table[nearest, 1]
    return is_ill if target.asks == "ill" else 1 - is_ill


def anonymize(
    method: AnyMethod,
    original: AgesOriginal,
    rules: "Rules",
    rng: Generator,
    parameters: Mapping[str, Any],
    *,
    answer: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    persons = np.sort(rng.permutation(original.rows)[: 2 * cast(int, rules.settings)])
    cohort = np.column_stack([persons + 1, original.ages[persons], persons % 2])
    cohort = cohort if answer is None else answer
    return method.apply(cohort[:, 1:], **parameters), cohort


def make_example_data(rules: "Rules", rows: int | None, seed: int) -> dict[str, bytes]:
    """Return people of different ages in cohorts of twice as many members as a target shows."""
    count, members = rows or 12, 2 * cast(int, rules.settings)
    ages = 20 + np.random.default_rng(seed).permutation(100)[:count]
    teams = [("red", "blue", "green")[row // members % 3] for row in range(count)]
    register = pd.DataFrame(
        {PERSON: 101 + np.arange(count), TEAM: teams, AGE: ages, ILL: [row % 2 for row in range(count)]}
    )
    return {"ages": write_numbers(ages[:, None].astype(float), (AGE,)), "register": write_csv(register)}


COHORTS: Track[AgesOriginal, FloatArray, CohortTarget, FloatArray] = Track(
    name="cohorts",
    title="cohorts",
    individual="person",
    settings=TrackSettings(
        read=read_asked, list_shown=lambda asked: {"asked": asked}, shown_names=("asked",)
    ),
    original_files=(FileSpec("ages", header=fixed_header(AGE), rows_are_individuals=True),),
    release_files=(
        FileSpec("made", title="the table", format_description="CSV", header=fixed_header(AGE, ILL)),
    ),
    parse_original=lambda files, _: (AgesOriginal(parse_numbers(files["ages"], "ages", (AGE,))[:, 0]), []),
    parse_release=parse_release,
    files_of=lambda table: {"made": write_numbers(table, (AGE, ILL))},
    count_individuals=len,
    build_frames=lambda original: (pd.DataFrame({AGE: original.ages}),),
    answer_spec=AnswerSpec(
        FileSpec("cohort", title="your cohort", header=fixed_header(*COHORT_COLUMNS), kind="cohort"),
        read=read_cohort,
        write=lambda cohort: write_numbers(cohort, COHORT_COLUMNS),
        check=check_cohort,
    ),
    questions={
        "membership": Question(
            "membership",
            FileSpec("guess", title="the members", format_description="CSV", header=fixed_header(PERSON)),
            read=read_persons,
            write=lambda persons: write_numbers(persons[:, None], (PERSON,)),
            count_answered=len,
            judge=judge_persons,
            make_perfect_guess=lambda cohort: cohort[:, 0],
        ),
        "attribute": Question(
            "attribute",
            FileSpec("guess", title="who is ill", format_description="CSV", header=fixed_header(ILL)),
            read=lambda content, context: parse_numbers(
                content, "guess", (ILL,), rows=cast(int, context.rules.settings)
            )[:, 0],
            write=lambda answers: write_numbers(answers[:, None], (ILL,)),
            count_answered=len,
            judge=judge_attribute,
            make_perfect_guess=make_attribute_guess,
            parameters=(Parameter("asks", "choice", ("ill", "well")),),
        ),
    },
    attack_view=None,
    target_files=TargetFiles(
        specs=(
            FileSpec("made", title="the table", header=fixed_header(AGE, ILL)),
            FileSpec("shown", title="ages of some members", header=fixed_header(AGE)),
        ),
        write=write_target,
        parse=parse_target,
        shown_answer=ShownAnswer(lambda cohort, _: get_shown_members(cohort)[:, 1].tolist(), vary_rest),
    ),
    allocation=Allocation(
        files=(FileSpec("cohort", title="your cohort", header=fixed_header(*COHORT_COLUMNS)),),
        per_team=True,
        make_files=assign_cohort,
        organizer_files=(FileSpec("register", title="all persons"),),
        check_organizer_file=check_register,
    ),
    measures={
        "mean_age": Measure(
            "mean_age",
            1,
            lambda scored: float(abs(scored.release[:, 0].mean() - scored.answer[:, 1].mean()) / 120),
            weighs=True,
            scale=1.0,
        )
    },
    attackers={"nearest_age": Attacker("nearest_age", 1, guess_from_nearest, question="attribute")},
    methods={"copy": Method("copy", lambda table: table.copy())},
    anonymize=anonymize,
    examples=Examples(method="copy", make_data=make_example_data),
)
PLUGIN = Plugin(api=0, tracks={"cohorts": COHORTS})

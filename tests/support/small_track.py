"""A small test track. Attackers guess which numbers are in a list and which of these comes first.

It has no distances, no null releases, no order and no deletion. Its outcomes are not counts, it asks up to
two questions, and U is the largest loss. ``SMALL_TRACK`` is the track, ``build_competition_toml`` makes a
competition of it, ``install`` adds it to the tracks of this process. Imports that need all tracks are local,
because this module is imported as a plugin while the tracks are collected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import pytest
from numpy.random import Generator, default_rng

from anoncup.errors import FileProblem, InvalidInput, InvalidUpload
from anoncup.messages import Message
from anoncup.tracks.files import SECRET_FILE, FileSpec, fixed_header
from anoncup.tracks.model import (
    AnswerSpec,
    Question,
    ReleaseContext,
    ShownAnswer,
    TargetFiles,
    Track,
)
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import AnyMethod, Attacker, Measure, Method, ScoredRelease
from anoncup.tracks.plugin import Plugin

if TYPE_CHECKING:
    from anoncup.testing.parts import TrackCase

Numbers = tuple[float, ...]

COMPETITION_TEMPLATE = """
format = 1
slug = "{slug}"
title = {{ en = "Whose number", ja = "誰の数か" }}
track = "small"
timezone = "Asia/Tokyo"
{more}
[measures.left_out]
weight = 1.0
[measures.shift]
weight = 1.0
[[phases]]
name = "anonymization"
start = {start}
end = {end}
"""
FIRST_QUESTION_TOML = "[questions.first]"
"""With this table, both questions are asked."""


def build_competition_toml(slug: str = "small", *, extra_toml: str = FIRST_QUESTION_TOML) -> str:
    """Return a competition file that is open from yesterday until tomorrow."""
    start, end = ((datetime.now(UTC) + timedelta(days=days)).isoformat() for days in (-1, 1))
    return COMPETITION_TEMPLATE.format(slug=slug, more=extra_toml, start=start, end=end)


class NumberOriginal(NamedTuple):
    values: Numbers

    @property
    def rows(self) -> int:
        return len(self.values)


class NumberTarget(NamedTuple):
    original: NumberOriginal
    values: Numbers

    @property
    def rows(self) -> int:
        return len(self.values)


ScoredNumbers = ScoredRelease[Numbers, NumberTarget, tuple[bool, ...]]
"""A release with its answer: whether each of the original's numbers is in the list."""


def list_members(release: ScoredNumbers) -> Numbers:
    pairs = zip(release.original.values, release.answer, strict=True)
    return tuple(value for value, is_in in pairs if is_in)


def parse_column(
    content: bytes, file: str, name: str, *, maximum: float = 1e6, rows: int | None = None
) -> Numbers:
    """Return the numbers of a one-column file, each from 0 to ``maximum``. Errors never repeat values."""
    lines = content.decode(errors="replace").splitlines()
    if lines[:1] != [name]:
        message = Message("the header line must be {header}", header=name)
        raise InvalidUpload([FileProblem(file, None, None, "header", message, 1)])
    numbers = [parse_number(cell, maximum) for cell in lines[1:]]
    for row, value in enumerate(numbers, 1):
        if value is None:
            message = Message(
                "{column}, row {row}: {what}", column=name, row=row, what=Message("not a number")
            )
            raise InvalidUpload([FileProblem(file, row, name, "not_a_number", message, row + 1)])
    if len(numbers) != (rows or len(numbers)) or not numbers:
        message = Message("{found} rows; {needed} are needed", found=len(numbers), needed=rows or 1)
        raise InvalidUpload([FileProblem(file, len(numbers), None, "row_count", message)])
    return tuple(value for value in numbers if value is not None)


def parse_number(cell: str, maximum: float) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= maximum else None


def format_column(name: str, values: Sequence[object]) -> bytes:
    return "\n".join([name, *map(str, values), ""]).encode()


def read_answer(content: bytes, context: ReleaseContext[object, object]) -> tuple[bool, ...]:
    bits = parse_column(content, SECRET_FILE, "member", maximum=1, rows=context.sizes["originals"])
    return tuple(map(bool, bits))


def check_answer(answer: tuple[bool, ...], sizes: Any) -> None:
    if len(answer) != sizes["originals"] or not any(answer):
        raise InvalidInput("somebody is a member, and everybody is told of")


def judge_member(guess: Numbers, answer: tuple[bool, ...], context: ReleaseContext[Any, Any]) -> Outcome:
    """Return 1 minus the mean difference. Answering 0.5 everywhere has the value 0.5."""
    agreement = [1 - abs(score - is_in) for score, is_in in zip(guess, answer, strict=True)]
    sure_share = sum(abs(score - 0.5) > 0.4 for score in guess) / len(guess)
    return Outcome(sum(agreement) / len(agreement), 0.5, details={"sure": sure_share})


def judge_first(guess: int, answer: tuple[bool, ...], context: ReleaseContext[Any, Any]) -> Outcome:
    """Return whether the guess is the first member, counted from 1."""
    return Outcome(float(guess == answer.index(True) + 1), 1 / context.sizes["originals"])


MEMBER_QUESTION: Question[NumberOriginal, Numbers, tuple[bool, ...], Numbers] = Question(
    "member",
    FileSpec(
        "member",
        title="who is a member",
        format_description="CSV headed score, a line for each number",
        header=fixed_header("score"),
        kind="scores",
        samples=(("score", "0.5", "1", "…"),),
    ),
    read=lambda content, context: parse_column(
        content, "member", "score", maximum=1, rows=context.sizes["originals"]
    ),
    write=lambda guess: format_column("score", guess),
    count_answered=lambda guess: sum(score != 0.5 for score in guess),
    judge=judge_member,
    make_perfect_guess=lambda answer: tuple(map(float, answer)),
    make_blind_guess=lambda context, rng: tuple(rng.integers(0, 2, context.sizes["originals"]).astype(float)),
)
FIRST_MEMBER_QUESTION: Question[NumberOriginal, Numbers, tuple[bool, ...], int] = Question(
    "first",
    FileSpec(
        "first",
        title="the first member",
        format_description="CSV headed first, one line",
        header=fixed_header("first"),
        kind="row",
        samples=(("first", "3"),),
    ),
    read=lambda content, context: int(
        parse_column(content, "first", "first", maximum=context.sizes["originals"], rows=1)[0]
    ),
    write=lambda guess: format_column("first", [guess]),
    count_answered=bool,
    judge=judge_first,
    make_perfect_guess=lambda answer: answer.index(True) + 1,
    optional=True,
    make_blind_guess=lambda context, rng: int(rng.integers(context.sizes["originals"])) + 1,
)


def guess_released_numbers(target: NumberTarget) -> dict[str, Any]:
    """Guess that everybody whose number is released is a member."""
    scores = tuple(float(value in target.values) for value in target.original.values)
    return {"member": scores, "first": scores.index(1.0) + 1 if 1.0 in scores else 1}


def compute_missing_share(release: ScoredNumbers) -> float:
    """Return the share of members whose number is not released, in [0, 1]."""
    members = list_members(release)
    return sum(value not in release.release for value in members) / len(members)


def compute_mean_shift(release: ScoredNumbers) -> float:
    means = [sum(values) / len(values) for values in (release.original.values, release.target.values)]
    return abs(means[0] - means[1])


def compute_span(original: NumberOriginal) -> float:
    return max(original.values) - min(original.values)


def keep_half(values: Numbers, *, rng: Generator) -> tuple[Numbers, tuple[bool, ...]]:
    """Return a random half of the numbers, unchanged."""
    kept_places = set(rng.permutation(len(values))[: len(values) // 2].tolist())
    answer = tuple(index in kept_places for index in range(len(values)))
    return tuple(value for value, is_in in zip(values, answer, strict=True) if is_in), answer


def add_noise(values: Numbers, *, rng: Generator) -> tuple[Numbers, tuple[bool, ...]]:
    members, answer = keep_half(values, rng=rng)
    return tuple(abs(value + float(rng.integers(-2, 3))) for value in members), answer


def anonymize(
    method: AnyMethod, original: NumberOriginal, _: object, rng: Generator, parameters: Mapping[str, Any]
) -> tuple[Numbers, tuple[bool, ...]]:
    result: tuple[Numbers, tuple[bool, ...]] = method.apply(original.values, rng=rng, **parameters)
    return result


SMALL_TRACK: Track[NumberOriginal, Numbers, NumberTarget, tuple[bool, ...]] = Track(
    name="small",
    title="whose number",
    individual="number",
    original_files=(
        FileSpec(
            "numbers",
            format_description="CSV headed number",
            header=fixed_header("number"),
            rows_are_individuals=True,
        ),
    ),
    release_files=(
        FileSpec(
            "list", title="the list", format_description="CSV headed number", header=fixed_header("number")
        ),
    ),
    parse_original=lambda files, _: (
        NumberOriginal(parse_column(files["numbers"], "numbers", "number")),
        [],
    ),
    parse_release=lambda files, *_: (
        parse_column(files["list"], "list", "number"),
        [],
    ),
    files_of=lambda values: {"list": format_column("number", values)},
    target_files=TargetFiles(
        write_canonically=lambda values: {"list": format_column("number", sorted(values))}
    ),
    count_individuals=len,
    answer_spec=AnswerSpec(
        FileSpec(
            SECRET_FILE,
            title="the members",
            format_description="CSV headed member, 0 or 1",
            header=fixed_header("member"),
            kind="list",
            samples=(("member", "0", "1", "…"),),
            excerpts=(("member", "0", "1", "…"),),
        ),
        read=read_answer,
        write=lambda answer: format_column("member", list(map(int, answer))),
        check=check_answer,
    ),
    questions={"member": MEMBER_QUESTION, "first": FIRST_MEMBER_QUESTION},
    attack_view=NumberTarget,
    measures={
        "left_out": Measure("left_out", 1, compute_missing_share, weighs=True, scale=0.5),
        "shift": Measure("shift", 1, compute_mean_shift, weighs=True, reads_secret=False, scale=compute_span),
        "rows": Measure("rows", 1, lambda release: float(release.target.rows), reads_secret=False),
    },
    attackers={
        "seen": Attacker("seen", 1, guess_released_numbers, question=("member", "first")),
        "everybody": Attacker(
            "everybody", 1, lambda target: (1.0,) * target.original.rows, question="member"
        ),
        "foremost": Attacker("foremost", 1, lambda _: 1, question="first"),
    },
    methods={"half": Method("half", keep_half), "noise": Method("noise", add_noise)},
    anonymize=anonymize,
    utility="largest",
    build_frames=lambda original: (pd.DataFrame({"number": original.values}),),
)
SHOWN_ANSWERS = 10
"""The number of members and others that a target of ``HINTED_TRACK`` shows."""
HINTED_TRACK = replace(
    SMALL_TRACK,
    target_files=TargetFiles(
        specs=(
            FileSpec("list", header=fixed_header("number")),
            FileSpec("hint", header=fixed_header("member")),
        ),
        write=lambda values, answer, *_: {
            "list": format_column("number", sorted(values)),
            "hint": format_column("member", list(map(int, answer[:SHOWN_ANSWERS]))),
        },
        parse=lambda files, original, _: NumberTarget(
            original, parse_column(files["list"], "list", "number")
        ),
        shown_answer=ShownAnswer(
            lambda answer, _: answer[:SHOWN_ANSWERS],
            lambda answer, *_: (*answer[:SHOWN_ANSWERS], answer[-1], *answer[SHOWN_ANSWERS:-1]),
        ),
    ),
)
PLUGIN = Plugin(api=0, tracks={"small": SMALL_TRACK})


def build_original(rows: int = 20) -> NumberOriginal:
    return NumberOriginal(tuple(float(value) for value in default_rng(3).permutation(5 * rows)[:rows]))


def build_cases(*, extra_toml: str = FIRST_QUESTION_TOML) -> "list[TrackCase]":
    """Return a release by each method, with another answer beside. Call ``install`` first."""
    from anoncup.competition.parser import parse_competition
    from anoncup.testing.parts import iter_method_cases

    return list(
        iter_method_cases(
            SMALL_TRACK, parse_competition(build_competition_toml(extra_toml=extra_toml)), build_original()
        )
    )


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the track to this process."""
    from anoncup.plugins import TRACKS

    monkeypatch.setitem(TRACKS, "small", SMALL_TRACK)

"""A track of the tests' own: whose number is in a list, and who is the first of them.

It knows no distances, no null releases and no order, lets nobody be deleted, is judged by numbers that are
no counts, asks up to two questions, and takes the largest loss for U. ``SMALL`` is the track, ``text`` a
competition of it; ``install`` makes it one of the tracks of this process. What needs to know all tracks is
imported late: they are being found when this is imported as a package.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import pytest
from numpy.random import Generator, default_rng

from anoncup.errors import InvalidInput, InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.tracks.files import SECRET, FileSpec, headed
from anoncup.tracks.model import About, Answers, Question, Track
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin

if TYPE_CHECKING:
    from anoncup.testing.parts import Case

Numbers = tuple[float, ...]

FILE = """
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
FIRST = "[questions.first]"
"""Both questions are asked."""


def text(slug: str = "small", *, more: str = FIRST) -> str:
    """Open from yesterday until tomorrow."""
    start, end = ((datetime.now(UTC) + timedelta(days=days)).isoformat() for days in (-1, 1))
    return FILE.format(slug=slug, more=more, start=start, end=end)


class Prepared(NamedTuple):
    rows: int
    values: Numbers


class Target(NamedTuple):
    original: Prepared
    rows: int
    values: Numbers


@dataclass(frozen=True)
class Release:
    """``answer``: of each of the original's numbers, whether it is in the list."""

    original: Prepared
    target: Target
    answer: tuple[bool, ...]

    @property
    def members(self) -> Numbers:
        return tuple(value for value, is_in in zip(self.original.values, self.answer, strict=True) if is_in)


def column(content: bytes, file: str, name: str, *, most: float = 1e6, rows: int | None = None) -> Numbers:
    """The numbers of a file of one column, each from 0 to ``most``; never repeated in what is refused."""
    lines = content.decode(errors="replace").splitlines()
    if lines[:1] != [name]:
        message = Message("the header line must be {header}", header=name)
        raise InvalidUpload([Problem(file, None, None, "header", message, 1)])
    found = [number(cell, most) for cell in lines[1:]]
    for row, value in enumerate(found, 1):
        if value is None:
            message = Message(
                "{column}, row {row}: {what}", column=name, row=row, what=Message("not a number")
            )
            raise InvalidUpload([Problem(file, row, name, "not_a_number", message, row + 1)])
    if len(found) != (rows or len(found)) or not found:
        message = Message("{found} rows; {needed} are needed", found=len(found), needed=rows or 1)
        raise InvalidUpload([Problem(file, len(found), None, "row_count", message)])
    return tuple(value for value in found if value is not None)


def number(cell: str, most: float) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= most else None


def written(name: str, values: Sequence[object]) -> bytes:
    return "\n".join([name, *map(str, values), ""]).encode()


def read_answer(content: bytes, about: About) -> tuple[bool, ...]:
    bits = column(content, SECRET, "member", most=1, rows=about.sizes["originals"])
    return tuple(map(bool, bits))


def check_answer(answer: tuple[bool, ...], sizes: Any) -> None:
    if len(answer) != sizes["originals"] or not any(answer):
        raise InvalidInput("somebody is a member, and everybody is told of")


def judge_member(guess: Numbers, answer: tuple[bool, ...], sizes: Any) -> Outcome:
    """1 less the mean difference; who knows nothing is half right."""
    right = [1 - abs(said - is_in) for said, is_in in zip(guess, answer, strict=True)]
    sure = sum(abs(said - 0.5) > 0.4 for said in guess) / len(guess)
    return Outcome(sum(right) / len(right), 0.5, details={"sure": sure})


def judge_first(guess: int, answer: tuple[bool, ...], sizes: Any) -> Outcome:
    """Whether it is the first member, counted from 1."""
    return Outcome(float(guess == answer.index(True) + 1), 1 / sizes["originals"])


MEMBER = Question(
    "member",
    FileSpec(
        "member",
        title="who is a member",
        said="CSV headed score, a line for each number",
        header=headed("score"),
        kind="scores",
        samples=(("score", "0.5", "1", "…"),),
    ),
    read=lambda content, about: column(content, "member", "score", most=1, rows=about.sizes["originals"]),
    write=lambda guess: written("score", guess),
    answered=lambda guess: sum(said != 0.5 for said in guess),
    judge=judge_member,
    perfect=lambda answer: tuple(map(float, answer)),
    blind=lambda about, rng: tuple(rng.integers(0, 2, about.sizes["originals"]).astype(float)),
)
FIRST_MEMBER = Question(
    "first",
    FileSpec(
        "first",
        title="the first member",
        said="CSV headed first, one line",
        header=headed("first"),
        kind="row",
        samples=(("first", "3"),),
    ),
    read=lambda content, about: int(
        column(content, "first", "first", most=about.sizes["originals"], rows=1)[0]
    ),
    write=lambda guess: written("first", [guess]),
    answered=bool,
    judge=judge_first,
    perfect=lambda answer: answer.index(True) + 1,
    optional=True,
    blind=lambda about, rng: int(rng.integers(about.sizes["originals"])) + 1,
)


def seen(target: Target) -> dict[str, Any]:
    """Whoever's number is released is a member."""
    found = tuple(float(value in target.values) for value in target.original.values)
    return {"member": found, "first": found.index(1.0) + 1 if 1.0 in found else 1}


def left_out(release: Release) -> float:
    """The share of members whose number is not released."""
    return sum(value not in release.target.values for value in release.members) / len(release.members)


def shift(release: Release) -> float:
    means = [sum(values) / len(values) for values in (release.original.values, release.target.values)]
    return abs(means[0] - means[1])


def span(original: Prepared) -> float:
    return max(original.values) - min(original.values)


def half(values: Numbers, *, rng: Generator) -> tuple[Numbers, tuple[bool, ...]]:
    """A random half is in the list, as it is."""
    chosen = set(rng.permutation(len(values))[: len(values) // 2].tolist())
    answer = tuple(place in chosen for place in range(len(values)))
    return tuple(value for value, is_in in zip(values, answer, strict=True) if is_in), answer


def noise(values: Numbers, *, rng: Generator) -> tuple[Numbers, tuple[bool, ...]]:
    members, answer = half(values, rng=rng)
    return tuple(abs(value + float(rng.integers(-2, 3))) for value in members), answer


SMALL = Track(
    name="small",
    title="whose number",
    individual="number",
    roles=lambda *_: {},
    original=(FileSpec("numbers", said="CSV headed number", header=headed("number"), individuals=True),),
    release=(FileSpec("list", title="the list", said="CSV headed number", header=headed("number")),),
    parse_original=lambda files, _: (column(files["numbers"], "numbers", "number"), []),
    parse_release=lambda files, *_: (column(files["list"], "list", "number"), []),
    files_of=lambda values: {"list": written("number", values)},
    canonical_files=lambda values: {"list": written("number", sorted(values))},
    individuals=len,
    answers=Answers(
        FileSpec(
            SECRET,
            title="the members",
            said="CSV headed member, 0 or 1",
            header=headed("member"),
            kind="list",
            samples=(("member", "0", "1", "…"),),
            excerpts=(("member", "0", "1", "…"),),
        ),
        read=read_answer,
        write=lambda answer: written("member", list(map(int, answer))),
        check=check_answer,
    ),
    questions={"member": MEMBER, "first": FIRST_MEMBER},
    prepare=lambda values, _: Prepared(len(values), values),
    target_of=lambda original, values: Target(original, len(values), values),
    release_of=lambda original, values, answer: Release(
        original, Target(original, len(values), values), answer
    ),
    measures={
        "left_out": Measure("left_out", 1, left_out, weighs=True, scale=0.5),
        "shift": Measure("shift", 1, shift, weighs=True, reads_secret=False, scale=span),
        "rows": Measure("rows", 1, lambda release: float(release.target.rows), reads_secret=False),
    },
    attackers={
        "seen": Attacker("seen", 1, seen, question=("member", "first")),
        "everybody": Attacker("everybody", 1, lambda one: (1.0,) * one.original.rows, question="member"),
        "foremost": Attacker("foremost", 1, lambda _: 1, question="first"),
    },
    methods={"half": Method("half", half), "noise": Method("noise", noise)},
    anonymize=lambda method, values, _, rng, given: method.apply(values, rng=rng, **given),
    utility="largest",
    frames=lambda values: (pd.DataFrame({"number": values}),),
)
PLUGIN = Plugin(api=0, tracks={"small": SMALL})


def original(rows: int = 20) -> Numbers:
    return tuple(float(value) for value in default_rng(3).permutation(5 * rows)[:rows])


def original_file(rows: int = 20) -> bytes:
    return written("number", original(rows))


def cases(*, more: str = FIRST) -> "list[Case]":
    """A release by each method, with another answer beside; ``install`` comes first."""
    from anoncup.competition.parser import parse_competition
    from anoncup.testing.parts import methods_tried

    return list(methods_tried(SMALL, parse_competition(text(more=more)), original()))


def files(seed: int = 1, rows: int = 20) -> dict[str, bytes]:
    """A release that a team could send, with its secret."""
    release, answer = half(original(rows), rng=default_rng(seed))
    return SMALL.files_of(release) | {SECRET: SMALL.answers.write(answer)}


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process; ``tests.support.track_package`` brings it to others too."""
    from anoncup.plugins import TRACKS

    monkeypatch.setitem(TRACKS, "small", SMALL)


def scale_of_shift(rows: int = 20) -> float:
    return span(Prepared(rows, original(rows)))

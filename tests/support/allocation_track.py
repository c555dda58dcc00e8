"""Variants of the microdata track for which the service allocates files.

``TEAM_ALLOCATION`` gives each team a permutation of the rows and the labels that the organizers uploaded.
``ASSIGNED_ALLOCATION`` gives each team the permutation that the organizers' file assigns to it.
``SHARED_ALLOCATION`` gives hints to everybody, which the organizers may upload themselves. Jobs run in
this process, since scoring children do not know these tracks.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.plugins import BUILT_IN, TRACKS
from anoncup.rules.model import Rules
from anoncup.runner import answers
from anoncup.runner.client import ProgressStep
from anoncup.runner.jobs import Job, ResultT
from anoncup.tracks.capabilities import Allocation, AllocationContext
from anoncup.tracks.files import FileSpec, fixed_header, fixed_lines
from anoncup.tracks.linkage.permutation import write_secret
from anoncup.tracks.model import AnyTrack
from app.config import Settings
from workers import jobs

MICRODATA = BUILT_IN["microdata"]


def generate_numbers(generator: Generator, count: int) -> "np.ndarray[Any, np.dtype[np.uint64]]":
    return np.asarray(generator.bit_generator.random_raw(count))


def allocate_order(original: Any, context: AllocationContext) -> dict[str, bytes]:
    """Return a permutation as the team's answer, and the label of each of its rows."""
    order = np.argsort(generate_numbers(context.generator("secret"), original.rows), kind="stable")
    labels = context.organizer_files["hidden"].decode().splitlines()[1:]
    return {
        "secret": write_secret(order),
        "labels": "".join(f"{labels[row]}\n" for row in order).encode(),
        "unasked": b"what nobody asked for",
    }


def make_rotation_allocator(count: int) -> Callable[..., dict[str, bytes]]:
    """Return an allocator with only ``count`` possible answers, so that teams soon get equal ones."""

    def allocate_rotation(original: Any, context: AllocationContext) -> dict[str, bytes]:
        shift = int(generate_numbers(context.generator("secret"), 1)[0] % count)
        return {"secret": write_secret(np.roll(np.arange(original.rows), shift))}

    return allocate_rotation


def assign_rotation(original: Any, context: AllocationContext) -> dict[str, bytes]:
    """Return the rotation that the organizers assign to a team; nothing if they do not name the team."""
    lines = context.organizer_files["hidden"].decode().splitlines()[1:]
    shifts = dict(line.split(",") for line in lines)
    if context.team not in shifts:
        return {}
    return {"secret": write_secret(np.roll(np.arange(original.rows), int(shifts[context.team])))}


def allocate_hints(original: Any, context: AllocationContext) -> dict[str, bytes]:
    number = generate_numbers(context.generator("hints"), 1)[0]
    return {"hints": f"rows,number\n{original.rows},{number}\n".encode()}


def check_labels(name: str, content: bytes, original: Any, _: Rules) -> None:
    """Raise ``InvalidUpload`` unless there is one label per row."""
    if content.count(b"\n") != original.rows + 1:
        message = Message("{rows} lines are needed", rows=original.rows + 1)
        raise InvalidUpload([FileProblem(name, None, None, "rows", message)])


def check_register(name: str, content: bytes, *_: object) -> None:
    if any(line.count(b",") != 1 for line in content.splitlines()):
        raise InvalidUpload([FileProblem(name, None, None, "cells", Message("a line has two cells"))])


TEAM_ALLOCATION = Allocation(
    files=(FileSpec("secret"), FileSpec("labels")),
    per_team=True,
    make_files=allocate_order,
    organizer_files=(
        FileSpec("hidden", header=fixed_header("label"), example_lines=fixed_lines("label", "any text")),
    ),
    check_organizer_file=check_labels,
)
ASSIGNED_ALLOCATION = Allocation(
    files=(FileSpec("secret"),),
    per_team=True,
    make_files=assign_rotation,
    organizer_files=(FileSpec("hidden", header=fixed_header("team", "shift")),),
    check_organizer_file=check_register,
    draws_lots=False,
)
SHARED_ALLOCATION = Allocation(files=(FileSpec("hints"),), per_team=False, make_files=allocate_hints)


def build_track(allocation: Allocation[Any]) -> AnyTrack:
    if allocation.per_team:
        return replace(MICRODATA, allocation=allocation)
    optional = tuple(replace(file, required=False) for file in allocation.files)
    return replace(MICRODATA, allocation=allocation, original_files=(*MICRODATA.original_files, *optional))


def install_allocation(patch: pytest.MonkeyPatch, allocation: Allocation[Any]) -> None:
    """Give the microdata track this allocation and run jobs in this process."""
    patch.setitem(TRACKS, "microdata", build_track(allocation))
    patch.setattr(jobs, "run", evaluate_in_process)


def evaluate_in_process(
    job: Job[ResultT], _: Settings, *, on_step: Callable[[ProgressStep], None] = lambda _: None
) -> ResultT:
    """Run a job with the JSON round trips of a child."""
    return answers.read_answer(job, answers.answer(b"".join(answers.write_request(job))))


def build_label_file(rows: int) -> bytes:
    return ("label\n" + "".join(f"label {row}\n" for row in range(rows))).encode()

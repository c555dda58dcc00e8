"""Tracks of which the service draws something; their child's work is done here, where they are known.

The usual track, but that a team is told which row of the original each of its own comes from, with labels
that the organizers hold; or that everybody is given hints, which the organizers may upload.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from anoncup.errors import InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.plugins import BUILT_IN, TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.files import FileSpec
from anoncup.tracks.linkage.permutation import secret_csv
from anoncup.tracks.model import Draw, Track
from app.config import Settings
from app.storage import store
from workers import child_manager, scorer
from workers.child_manager import Step, Verdict
from workers.jobs import Work
from workers.original_cache import originals

Drawer = Callable[[str], Generator]
MICRODATA = BUILT_IN["microdata"]


def numbers_of(generator: Generator, count: int) -> "np.ndarray[Any, np.dtype[np.uint64]]":
    return np.asarray(generator.bit_generator.random_raw(count))


def own_order(original: Any, truth: Mapping[str, bytes], _: Rules, generator: Drawer) -> dict[str, bytes]:
    """A permutation as the team's answer, and the label of each of its rows."""
    order = np.argsort(numbers_of(generator("secret"), len(original)), kind="stable")
    labels = truth["hidden"].decode().splitlines()[1:]
    return {
        "secret": secret_csv(order),
        "labels": "".join(f"{labels[row]}\n" for row in order).encode(),
        "unasked": b"what nobody asked for",
    }


def rotations(times: int) -> Callable[..., dict[str, bytes]]:
    """One of so few answers that teams soon draw the same."""

    def drawn(original: Any, _: Mapping[str, bytes], __: Rules, generator: Drawer) -> dict[str, bytes]:
        by = int(numbers_of(generator("secret"), 1)[0] % times)
        return {"secret": secret_csv(np.roll(np.arange(len(original)), by))}

    return drawn


def hints(original: Any, _: Mapping[str, bytes], __: Rules, generator: Drawer) -> dict[str, bytes]:
    drawn = numbers_of(generator("hints"), 1)[0]
    return {"hints": f"rows,number\n{len(original)},{drawn}\n".encode()}


def check_labels(name: str, content: bytes, original: Any, _: Rules) -> None:
    """A label for each row."""
    if content.count(b"\n") != len(original) + 1:
        message = Message("{rows} lines are needed", rows=len(original) + 1)
        raise InvalidUpload([Problem(name, None, None, "rows", message)])


OWN = Draw(
    files=(FileSpec("secret"), FileSpec("labels")),
    each_team=True,
    make=own_order,
    truth=(FileSpec("hidden"),),
    check_truth=check_labels,
)
HINTS = Draw(files=(FileSpec("hints"),), each_team=False, make=hints)


def drawing_track(draw: Draw) -> Track:
    if draw.each_team:
        return replace(MICRODATA, draw=draw)
    optional = tuple(replace(file, required=False) for file in draw.files)
    return replace(MICRODATA, draw=draw, original=(*MICRODATA.original, *optional))


def draws(patch: pytest.MonkeyPatch, draw: Draw) -> None:
    """From now on the usual track draws, and what a child would do is done here."""
    patch.setitem(TRACKS, "microdata", drawing_track(draw))
    patch.setattr(child_manager, "evaluate", evaluated_here)


def evaluated_here(
    work: Work, _: Settings, *, on_step: Callable[[Step], None] = lambda _: None, warm: bool = True
) -> Verdict:
    """What passes the pipes passes as JSON here too, and nothing is fetched that the work does not name."""
    request = json.loads(json.dumps({"kind": type(work).__name__, **asdict(work)}))

    def fetch(digest: str) -> bytes:
        assert digest in work.fetched
        return store().get(digest)

    desk = scorer.Desk(fetch, originals(fetch))
    found = json.loads(json.dumps(scorer.WORK[request["kind"]](request, desk, lambda *_: None)))
    assert work.admits(found)
    return Verdict(found, scorer.SCORER)


def labels(rows: int) -> bytes:
    return ("label\n" + "".join(f"label {row}\n" for row in range(rows))).encode()

"""What the boards show of verdicts, read once per process.

A verdict is a large JSON and never changes once its evaluation has ended; whether it counts may, and is asked
of the database every time. A few thousand are kept, so that a board that was read before costs no parsing.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from sys import intern
from threading import Lock
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.competition.scoring_versions import Versions
from app.db.models import Evaluation

MOST_KEPT = 8_192
"""At about 4 KB each."""

Ending = tuple[UUID, datetime | None]
"""An evaluation and when it ended: an ending that was rolled back is not the one that comes later."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a verdict. ``attackers``: what E takes of each, and ``risks``: by question of those that
    answer several; ``correct``: how many records each identified, maybe expected, if it counts them.

    ``violations``: their codes, of a rejected one. ``rounding``: by measure, below which a value is none.
    ``versions``: of each, as in ``[scored_by]``.
    """

    utility: float
    security: float
    overall: float
    violations: tuple[str, ...]
    measures: Mapping[str, float]
    rounding: Mapping[str, float]
    attackers: Mapping[str, float]
    risks: Mapping[str, Mapping[str, float]]
    correct: Mapping[str, float]
    versions: Versions


class Kept:
    """Numbers by evaluation, those asked for last; any number of threads may use it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.found: OrderedDict[Ending, Numbers] = OrderedDict()
        self.lock = Lock()

    def get(self, wanted: Iterable[Ending]) -> dict[Ending, Numbers]:
        with self.lock:
            known = {one: self.found[one] for one in wanted if one in self.found}
            for one in known:
                self.found.move_to_end(one)
        return known

    def put(self, new: Mapping[Ending, Numbers]) -> None:
        with self.lock:
            self.found.update(new)
            while len(self.found) > self.most:
                self.found.popitem(last=False)

    def clear(self) -> None:
        with self.lock:
            self.found.clear()


kept = Kept(MOST_KEPT)


def numbers_of(session: Session, wanted: Iterable[Ending]) -> dict[UUID, Numbers]:
    """The numbers of evaluations that have ended with a verdict, by evaluation."""
    wanted = list(wanted)
    known = kept.get(wanted)
    missing = [one for one in wanted if one not in known]
    if missing:
        new = read(session, missing)
        kept.put(new)
        known |= new
    return {evaluation_id: numbers for (evaluation_id, _), numbers in known.items()}


def read(session: Session, endings: Iterable[Ending]) -> dict[Ending, Numbers]:
    by_id = {ending[0]: ending for ending in endings}
    found = session.execute(select(Evaluation.id, Evaluation.verdict).where(Evaluation.id.in_(by_id)))
    return {
        by_id[identifier]: numbers(schemas.read(verdict))
        for identifier, verdict in found
        if verdict is not None
    }


def numbers(verdict: schemas.Verdict) -> Numbers:
    measures = {intern(name): one for name, one in verdict.measures.items()}
    attackers = {intern(name): one for name, one in verdict.attackers.items()}
    return Numbers(
        utility=verdict.utility,
        security=verdict.security,
        overall=verdict.overall,
        violations=tuple(intern(each.code) for each in verdict.violations),
        measures={name: one.value for name, one in measures.items()},
        rounding={name: one.rounding for name, one in measures.items()},
        attackers={name: one.taken for name, one in attackers.items()},
        risks={name: one.risks for name, one in attackers.items() if one.risks},
        correct={name: one.correct for name, one in attackers.items() if one.correct is not None},
        versions=shared(tuple(versions_in(verdict))),
    )


def versions_in(verdict: schemas.Verdict) -> Iterator[tuple[str, str]]:
    yield from ((f"measures.{name}", str(one.version)) for name, one in verdict.measures.items())
    yield from ((f"attackers.{name}", str(one.version)) for name, one in verdict.attackers.items())


@lru_cache(maxsize=256)
def shared(versions: tuple[tuple[str, str], ...]) -> Versions:
    """Most verdicts of a contest have the same."""
    return dict(versions)

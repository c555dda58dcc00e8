"""The numbers of verdicts that boards show, cached per process.

A verdict is a large JSON document that never changes once its evaluation has ended. Whether it counts can
change, so that is queried every time. A few thousand verdicts are cached to avoid parsing them again for
every board.
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

_MAX_CACHED_VERDICTS = 8_192
"""Each takes about 4 KB."""

EvaluationKey = tuple[UUID, datetime | None]
"""Evaluation and time of its end. The time distinguishes a result that was rolled back from a later one."""


@dataclass(frozen=True, slots=True)
class VerdictNumbers:
    """Numbers of a verdict.

    ``attackers`` maps each attacker to the risk that enters E; ``risks`` maps attackers that answer several
    questions to their risk by question; ``correct`` maps attackers that count records to the (possibly
    expected) number they re-identified. ``violations`` holds the codes of a rejected submission. ``rounding``
    maps each measure to the largest value that is rounding noise. ``versions`` maps each part to
    its version, as in ``[scored_by]``.
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


class NumbersCache:
    """Thread-safe LRU cache of numbers by evaluation."""

    def __init__(self, max_entries: int) -> None:
        self.max_entries = max_entries
        self.entries: OrderedDict[EvaluationKey, VerdictNumbers] = OrderedDict()
        self.lock = Lock()

    def get(self, keys: Iterable[EvaluationKey]) -> dict[EvaluationKey, VerdictNumbers]:
        with self.lock:
            cached = {key: self.entries[key] for key in keys if key in self.entries}
            for key in cached:
                self.entries.move_to_end(key)
        return cached

    def store(self, new_entries: Mapping[EvaluationKey, VerdictNumbers]) -> None:
        with self.lock:
            self.entries.update(new_entries)
            while len(self.entries) > self.max_entries:
                self.entries.popitem(last=False)

    def clear(self) -> None:
        with self.lock:
            self.entries.clear()


numbers_cache = NumbersCache(_MAX_CACHED_VERDICTS)


def load_numbers(session: Session, keys: Iterable[EvaluationKey]) -> dict[UUID, VerdictNumbers]:
    """Return the numbers of each evaluation that ended with a verdict, by its id."""
    keys = list(keys)
    numbers_by_key = numbers_cache.get(keys)
    missing = [key for key in keys if key not in numbers_by_key]
    if missing:
        new_numbers = _read_numbers(session, missing)
        numbers_cache.store(new_numbers)
        numbers_by_key |= new_numbers
    return {evaluation_id: numbers for (evaluation_id, _), numbers in numbers_by_key.items()}


def _read_numbers(session: Session, keys: Iterable[EvaluationKey]) -> dict[EvaluationKey, VerdictNumbers]:
    key_by_id = {key[0]: key for key in keys}
    verdict_rows = session.execute(
        select(Evaluation.id, Evaluation.verdict).where(Evaluation.id.in_(key_by_id))
    )
    return {
        key_by_id[evaluation_id]: extract_numbers(schemas.parse_verdict(verdict))
        for evaluation_id, verdict in verdict_rows
        if verdict is not None
    }


def extract_numbers(verdict: schemas.Verdict) -> VerdictNumbers:
    measures = {intern(name): result for name, result in verdict.measures.items()}
    attackers = {intern(name): result for name, result in verdict.attackers.items()}
    return VerdictNumbers(
        utility=verdict.utility,
        security=verdict.security,
        overall=verdict.overall,
        violations=tuple(intern(violation.code) for violation in verdict.violations),
        measures={name: result.value for name, result in measures.items()},
        rounding={name: result.rounding for name, result in measures.items()},
        attackers={name: result.effective_risk for name, result in attackers.items()},
        risks={name: result.risks for name, result in attackers.items() if result.risks},
        correct={name: result.correct for name, result in attackers.items() if result.correct is not None},
        versions=_intern_versions(tuple(_iter_versions(verdict))),
    )


def _iter_versions(verdict: schemas.Verdict) -> Iterator[tuple[str, str]]:
    yield from ((f"measures.{name}", str(result.version)) for name, result in verdict.measures.items())
    yield from ((f"attackers.{name}", str(result.version)) for name, result in verdict.attackers.items())


@lru_cache(maxsize=256)
def _intern_versions(versions: tuple[tuple[str, str], ...]) -> Versions:
    """Return one shared mapping for equal versions, because most verdicts of a contest have the same."""
    return dict(versions)

"""k-anonymity beside pandas and pycanon, the cross-tables beside pandas, parsing and scoring beside csv."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.scales import scales
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.microdata.anonymity import k_mean, k_min
from anoncup.tracks.microdata.release import Release, Target
from anoncup.tracks.microdata.utility import cross_count, cross_mean
from anoncup.tracks.model import Track
from benchmarks.peers.duel import Duel, Goal
from benchmarks.peers.linkage import all_new

CROSSED = 6
TASKS = ("id_rand", "id_sa", "sort", "sa_rank", "sa_nearest", "euc1", "euc2")
"""The attackers of the smaller task: EUC1, EUC2 and E1 to E4."""
UNDEMANDING = frozenset({"l_diversity", "t_closeness"})
"""Measures that are no part of it: U1 to U6, S1 and S2 are."""


def our_k(target: Target) -> FloatArray:
    release = Release(all_new(target), np.arange(0))
    return np.array([k_min(release), k_mean(release)])


def pandas_k(target: Target) -> FloatArray:
    columns = list(target.original.columns.quasi_identifiers)
    sizes = pd.DataFrame(target.codes, columns=columns).groupby(columns, sort=False).size()
    return np.array([sizes.min(), sizes.mean()]) if len(sizes) else np.array([0.0, np.nan])


def pycanon_k(target: Target) -> FloatArray:
    k_anonymity = import_module("pycanon.anonymity").k_anonymity  # an extra package, here or not

    columns = list(target.original.columns.quasi_identifiers)
    table = pd.DataFrame(target.codes, columns=columns)
    return np.array([k_anonymity(table, columns)])


def our_k_min(target: Target) -> FloatArray:
    return np.array([k_min(Release(all_new(target), np.arange(0)))])


def our_cross(target: Target) -> FloatArray:
    """U2 of the first sensitive column and U3, over the template's six columns."""
    release = Release(all_new(target), np.arange(0))
    columns = target.original.columns.quasi_identifiers[:CROSSED]
    return np.array([cross_mean(release, columns=columns), cross_count(release, columns=columns)])


def pandas_cross(target: Target) -> FloatArray:
    """Cross-tables of counts and means before and after; what one of them lacks is 0."""
    counts, means = zip(
        _crosstab(target.original.codes, target.original.values[:, 0]),
        _crosstab(target.codes, target.values[:, 0]),
        strict=True,
    )
    cells = float(np.prod([float(width) for width in target.widths[:CROSSED]]))
    gaps = [
        float(before.sub(after, fill_value=0).abs().to_numpy().sum()) for before, after in (means, counts)
    ]
    return np.array(gaps) / cells


def _crosstab(codes: IntArray, values: FloatArray) -> tuple[pd.DataFrame, pd.DataFrame]:
    columns = [pd.Series(column, name=f"q{place}") for place, column in enumerate(codes[:, :CROSSED].T)]
    counts = pd.crosstab(columns[:-1], columns[-1])
    means = pd.crosstab(columns[:-1], columns[-1], values=pd.Series(values), aggfunc="mean")
    return counts, means.fillna(0.0)


def k_duels() -> list[Duel]:
    duels = [Duel("k-anonymity, of coded columns", "pandas groupby", our_k, pandas_k, Goal(2.5))]
    if find_spec("pycanon") is None:
        print("pycanon is not installed: left out")
        return duels
    return [*duels, Duel("k-anonymity, of coded columns", "pycanon", our_k_min, pycanon_k, Goal(75))]


def cross_duel(goal: float) -> Duel:
    return Duel("U2 + U3, of coded columns", "pandas crosstab", our_cross, pandas_cross, Goal(goal))


@dataclass(frozen=True, slots=True)
class Upload:
    """A release as files, and the original as a service keeps it: prepared, its scales in the rules."""

    rules: Rules
    track: Track
    tables: Any
    original: Any
    files: Mapping[str, bytes]
    source: IntArray


def uploaded(rules: Rules, tables: Any, files: Mapping[str, bytes], source: IntArray) -> Upload:
    track = TRACKS[rules.track]
    original = track.prepare(tables, rules)
    upload = Upload(
        replace(rules, scales=scales(track, original, rules.measures)), track, tables, original, files, source
    )
    score_all(upload)  # what is derived from the original is kept from the first submission on
    return upload


def score_some(upload: Upload) -> Any:
    """Parse, and U1-U6, S1, S2, E1-E4, EUC1 and EUC2."""
    parsed, _ = upload.track.parse_release(upload.files, upload.tables, upload.rules)
    release = upload.track.release_of(upload.original, parsed, upload.source)
    for name, measure in upload.track.measures.items():
        if name not in UNDEMANDING:
            measure.compute(release, **upload.rules.measure(name).parameters)
    for name in TASKS:
        upload.track.attackers[name].attack(release.target, **upload.rules.attacker(name).parameters)
    return parsed


def score_all(upload: Upload) -> Any:
    """Parse, and everything in the template."""
    parsed, _ = upload.track.parse_release(upload.files, upload.tables, upload.rules)
    evaluate(upload.rules, upload.original, parsed, upload.source)
    return parsed


def read_csv(upload: Upload) -> list[list[list[str]]]:
    """The rows of each file, the header first."""
    return [list(csv.reader(io.StringIO(content.decode()))) for content in upload.files.values()]


def differing_cells(parsed: Any, read: list[list[list[str]]]) -> int:
    """Cells that were parsed to something else than their text says."""
    frames = [parsed] if isinstance(parsed, pd.DataFrame) else [parsed.customers, parsed.transactions]
    return sum(map(_differing, frames, read))


def _differing(frame: pd.DataFrame, rows: list[list[str]]) -> int:
    texts = pd.DataFrame(rows[1:], columns=rows[0])
    if texts.shape != frame.shape or list(texts.columns) != list(frame.columns):
        return frame.size
    exact = texts.astype({name: kind for name, kind in frame.dtypes.items() if kind.kind in "if"})
    return int((exact.to_numpy(dtype=object) != frame.to_numpy(dtype=object)).sum())


def csv_duels(*, some: bool = True) -> list[Duel]:
    """``some``: the smaller task, too."""
    tasks = [("parse + EUC1, EUC2, E1-E4, U, S", score_some, 3.0)] if some else []
    return [
        Duel(task, "one csv read", score, read_csv, Goal(most, at_most=True), differing=differing_cells)
        for task, score, most in [*tasks, ("parse + whole evaluation", score_all, 6.0)]
    ]

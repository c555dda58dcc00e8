"""Compare k-anonymity with pandas and pycanon, cross-tables with pandas, and parsing and scoring with csv."""

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
from anoncup.tracks.microdata.release import MicrodataTarget
from anoncup.tracks.microdata.utility import cross_count, cross_mean
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows, ScoredRelease
from benchmarks.peers.duel import Duel, SpeedGoal
from benchmarks.peers.linkage import copy_without_caches

_CROSS_TABLE_COLUMNS = 6
_SMALL_TASK_ATTACKERS = ("id_rand", "id_sa", "sort", "sa_rank", "sa_nearest", "euc1", "euc2")
"""Attackers of the smaller task: EUC1, EUC2 and E1 to E4."""
_EXCLUDED_MEASURES = frozenset({"l_diversity", "t_closeness"})
"""Measures that the smaller task leaves out. It has U1 to U6, S1 and S2."""


def _compute_k(target: MicrodataTarget) -> FloatArray:
    release = ScoredRelease(target.anonymized, copy_without_caches(target), np.arange(0))
    return np.array([k_min(release), k_mean(release)])


def _compute_k_with_pandas(target: MicrodataTarget) -> FloatArray:
    columns = list(target.original.columns.quasi_identifiers)
    sizes = pd.DataFrame(target.codes, columns=columns).groupby(columns, sort=False).size()
    return np.array([sizes.min(), sizes.mean()]) if len(sizes) else np.array([0.0, np.nan])


def _compute_k_with_pycanon(target: MicrodataTarget) -> FloatArray:
    k_anonymity = import_module("pycanon.anonymity").k_anonymity  # an optional package

    columns = list(target.original.columns.quasi_identifiers)
    table = pd.DataFrame(target.codes, columns=columns)
    return np.array([k_anonymity(table, columns)])


def _compute_k_min(target: MicrodataTarget) -> FloatArray:
    return np.array([k_min(ScoredRelease(target.anonymized, copy_without_caches(target), np.arange(0)))])


def _compute_cross_tables(target: MicrodataTarget) -> FloatArray:
    """Compute U2 of the first sensitive column, and U3, over the template's six columns."""
    release = ScoredRelease(target.anonymized, copy_without_caches(target), np.arange(0))
    columns = target.original.columns.quasi_identifiers[:_CROSS_TABLE_COLUMNS]
    return np.array([cross_mean(release, columns=columns), cross_count(release, columns=columns)])


def _compute_cross_tables_with_pandas(target: MicrodataTarget) -> FloatArray:
    """Compare cross-tables of counts and means of both tables; missing cells count as 0."""
    counts, means = zip(
        _crosstab(target.original.codes, target.original.values[:, 0]),
        _crosstab(target.codes, target.values[:, 0]),
        strict=True,
    )
    cells = float(np.prod([float(width) for width in target.widths[:_CROSS_TABLE_COLUMNS]]))
    gaps = [
        float(original.sub(anonymized, fill_value=0).abs().to_numpy().sum())
        for original, anonymized in (means, counts)
    ]
    return np.array(gaps) / cells


def _crosstab(codes: IntArray, values: FloatArray) -> tuple[pd.DataFrame, pd.DataFrame]:
    columns = [
        pd.Series(column, name=f"q{position}")
        for position, column in enumerate(codes[:, :_CROSS_TABLE_COLUMNS].T)
    ]
    counts = pd.crosstab(columns[:-1], columns[-1])
    means = pd.crosstab(columns[:-1], columns[-1], values=pd.Series(values), aggfunc="mean")
    return counts, means.fillna(0.0)


def build_k_duels() -> list[Duel]:
    duels = [
        Duel(
            "k-anonymity, of coded columns",
            "pandas groupby",
            _compute_k,
            _compute_k_with_pandas,
            SpeedGoal(2.5),
        )
    ]
    if find_spec("pycanon") is None:
        print("pycanon is not installed: left out")
        return duels
    return [
        *duels,
        Duel(
            "k-anonymity, of coded columns", "pycanon", _compute_k_min, _compute_k_with_pycanon, SpeedGoal(75)
        ),
    ]


def build_cross_duel(goal: float) -> Duel:
    return Duel(
        "U2 + U3, of coded columns",
        "pandas crosstab",
        _compute_cross_tables,
        _compute_cross_tables_with_pandas,
        SpeedGoal(goal),
    )


@dataclass(frozen=True, slots=True)
class PreparedUpload:
    """A release as files, and the original as the service caches it: prepared, with scales in the rules."""

    rules: Rules
    track: AnyTrack
    original: Any
    files: Mapping[str, bytes]
    source: IntArray


def prepare_upload(
    rules: Rules, original: HasRows, files: Mapping[str, bytes], source: IntArray
) -> PreparedUpload:
    track = TRACKS[rules.track]
    scaled_rules = replace(rules, scales=scales(track, original, rules.measures))
    upload = PreparedUpload(scaled_rules, track, original, files, source)
    score_all(upload)  # fills the caches of the original, as the first submission does
    return upload


def _score_small_task(upload: PreparedUpload) -> Any:
    """Parse the release and compute U1-U6, S1, S2, E1-E4, EUC1 and EUC2."""
    parsed, _ = upload.track.parse_release(upload.files, upload.original, upload.rules, {})
    context = upload.track.build_context(upload.rules, upload.original, parsed)
    release = upload.track.add_answer(upload.source, context)
    for name, measure in upload.track.measures.items():
        if name not in _EXCLUDED_MEASURES:
            measure.compute(release, **upload.rules.measure_settings(name).parameters)
    for name in _SMALL_TASK_ATTACKERS:
        upload.track.attackers[name].attack(release.target, **upload.rules.attacker_settings(name).parameters)
    return parsed


def score_all(upload: PreparedUpload) -> Any:
    """Parse the release and compute everything in the template."""
    parsed, _ = upload.track.parse_release(upload.files, upload.original, upload.rules, {})
    evaluate(upload.rules, upload.original, parsed, upload.source)
    return parsed


def _read_csv(upload: PreparedUpload) -> list[list[list[str]]]:
    """Return the rows of each file, starting with the header."""
    return [list(csv.reader(io.StringIO(content.decode()))) for content in upload.files.values()]


def _count_differing_cells(parsed: Any, file_rows: list[list[list[str]]]) -> int:
    """Return how many cells have another value than their text."""
    frames = [parsed] if isinstance(parsed, pd.DataFrame) else [parsed.customers, parsed.transactions]
    return sum(map(_count_differing, frames, file_rows))


def _count_differing(frame: pd.DataFrame, rows: list[list[str]]) -> int:
    texts = pd.DataFrame(rows[1:], columns=rows[0])
    if texts.shape != frame.shape or list(texts.columns) != list(frame.columns):
        return frame.size
    exact = texts.astype({name: kind for name, kind in frame.dtypes.items() if kind.kind in "if"})
    return int((exact.to_numpy(dtype=object) != frame.to_numpy(dtype=object)).sum())


def build_csv_duels(*, include_small_task: bool = True, max_factor: float = 6.0) -> list[Duel]:
    """Return the duels with a CSV reader. ``include_small_task`` adds the smaller task."""
    tasks = [("parse + EUC1, EUC2, E1-E4, U, S", _score_small_task, 3.0)] if include_small_task else []
    return [
        Duel(
            task,
            "one csv read",
            score,
            _read_csv,
            SpeedGoal(goal, at_most=True),
            count_differing=_count_differing_cells,
        )
        for task, score, goal in [*tasks, ("parse + whole evaluation", score_all, max_factor)]
    ]

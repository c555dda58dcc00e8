"""Score, attack, anonymize and compare tables in memory or files, and advise on their threshold.

Results equal those of the commands and of a service: tables are written as CSV and parsed in the same way.
So that cells stay as they are in a file, read it with
``pandas.read_csv(path, dtype=str, keep_default_na=False)``. Otherwise pandas makes missing values of the text
``NA`` and of empty cells; they are refused in columns of text. A date is written as ``2026-05-09``, with its
time unless that is midnight.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from html import escape
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidInput
from anoncup.evaluation.attacks import make_guesses, rate_attack, write_guesses
from anoncup.evaluation.evaluate import Verdict, evaluate
from anoncup.evaluation.sample_contest import SampleContest
from anoncup.evaluation.scales import require_scales
from anoncup.evaluation.threshold_report import AdvisorReport, make_report
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.excessive.question import AdviceQuestion
from anoncup.excessive.threshold_advisor import ThresholdAdvice
from anoncup.formulas.ranks import sort_for_board
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.parameters import describe_parameters
from anoncup.tables.csv_text import write_csv
from anoncup.tables.files import Remark
from anoncup.tracks.model import AnyTrack, TeamData
from anoncup.tracks.uploads import ParsedUpload, parse_upload

PartT = TypeVar("PartT")
Table: TypeAlias = pd.DataFrame | Path | str
Tables: TypeAlias = Table | Mapping[str, Table]
"""A DataFrame or the path of a CSV file; where a track has several, all of them in a dict by their names.

A name is that of the file without ``.csv``, such as ``customers``; ``TRACKS`` lists the files.
"""
Secret: TypeAlias = Table | ArrayLike
"""The row of the original for each released row: as a table or file from 1, as an array or list from 0.

A DataFrame or the path of a CSV file has the format of secret.csv, in which rows are counted from 1. On
tracks whose secret is of another kind, it must be one of these.
"""
Competition: TypeAlias = Rules | Path | str
"""The text of a competition file, its path, or the ``Rules`` that ``parse_competition`` returns."""


@dataclass(frozen=True, slots=True)
class _Contest:
    rules: Rules
    track: AnyTrack
    original: Any
    remarks: tuple[Remark, ...]


_FLOAT_FORMAT = "{:.6f}"
"""Otherwise pandas prints all numbers in scientific notation if one is a rounding error like 1e-17."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class ResultTable:
    """A table that prints below its heading and warnings, in terminals and in notebooks.

    - ``table``: a DataFrame; of ``attack``, a row for each attacker with ``rate`` and ``baseline`` in [0, 1],
      and ``correct`` of ``trials`` rows; of ``compare``, a row for each release with U, E and ``overall`` in
      [0, 1] and ``accepted``, best first.
    - ``heading``: the sentence above the table, if there is one.
    - ``warnings``: remarks on the files, tables and rules, such as cells that are spelled differently from
      the original's. Each has a ``code`` and a ``message``.
    """

    table: pd.DataFrame
    heading: str = ""
    warnings: tuple[Remark, ...] = ()

    def __repr__(self) -> str:
        return "\n".join([*self._list_lines(), self.table.to_string(float_format=_FLOAT_FORMAT.format)])

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self._list_lines()) + self.table.to_html(
            float_format=_FLOAT_FORMAT.format
        )

    def _list_lines(self) -> list[str]:
        warnings = dict.fromkeys(f"warning: {remark.message}" for remark in self.warnings)
        return [*filter(None, [self.heading]), *warnings]


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Score(ResultTable):
    """The complete result of a release. U, E and ``overall`` are losses in [0, 1]; 0 is best.

    - ``table``: the value of each measure, in its own unit (``docs/measures.md``), and the rate of each
      attacker in [0, 1].
    - ``verdict``: all numbers behind it, a ``Verdict``.
    """

    verdict: Verdict

    @property
    def utility(self) -> float:
        """The utility loss U."""
        return self.verdict.utility

    @property
    def security(self) -> float:
        """The security risk E."""
        return self.verdict.security

    @property
    def overall(self) -> float:
        return self.verdict.overall

    @property
    def is_accepted(self) -> bool:
        """Whether the rules of the competition accept the release."""
        return not self.verdict.violations


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class AdvisedThreshold(ResultTable):
    """Advice on a threshold, and a contest of the sample methods, cheats and the unchanged original.

    - ``table``: the releases of the contest in the order of the ranking rule, with U, E and ``overall`` in
      [0, 1] and the mean distance, in the unit of the threshold.
    - ``advice``: the bounds of the threshold, a ``ThresholdAdvice``.
    - ``contest``: the releases with their parameters, a ``SampleContest``.
    """

    advice: ThresholdAdvice
    contest: SampleContest

    @property
    def threshold(self) -> float | None:
        """The recommended threshold; None if none can be recommended."""
        return self.advice.threshold


@dataclass(frozen=True, slots=True, repr=False)
class AnonymizedTables:
    """A release and its secret, as the contents of the files to upload.

    ``files``: the contents by name, such as ``anonymized``. ``secret_file``: that of secret.csv.
    """

    files: Mapping[str, bytes]
    secret_file: bytes

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by name, with all cells as text."""
        return {name: read_text_table(content) for name, content in self.files.items()}

    @property
    def secret(self) -> pd.DataFrame:
        """The file secret.csv, whose rows are counted from 1."""
        return read_text_table(self.secret_file)

    def __repr__(self) -> str:
        sizes = [f"{name} ({len(table)} rows)" for name, table in self.tables.items()]
        return f"AnonymizedTables: {', '.join(sizes)}"


def read_text_table(content: bytes) -> pd.DataFrame:
    """Read a CSV file without interpreting its cells."""
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)


def score(original: Tables, released: Tables, secret: Secret, *, competition: Competition) -> Score:
    """Return the utility loss U, the security risk E and the decision of the rules, as a service does.

    Raises InvalidUpload with row and column of each error in a release or its secret.
    """
    return _score(_load_scaled_contest(original, competition), released, secret)


def attack(original: Tables, released: Tables, secret: Secret, *, competition: Competition) -> ResultTable:
    """Attack a release with the built-in attackers, without computing its measures.

    Each attacker has a row: its ``rate`` in [0, 1] (0 is best for the team that made the release), the
    ``baseline`` of blind guessing, and what was found of ``trials`` rows.
    """
    contest = _load_contest(original, competition)
    upload = _read_upload(contest, released, secret)
    context = contest.track.build_context(contest.rules, contest.original, upload.release)
    target = contest.track.build_target(upload.answer, context)
    rows = {}
    for name, attacker in contest.track.attackers.items():
        guesses = make_guesses(attacker, target, track=contest.track, rules=contest.rules)
        result = rate_attack(attacker, guesses, upload.answer, context, track=contest.track).to_json()
        rows[name] = {column: result.get(column) for column in ("rate", "baseline", "correct", "trials")}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("attacker")
    return ResultTable(table=table, warnings=(*contest.remarks, *upload.remarks))


def guess(
    original: Tables, target: Tables, attacker: str, *, competition: Competition, seed: int = 0
) -> dict[str, pd.DataFrame]:
    """Return a built-in attacker's guesses for a target by question, as the tables to upload.

    Raises InvalidInput for an unknown attacker. Questions to which it has no answer are missing.
    """
    contest = _load_contest(original, competition)
    track, rules = contest.track, contest.rules
    chosen = _choose(track.attackers, attacker, "attackers")
    files = _read_files(target, track.target_file_names)
    parsed_target = track.parse_target(files, contest.original, rules)
    guesses = make_guesses(chosen, parsed_target, track=track, rules=rules)
    guess_files = write_guesses(guesses, track=track, rng=np.random.default_rng(seed))
    return {question: read_text_table(content) for question, content in guess_files.items()}


def anonymize(
    original: Tables, method: str, *, competition: Competition, seed: int | None = None, **parameters: object
) -> AnonymizedTables:
    """Make a release with a sample method; its rows are in a random order.

    ``seed`` makes the same release and secret again; by default each has a random one. ``parameters`` are
    those of the method, such as ``k=5``. Raises InvalidInput for an unknown method or parameter.
    """
    contest = _load_contest(original, competition)
    track, rng = contest.track, np.random.default_rng(seed)
    chosen = _choose(track.methods, method, "methods")
    for name in parameters:
        _choose({entry.name: entry for entry in chosen.parameters}, name, "parameters")
    release, answer = track.anonymize(chosen, contest.original, contest.rules, rng, parameters)
    release, answer = track.shuffle(release, answer, rng=rng)
    return AnonymizedTables(track.files_of(release), track.answer_spec.write(answer))


def compare(
    original: Tables, releases: Mapping[str, tuple[Tables, Secret]], *, competition: Competition
) -> ResultTable:
    """Score several releases, given by name with their secrets: U, E and ``overall``, best first.

    Rejected ones come last, because they have no rank.
    """
    contest = _load_scaled_contest(original, competition)
    scores = {name: _score(contest, *release) for name, release in releases.items()}
    order = sort_for_board([score.overall if score.is_accepted else None for score in scores.values()])
    columns = {"utility": "U", "security": "E", "overall": "overall", "is_accepted": "accepted"}
    rows = [[getattr(score, name) for name in columns] for score in scores.values()]
    table = pd.DataFrame(rows, index=pd.Index(scores, name="release"), columns=list(columns.values()))
    warnings = [
        Remark(remark.code, Message("{release}: {warning}", release=name, warning=remark.message))
        for name, score in scores.items()
        for remark in score.warnings
        if remark not in contest.remarks
    ]
    return ResultTable(table=table.iloc[order], warnings=(*contest.remarks, *warnings))


def advise(
    original: Tables,
    *,
    competition: Competition,
    groups: Sequence[str] | None = None,
    distance: str | None = None,
    bits: int = 50,
    draws: int = SIMULATED_PERMUTATIONS,
) -> AdvisedThreshold:
    """Advise on the threshold of the rule against excessive anonymization, as a service does.

    The result also has a contest of the sample methods, cheats and the unchanged original on these data.

    ``groups``: columns whose values a cheat keeps, so that it permutes individuals with equal values only
    (default: those of the cross-tables, without those with which hardly any two agree). ``distance``: its
    name (default: that of the competition). ``bits``: a cheat passes with a probability of at most
    2^-``bits``. ``draws``: number of permutations of each type to simulate. Raises InvalidInput for an
    unknown column or distance.
    """
    contest = _load_contest(original, competition)
    question = AdviceQuestion(groups, distance, bits, draws)
    return build_advised_threshold(make_report(question, contest.rules, contest.original))


def build_advised_threshold(report: AdvisorReport) -> AdvisedThreshold:
    rows = [
        {
            "release": release.method or release.kind,
            "parameters": describe_parameters(release.parameters),
            "rank": release.rank,
            "U": release.utility,
            "E": release.security,
            "overall": release.overall,
            **({} if release.score is None else {"score": release.score}),
            "mean distance": release.mean_distance,
            "rejected": bool(release.violations),
        }
        for release in report.contest.releases
    ]
    table = pd.DataFrame(rows).astype({"rank": "Int64"}) if rows else pd.DataFrame({"release": []})
    return AdvisedThreshold(
        heading=_describe_advice(report),
        table=table.set_index("release"),
        advice=report.advice,
        contest=report.contest,
    )


_LEFT_OUT = "columns left out, because with all of them hardly any two individuals agree: "


def _describe_advice(report: AdvisorReport) -> str:
    """Return what leads the contest if it should not, what helps, and the recommended threshold."""
    advice, contest = report.advice, report.contest
    warnings = [str(part.message) for part in contest.warnings]
    remedies = [str(part.message) for part in contest.remedies]
    with_recommended = [part for part in contest.recommended_warnings if part not in contest.warnings]
    problem = [] if contest.problem is None else [str(contest.problem.message)]
    recommended = (
        f"none, because no threshold is guaranteed to stop every cheat: {advice.remedy}"
        if advice.threshold is None
        else f"{advice.threshold:g}, which must be above {advice.low:.4f} and below {advice.high:.4f}"
    )
    return ". ".join(
        [
            *warnings,
            *(["what helps: " + "; ".join(remedies)] if remedies else []),
            *problem,
            f"recommended threshold: {recommended}",
            *(f"with it, {part.message}" for part in with_recommended),
            *([_LEFT_OUT + ", ".join(report.left_out)] if report.left_out else []),
        ]
    )


def _score(contest: _Contest, released: Tables, secret: Secret) -> Score:
    upload = _read_upload(contest, released, secret)
    verdict = evaluate(contest.rules, contest.original, upload.release, upload.answer)
    measures = {("measure", name): result.value for name, result in verdict.measures.items()}
    attackers = {("attacker", name): result.rate.value for name, result in verdict.attackers.items()}
    values = pd.Series(measures | attackers, name="value").rename_axis(["part", "name"])
    reasons = "; ".join(str(violation.message) for violation in verdict.violations)
    decision = f"{verdict.verdict}: {reasons}" if reasons else verdict.verdict
    scores = f"U {verdict.utility:.6f}, E {verdict.security:.6f}, overall {verdict.overall:.6f}"
    return Score(
        heading=f"{decision}. {scores}",
        table=values.to_frame(),
        warnings=(*contest.remarks, *upload.remarks, *verdict.warnings),
        verdict=verdict,
    )


def _choose(parts: Mapping[str, PartT], name: str, kind: str) -> PartT:
    if name not in parts:
        raise InvalidInput("{kind}: {names}", kind=kind, names=tuple(parts))
    return parts[name]


def _load_contest(original: Tables, competition: Competition) -> _Contest:
    rules = competition if isinstance(competition, Rules) else parse_competition(_read_text(competition))
    track = TRACKS[rules.track]
    required = [spec.name for spec in track.original_files if spec.required]
    contents = _read_files(original, required, possible_names=track.original_file_names)
    parsed_original, remarks = track.parse_original(contents, rules)
    return _Contest(rules, track, parsed_original, tuple(remarks))


def _load_scaled_contest(original: Tables, competition: Competition) -> _Contest:
    """Return a contest with its scales; raise InvalidCompetition if a measure with a weight has none."""
    contest = _load_contest(original, competition)
    return replace(contest, rules=require_scales(contest.rules, contest.track, contest.original))


def _read_text(competition: Path | str) -> str:
    is_text = isinstance(competition, str) and "\n" in competition
    return str(competition) if is_text else Path(competition).read_text("utf-8")


def _read_files(
    tables: Tables, names: Sequence[str], *, possible_names: Sequence[str] = ()
) -> dict[str, bytes]:
    """Return the contents of tables by name; a single table has the only one of ``names``.

    ``possible_names`` may be given, too.
    """
    if not isinstance(tables, Mapping) and len(names) == 1:
        return {names[0]: _read_table(tables, names[0])}
    if not isinstance(tables, Mapping) or not {*names} <= {*tables} <= {*names, *possible_names}:
        raise InvalidInput("give the tables by their names: {names}", names=tuple(names))
    return {name: _read_table(table, name) for name, table in tables.items()}


def _read_table(table: Table, name: str) -> bytes:
    if isinstance(table, pd.DataFrame) and table.columns.nlevels == 1:
        columns = [_convert_column(column, name) for _, column in table.items()]
        return write_csv(pd.concat(columns, axis=1) if columns else table)
    if isinstance(table, Path | str):
        return Path(table).read_bytes()
    raise InvalidInput(
        "{name} must be a pandas DataFrame with one level of column names, or the path of a CSV file; "
        "it is {kind}",
        name=name,
        kind=_describe_kind(table),
    )


def _describe_kind(value: object) -> str:
    if isinstance(value, pd.DataFrame):
        return f"a DataFrame with {value.columns.nlevels} levels"
    package = type(value).__module__.partition(".")[0]
    return f"{package}.{type(value).__qualname__}".removeprefix("builtins.")


def _convert_column(column: pd.Series, table_name: str) -> pd.Series:
    """Return the column with dates and durations as text; raise InvalidInput for missing texts.

    pandas would write all dates of a column with their times if one of them has a time.
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    if column.dtype.kind in "mM":
        return column.map({value: _convert_cell(value) for value in pd.Index(column.dropna().unique())})
    is_missing = column.isna().to_numpy()
    if is_missing.any():
        raise InvalidInput(
            "{name}, {column}, row {row}: a missing value (NaN, None) in a column of text; an empty cell is "
            'the text "". Use fillna(""), or read files with keep_default_na=False',
            name=table_name,
            column=str(column.name),
            row=int(is_missing.argmax()) + 1,
        )
    return column if isinstance(column.dtype, pd.StringDtype) else column.astype(object).map(_convert_cell)


def _convert_cell(value: object) -> object:
    """Return a date or duration as text, and any other value unchanged."""
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    if isinstance(value, timedelta | np.timedelta64):
        return str(pd.Timedelta(value))
    if isinstance(value, datetime) and value.tzinfo is None and value == datetime.combine(value, time()):
        return value.date().isoformat()
    return str(value) if isinstance(value, datetime) else value


def _read_upload(contest: _Contest, released: Tables, secret: Secret) -> ParsedUpload:
    track = contest.track
    content = _read_secret(secret, contest)
    team = TeamData(own_files={track.answer_spec.file.name: content})
    return parse_upload(
        track,
        contest.rules,
        contest.original,
        _read_files(released, track.release_file_names),
        content,
        team=team if track.allocates_answer else TeamData(),
    )


def _read_secret(secret: Secret, contest: _Contest) -> bytes:
    spec = contest.track.answer_spec
    if isinstance(secret, pd.DataFrame | Path | str | Mapping) or spec.file.kind != "permutation":
        return _read_table(cast("Table", secret), spec.file.name)
    rows = _convert_rows(secret)
    is_outside = (rows < 0) | (rows >= contest.original.rows)
    if is_outside.any():
        position = int(is_outside.argmax())
        raise InvalidInput(
            "an array for the secret counts the rows of the original from 0, here to {last}; it contains "
            "{value}",
            last=contest.original.rows - 1,
            value=int(rows[position]),
        )
    return spec.write(rows)


def _convert_rows(secret: object) -> IntArray:
    try:
        rows = np.asarray(secret)
    except ValueError:  # rows of different lengths
        rows = np.asarray([None])
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InvalidInput(
            "an array for the secret needs one dimension and whole numbers, not {shape} of {kind}",
            shape=rows.shape,
            kind=str(rows.dtype),
        )
    return rows

"""Score, attack, anonymize and compare tables in memory or files, and advise on their threshold.

Results equal those of the commands and of a service: tables are written as CSV and parsed in the same way. So
that cells stay as they are in a file, read it with ``pandas.read_csv(path, dtype=str)``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidInput
from anoncup.evaluation.attacks import predict, rate_attack, write_guesses
from anoncup.evaluation.evaluate import evaluate
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.excessive.question import AdviceQuestion, answer
from anoncup.formulas.ranks import sort_for_board
from anoncup.plugins import TRACKS
from anoncup.result_tables import (
    AdvisedThreshold,
    AnonymizedTables,
    AttackRates,
    Comparison,
    Score,
    read_text_table,
)
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.model import AnyTrack, TeamData
from anoncup.tracks.uploads import ParsedUpload, parse_upload

PartT = TypeVar("PartT")
Table: TypeAlias = pd.DataFrame | Path | str
Tables: TypeAlias = Table | Mapping[str, Table]
"""One table, or all tables of a track with several by their names, such as ``customers``."""
Secret: TypeAlias = Table | ArrayLike
"""The file secret.csv as a table or path, or an array of the rows of the original, counted from 0."""
Competition: TypeAlias = Rules | Path | str
"""Rules, or the text or path of a competition file."""


@dataclass(frozen=True, slots=True)
class _Contest:
    rules: Rules
    track: AnyTrack
    original: Any


def score(original: Tables, released: Tables, secret: Secret, *, competition: Competition) -> Score:
    """Return the utility loss U, the security risk E and the decision of the rules, as a service does.

    Raises InvalidUpload with row and column of each error in a release or its secret.
    """
    return _score(_load_contest(original, competition), released, secret)


def attack(original: Tables, released: Tables, secret: Secret, *, competition: Competition) -> AttackRates:
    """Attack a release with the built-in attackers, without computing its measures.

    Rates are in [0, 1]; 0 is best for the team that made the release.
    """
    contest = _load_contest(original, competition)
    upload = _read_upload(contest, released, secret)
    context = contest.track.build_context(contest.rules, contest.original, upload.release)
    release = contest.track.add_answer(contest.original, upload.release, upload.answer, context)
    rates = {}
    for name, attacker in contest.track.attackers.items():
        prediction = predict(attacker, release.target, track=contest.track, rules=contest.rules)
        rates[name] = rate_attack(attacker, prediction, upload.answer, context, track=contest.track)
    return AttackRates(rates)


def guess(
    original: Tables, target: Tables, attacker: str, *, competition: Competition, seed: int = 0
) -> dict[str, pd.DataFrame]:
    """Return a built-in attacker's guesses for a target by question, as the tables to upload.

    Raises InvalidInput for an unknown attacker. Questions to which it has no answer are missing.
    """
    contest = _load_contest(original, competition)
    track, rules = contest.track, contest.rules
    chosen = _choose(track.attackers, attacker, "attackers")
    files = _read_files(target, list(track.target_file_names))
    parsed_target = track.parse_target(files, contest.original, rules)
    guesses = write_guesses(chosen, parsed_target, track=track, rules=rules, rng=np.random.default_rng(seed))
    return {question: read_text_table(content) for question, content in guesses.items()}


def anonymize(
    original: Tables, method: str, *, competition: Competition, seed: int = 0, **parameters: object
) -> AnonymizedTables:
    """Make a release with a sample method; its rows are in a random order.

    ``parameters`` are those of the method, such as ``k=5``. Raises InvalidInput for an unknown method.
    """
    contest = _load_contest(original, competition)
    track, rng = contest.track, np.random.default_rng(seed)
    chosen = _choose(track.methods, method, "methods")
    release, answer = track.anonymize(chosen, contest.original, contest.rules, rng, parameters)
    release, answer = track.shuffle(release, answer, rng=rng)
    return AnonymizedTables(track.files_of(release), track.answer_spec.write(answer))


def compare(
    original: Tables, releases: Mapping[str, tuple[Tables, Secret]], *, competition: Competition
) -> Comparison:
    """Score several releases, given by name with their secrets, and return them best first."""
    contest = _load_contest(original, competition)
    scores = {name: _score(contest, *release) for name, release in releases.items()}
    names = list(scores)
    order = sort_for_board([score.overall for score in scores.values()])
    return Comparison({names[index]: scores[names[index]] for index in order})


def advise(
    original: Tables,
    *,
    competition: Competition,
    groups: Sequence[str] | None = None,
    distance: str | None = None,
    bits: int = 50,
    draws: int = SIMULATED_PERMUTATIONS,
    seconds: float = 0.0,
) -> AdvisedThreshold:
    """Advise on the threshold of the rule against excessive anonymization, as a service does.

    ``groups``: columns whose values a cheat keeps, so that it permutes individuals with equal values only
    (default: those of the cross-tables). ``distance``: its name (default: that of the competition).
    ``bits``: a cheat passes with a probability of at most 2^-``bits``. ``draws``: number of permutations of
    each type to simulate. ``seconds``: time to spend on making more of the bounds exact.
    Raises InvalidInput for an unknown column or distance.
    """
    contest = _load_contest(original, competition)
    question = AdviceQuestion(groups, distance, bits, draws, seconds)
    return AdvisedThreshold(answer(question, contest.rules, contest.original))


def _score(contest: _Contest, released: Tables, secret: Secret) -> Score:
    upload = _read_upload(contest, released, secret)
    return Score(evaluate(contest.rules, contest.original, upload.release, upload.answer))


def _choose(parts: Mapping[str, PartT], name: str, kind: str) -> PartT:
    if name not in parts:
        raise InvalidInput("{kind}: {names}", kind=kind, names=tuple(parts))
    return parts[name]


def _load_contest(original: Tables, competition: Competition) -> _Contest:
    rules = competition if isinstance(competition, Rules) else parse_competition(_read_text(competition))
    track = TRACKS[rules.track]
    required = [spec.name for spec in track.original_files if spec.required]
    parsed_original, _ = track.parse_original(_read_files(original, required), rules)
    return _Contest(rules, track, parsed_original)


def _read_text(competition: Path | str) -> str:
    is_text = isinstance(competition, str) and "\n" in competition
    return str(competition) if is_text else Path(competition).read_text("utf-8")


def _read_files(tables: Tables, names: list[str]) -> dict[str, bytes]:
    """Return the contents of tables by name; a single table has the only one of ``names``."""
    if isinstance(tables, Mapping):
        return {name: _read_table(table) for name, table in tables.items()}
    if len(names) != 1:
        raise InvalidInput("give the tables by their names: {names}", names=tuple(names))
    return {names[0]: _read_table(tables)}


def _read_table(table: Table) -> bytes:
    return write_csv(table) if isinstance(table, pd.DataFrame) else Path(table).read_bytes()


def _read_upload(contest: _Contest, released: Tables, secret: Secret) -> ParsedUpload:
    track = contest.track
    is_file = isinstance(secret, pd.DataFrame | Path | str)
    content = _read_table(cast("Table", secret)) if is_file else track.answer_spec.write(np.asarray(secret))
    team = TeamData(own_files={track.answer_spec.file.name: content})
    return parse_upload(
        track,
        contest.rules,
        contest.original,
        _read_files(released, list(track.release_file_names)),
        content,
        team=team if track.allocates_answer else TeamData(),
    )

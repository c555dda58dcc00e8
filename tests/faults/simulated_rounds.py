"""Boards of a contest with rounds, computed anew from what its teams have sent.

Nothing of the service or of the library's scoring is used: measures and attackers come from the reference
implementations, everything else is plain Python over a list of facts. Ranks may differ where scores are equal
up to rounding.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import floor, fsum, log10
from statistics import fmean
from typing import Any

from anoncup.geometry.arrays import IntArray
from tests.support.microdata_reference_scores import ReferenceOriginal, parse_table

QUASI_IDENTIFIERS, SENSITIVE = ("sex", "age"), ("income", "rent")
UNUSED_ATTACKERS = ("euc2_assignment", "gower_assignment")
"""Attackers that the competition does not count: the reference tries all assignments, which are too many."""
RANKING_TOML = """
[ranking]
order = "descending"
defence = "min(1 - utility, 1 - security) - strongest() / 3 - gower / 7 - penalty / 10"
attack = "identified / 100 - penalty / 10"
total = "0.1 * round('preliminary') + 0.9 * round('final')"
attack_total = "0.1 * if_missing(round('preliminary'), 0) + 0.9 * if_missing(round('final'), 0)"
"""
ROUND_WEIGHTS = {"preliminary": 0.1, "final": 0.9}
OVERALL_DIGITS = 4
TOLERANCE = 1e-9
VISITOR, ORGANIZER = "(visitor)", "(organizer)"


def parse_original(content: bytes) -> ReferenceOriginal:
    return ReferenceOriginal(
        *parse_table(content, len(QUASI_IDENTIFIERS)), cross_columns=range(len(QUASI_IDENTIFIERS))
    )


@dataclass
class ReleaseFact:
    """An accepted upload. ``target_id``: its target."""

    id: str
    team: str
    received_at: datetime
    source: list[int]
    measures: dict[str, float]
    attackers: dict[str, float]
    distance: float
    """The mean distance of the individuals from their own rows; a deleted one counts 1."""
    is_marked_final: bool = False
    is_disqualified: bool = False
    target_id: str | None = None

    @classmethod
    def score(
        cls, original: ReferenceOriginal, content: bytes, source: IntArray, receipt: dict[str, Any], team: str
    ) -> "ReleaseFact":
        rows: list[int] = source.tolist()
        release = *parse_table(content, len(QUASI_IDENTIFIERS)), rows
        return cls(
            str(receipt["id"]),
            team,
            datetime.fromisoformat(receipt["received_at"]),
            rows,
            original.compute_measures(*release),
            original.compute_attackers(*release),
            fmean(original.compute_distances(*release)),
        )


@dataclass
class GuessFact:
    team: str
    release: ReleaseFact
    received_at: datetime
    correct: int
    id: str

    @property
    def risk(self) -> float:
        return self.correct / len(self.release.source)


@dataclass
class RoundFacts:
    """The state of a round.

    ``absent_teams`` joined after it had closed. ``expected_finals``: submissions that become targets at
    the end of the first phase.
    """

    name: str
    original: ReferenceOriginal
    weights: dict[str, float]
    threshold: float
    feedback: str
    finals: int
    digits: int
    releases: list[ReleaseFact] = field(default_factory=list)
    guesses: list[GuessFact] = field(default_factory=list)
    adjustments: dict[str, list[float]] = field(default_factory=dict)
    absent_teams: set[str] = field(default_factory=set)
    expected_finals: set[str] = field(default_factory=set)
    is_published: bool = False
    is_closed: bool = False
    is_revealed: bool = False

    def is_accepted(self, release: ReleaseFact) -> bool:
        return release.distance <= self.threshold

    def compute_utility(self, release: ReleaseFact) -> float:
        return self.original.compute_utility(release.measures, self.weights)


@dataclass
class ReleaseScore:
    """The numbers of a release; ``rivals`` is None if no other team's guess is visible."""

    release: ReleaseFact
    utility: float
    security: float
    rivals: float | None
    score: float

    @property
    def overall(self) -> float:
        return (self.utility + self.security) / 2


@dataclass
class ContestFacts:
    """The whole contest; ``teams`` are in order of creation."""

    teams: list[str]
    rounds: dict[str, RoundFacts]
    disqualified_teams: set[str] = field(default_factory=set)

    def list_competing_teams(self, facts: RoundFacts) -> list[str]:
        return [team for team in self.teams if team not in self.disqualified_teams | facts.absent_teams]

    def is_target(self, facts: RoundFacts, release: ReleaseFact) -> bool:
        return release.target_id is not None and self.is_qualified(facts, release)

    def is_qualified(self, facts: RoundFacts, release: ReleaseFact) -> bool:
        is_disqualified = release.is_disqualified or release.team in self.disqualified_teams
        return facts.is_accepted(release) and not is_disqualified

    def list_visible_guesses(self, facts: RoundFacts, viewer: str) -> list[GuessFact]:
        if not (viewer == ORGANIZER or facts.is_closed or facts.feedback == "immediate"):
            return []
        return [
            guess
            for guess in facts.guesses
            if guess.team not in self.disqualified_teams and self.is_target(facts, guess.release)
        ]

    def choose_finals(self, facts: RoundFacts) -> set[str]:
        """Return the submissions that become targets at the end of the first phase."""
        finals: set[str] = set()
        for team in self.teams:
            accepted = [item for item in facts.releases if item.team == team and facts.is_accepted(item)]
            marked = [release for release in accepted if release.is_marked_final]
            qualified = [release for release in accepted if self.is_qualified(facts, release)]
            scores = [self.score_release(facts, [], release) for release in marked or qualified]
            scores.sort(key=lambda score: (-score.score, score.release.received_at, score.release.id))
            finals |= {score.release.id for score in scores[: facts.finals]}
        return finals

    def score_release(
        self, facts: RoundFacts, guesses: list[GuessFact], release: ReleaseFact
    ) -> ReleaseScore:
        risks: dict[str, float] = {}
        for guess in guesses:
            if guess.release is release:
                risks[guess.team] = max(guess.risk, risks.get(guess.team, 0.0))
        rivals = max(risks.values(), default=None)
        utility = facts.compute_utility(release)
        security = max(*release.attackers.values(), rivals or 0.0)
        score = min(1 - utility, 1 - security) - security / 3 - release.attackers["gower"] / 7
        score += fsum(facts.adjustments.get(release.team, ())) / 10
        return ReleaseScore(release, utility, security, rivals, score)


def build_release_row(contest: ContestFacts, facts: RoundFacts, viewer: str, team: str) -> dict[str, Any]:
    """Return a team's exact row on the anonymization board, empty if it has none."""
    releases = [item for item in facts.releases if item.team == team and not item.is_disqualified]
    if not releases or team in contest.disqualified_teams:
        return {}
    guesses = contest.list_visible_guesses(facts, viewer)
    scores = [
        contest.score_release(facts, guesses, release)
        for release in releases
        if contest.is_qualified(facts, release) and (release.target_id is not None or not facts.is_published)
    ]
    row = {"team": team, "own": viewer == team, "baseline": False, "entries": len(releases)}
    if not scores:
        first = min(releases, key=lambda release: release.received_at)
        return row | {"order": first.received_at, "release_score": None, "score": None}
    best = min(scores, key=lambda score: (-score.score, score.release.received_at, score.release.id))
    return row | {"order": best.release.received_at, "release_score": best, "score": best.score}


def build_release_rows(contest: ContestFacts, facts: RoundFacts, viewer: str) -> dict[str, dict[str, Any]]:
    rows = (build_release_row(contest, facts, viewer, team) for team in contest.teams)
    return {row["team"]: row for row in rows if row}


def build_attack_rows(contest: ContestFacts, facts: RoundFacts, viewer: str) -> dict[str, dict[str, Any]]:
    """Return the exact rows of the re-identification board by team."""
    guesses = contest.list_visible_guesses(facts, viewer)
    rows: dict[str, dict[str, Any]] = {}
    for team in contest.list_competing_teams(facts):
        own_guesses = [guess for guess in guesses if guess.team == team]
        best: dict[str, GuessFact] = {}
        for guess in own_guesses:
            if guess.release.id not in best or guess.correct > best[guess.release.id].correct:
                best[guess.release.id] = guess
        identified = sum(guess.correct for guess in best.values())
        tried = sum(len(guess.release.source) for guess in best.values())
        score = identified / 100 + fsum(facts.adjustments.get(team, ())) / 10
        row: dict[str, Any] = {"team": team, "own": viewer == team, "order": None}
        row |= dict.fromkeys(("identified", "tried", "rate", "targets", "score"))
        if own_guesses:
            row |= {"identified": identified, "tried": tried, "rate": identified / tried}
            row |= {"targets": len(best), "score": score}
            row["order"] = min(guess.received_at for guess in own_guesses)
        rows[team] = row
    return rows


def is_tie(score: float | None, rival: float | None) -> bool:
    """Return whether two scores are equal but for the last bits."""
    return score is not None and rival is not None and abs(score - rival) < TOLERANCE / 1000


def iter_rank_problems(rows: list[dict[str, Any]], exact: dict[str, float | None]) -> Iterator[str]:
    """Yield wrong ranks, and rows that are not in the order of their ranks; the highest score is the best."""
    scores = [score for score in exact.values() if score is not None]
    for row in rows:
        score = exact[row["team"]]
        if score is None:
            bounds: tuple[int | None, int | None] = None, None
            is_right = row["rank"] is None
        else:
            bounds = (
                1 + sum(rival > score + TOLERANCE for rival in scores),
                sum(rival >= score - TOLERANCE for rival in scores),
            )
            is_right = row["rank"] is not None and bounds[0] <= row["rank"] <= bounds[1]
        if not is_right:
            yield f"{row['team']} has the rank {row['rank']}, not {bounds[0]} to {bounds[1]}"
        ties = {tied["rank"] for tied in rows if is_tie(score, exact[tied["team"]])}
        if len(ties) > 1:
            yield f"{row['team']} has the same score as others, and the ranks {ties}"
    ranks = [row["rank"] for row in rows]
    if ranks != sorted(ranks, key=lambda rank: (rank is None, rank or 0)):
        yield f"the ranks are in the order {ranks}"


def is_equal(actual: Any, expected: Any) -> bool:
    """Return whether two values are equal, numbers up to rounding."""
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == expected.keys()
            and all(is_equal(actual[name], expected[name]) for name in expected)
        )
    if isinstance(expected, float) and isinstance(actual, int | float):
        return abs(actual - expected) <= TOLERANCE
    return bool(actual == expected)


def is_rounded(actual: Any, exact: float, digits: int) -> bool:
    """Return whether a value is the exact one with so many decimals."""
    return (
        isinstance(actual, float)
        and actual == round(actual, digits)
        and abs(actual - exact) <= 0.5 * 10.0**-digits + TOLERANCE
    )


def is_rounded_score(actual: Any, exact: float) -> bool:
    """Return whether a value is a formula's with four digits and four decimals at most."""
    if not isinstance(actual, float) or actual != round(float(f"{actual:.4g}"), OVERALL_DIGITS):
        return False
    step = 10.0 ** (floor(log10(abs(exact))) - OVERALL_DIGITS + 1) if exact else 0.0
    return abs(actual - exact) <= 0.5 * (step + 10.0**-OVERALL_DIGITS) + TOLERANCE


def iter_release_problems(
    contest: ContestFacts, facts: RoundFacts, viewer: str, board: dict[str, Any]
) -> Iterator[str]:
    """Yield what is wrong with the anonymization board that a viewer got."""
    expected = build_release_rows(contest, facts, viewer)
    actual = {row["team"]: row for row in board["rows"]}
    is_exact = viewer == ORGANIZER or facts.is_revealed
    if board["digits"] != (None if is_exact else facts.digits):
        yield f"digits are {board['digits']}"
    if actual.keys() != expected.keys() or len(board["rows"]) != len(actual):
        yield f"the teams are {sorted(actual)}, not {sorted(expected)}"
        return
    for team, row in expected.items():
        yield from iter_row_problems(facts, row, actual[team], is_exact=is_exact or viewer == team)
    yield from iter_rank_problems(board["rows"], {team: row["score"] for team, row in expected.items()})
    yield from iter_front_problems(expected, actual, None if is_exact else facts.digits)
    yield from iter_order_problems(board["rows"], expected)


def iter_row_problems(
    facts: RoundFacts, expected: dict[str, Any], actual: dict[str, Any], *, is_exact: bool
) -> Iterator[str]:
    score: ReleaseScore | None = expected["release_score"]
    common = {name: expected[name] for name in ("team", "own", "baseline", "entries")}
    received_at = actual["received_at"] and datetime.fromisoformat(actual["received_at"])
    wrong = [
        f"{name} is {actual[name]}, not {value}" for name, value in common.items() if actual[name] != value
    ]
    if score is None:
        empty: dict[str, Any] = dict.fromkeys(("overall", "utility", "security", "rivals", "score"))
        empty |= {"received_at": None, "measures": {}, "attackers": {}}
        wrong += [f"{name} is {actual[name]}" for name, value in empty.items() if actual[name] != value]
    else:
        if received_at != score.release.received_at:
            wrong.append(f"received at {received_at}, not {score.release.received_at}")
        find_wrong = list_wrong_exact if is_exact else list_wrong_rounded
        wrong += find_wrong(facts, score, expected["score"], actual)
    yield from (f"{expected['team']}: {problem}" for problem in wrong)


def list_wrong_exact(
    facts: RoundFacts, score: ReleaseScore, value: float, actual: dict[str, Any]
) -> list[str]:
    """Return what is wrong with a row that is shown in full."""
    numbers = {
        "overall": score.overall,
        "utility": score.utility,
        "security": score.security,
        "rivals": score.rivals,
        "score": value,
        "attackers": score.release.attackers,
        "measures": score.release.measures,
    }
    # The board also has measures and attackers that nothing depends on here.
    known = {
        "measures": {name: actual["measures"].get(name) for name in score.release.measures},
        "attackers": {name: actual["attackers"].get(name) for name in score.release.attackers},
    }
    actual = actual | known
    return [
        f"{name} is {actual[name]}, not {number}"
        for name, number in numbers.items()
        if not is_equal(actual[name], number)
    ]


def list_wrong_rounded(
    facts: RoundFacts, score: ReleaseScore, value: float, actual: dict[str, Any]
) -> list[str]:
    """Return what is wrong with a row as others may see it."""
    checks: dict[str, tuple[bool, object]] = {
        "overall": (is_rounded(actual["overall"], score.overall, OVERALL_DIGITS), score.overall),
        "utility": (is_rounded(actual["utility"], score.utility, facts.digits), score.utility),
        "security": (is_rounded(actual["security"], score.security, facts.digits), score.security),
        "score": (is_rounded_score(actual["score"], value), value),
        "rivals": (actual["rivals"] is None, None),
        "measures": (actual["measures"] == {}, {}),
        "attackers": (actual["attackers"] == {}, {}),
    }
    return [
        f"{name} is {actual[name]}, not {number} rounded"
        for name, (is_right, number) in checks.items()
        if not is_right
    ]


def iter_front_problems(
    expected: dict[str, dict[str, Any]], actual: dict[str, dict[str, Any]], digits: int | None
) -> Iterator[str]:
    """Yield rows whose place on the Pareto front is wrong; it compares the values as shown."""
    points = {
        team: (actual[team]["utility"], actual[team]["security"])
        for team, row in expected.items()
        if row["release_score"] is not None
    }
    if digits is not None:
        points = {team: (round(pair[0], digits), round(pair[1], digits)) for team, pair in points.items()}
    for team in expected:
        is_on_front = team in points and not any(
            rival != points[team] and rival[0] <= points[team][0] and rival[1] <= points[team][1]
            for rival in points.values()
        )
        if actual[team]["on_front"] != is_on_front:
            yield f"{team}: on_front is {actual[team]['on_front']}"


def iter_order_problems(rows: list[dict[str, Any]], expected: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield rows of one rank that are not in order of time."""
    by_rank: dict[int | None, list[datetime]] = {}
    for row in rows:
        moment = expected[row["team"]]["order"]
        if moment is not None:
            by_rank.setdefault(row["rank"], []).append(moment)
    yield from (
        f"those of rank {rank} are in the order {moments}"
        for rank, moments in by_rank.items()
        if moments != sorted(moments)
    )


def iter_attack_problems(
    contest: ContestFacts, facts: RoundFacts, viewer: str, board: dict[str, Any]
) -> Iterator[str]:
    """Yield what is wrong with the re-identification board that a viewer got."""
    expected = build_attack_rows(contest, facts, viewer)
    actual = {row["team"]: row for row in board["rows"]}
    is_open = viewer == ORGANIZER or facts.is_closed or facts.feedback == "immediate"
    if board["hidden"] is is_open:
        yield f"hidden is {board['hidden']}"
    if actual.keys() != expected.keys() or len(board["rows"]) != len(actual):
        yield f"the teams are {sorted(actual)}, not {sorted(expected)}"
        return
    for team, row in expected.items():
        yield from (
            f"{team}: {name} is {actual[team].get(name)}, not {value}"
            for name, value in row.items()
            if name != "order" and not is_equal(actual[team].get(name), value)
        )
    yield from iter_rank_problems(board["rows"], {team: row["score"] for team, row in expected.items()})
    yield from iter_order_problems(board["rows"], expected)


def compute_total(scores: dict[str, float | None]) -> float | None:
    if any(score is None for score in scores.values()):
        return None
    return fsum(ROUND_WEIGHTS[name] * (score or 0.0) for name, score in scores.items())


def compute_attack_total(scores: dict[str, float | None]) -> float:
    return fsum(ROUND_WEIGHTS[name] * (score or 0.0) for name, score in scores.items())


RowBuilder = Callable[[ContestFacts, RoundFacts, str], dict[str, dict[str, Any]]]
TOTALS: dict[str, tuple[RowBuilder, Callable[[dict[str, float | None]], float | None]]] = {
    "total": (build_release_rows, compute_total),
    "attack-total": (build_attack_rows, compute_attack_total),
}


def iter_total_problems(
    contest: ContestFacts, viewer: str, name: str, board: dict[str, Any]
) -> Iterator[str]:
    """Yield what is wrong with a board of totals: ranks compare exact ones, and the others are as shown."""
    build_rows, combine = TOTALS[name]
    rows_by_round = {key: build_rows(contest, facts, viewer) for key, facts in contest.rounds.items()}
    teams = {team for rows in rows_by_round.values() for team in rows}
    exact: dict[str, dict[str, float | None]] = {
        team: {key: rows.get(team, {}).get("score") for key, rows in rows_by_round.items()} for team in teams
    }
    actual = {row["team"]: row for row in board["rows"]}
    if actual.keys() != teams or len(board["rows"]) != len(actual):
        yield f"the teams are {sorted(actual)}, not {sorted(teams)}"
        return
    for team, row in actual.items():
        for key, facts in contest.rounds.items():
            is_exact = viewer in (ORGANIZER, team) or facts.is_revealed or name == "attack-total"
            score, visible = exact[team][key], row["scores"][key]
            is_right = (
                is_equal(visible, score) if score is None or is_exact else is_rounded_score(visible, score)
            )
            if not is_right:
                yield f"{team}: the score of {key} is {visible}, not {score}"
        if row["own"] != (team == viewer) or not is_equal(row["total"], combine(row["scores"])):
            yield f"{team}: own is {row['own']}, and the total of {row['scores']} is {row['total']}"
    yield from iter_rank_problems(board["rows"], {team: combine(scores) for team, scores in exact.items()})

"""Laws of the fold from the events of a round to its standings."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.evaluation.verdict_numbers import VerdictNumbers
from anoncup.plugins import TRACKS
from anoncup.tracks.ranking_board import Ranked, RankingBoard
from app.boards.attack_board import AttackBoard
from app.boards.facts import (
    BoardTarget,
    CompetingTeam,
    FinishedRelease,
    JudgedGuess,
    RoundFacts,
    TeamAdjustment,
)
from app.boards.fold import fold
from app.boards.function_ranking import BoardState
from app.boards.release_board import ReleaseBoard
from app.competitions import phases
from app.core.db.models import Series
from tests.support.arena import ROWS
from tests.support.board_facts import RANKINGS
from tests.support.contest import build_two_phase_toml

TRACK = TRACKS["microdata"]
RULES = {name: parse_competition(build_two_phase_toml(extra_toml=toml)) for name, toml in RANKINGS.items()}
START = datetime(2026, 3, 1, tzinfo=UTC)
HALF_HOUR = timedelta(minutes=30)
PUBLICATION_HOUR, LAST_HOUR = 24, 72
TEAMS = [UUID(int=number) for number in range(1, 5)]
BASELINE = UUID(int=5)
COMPETING_TEAMS = [CompetingTeam(team_id, "") for team_id in (*TEAMS, UUID(int=6))]
"""The last one joins late and sends nothing."""
BOARDS: tuple[type[BoardState[Any]], ...] = (ReleaseBoard, AttackBoard)
SHARES = (0.0, 0.1, 0.25, 0.5)


def build_moment(hour: int) -> datetime:
    return START + timedelta(hours=hour)


def build_numbers(random: Random) -> VerdictNumbers:
    return VerdictNumbers(
        utility=random.choice(SHARES),
        security=random.choice(SHARES),
        measures={name: random.choice(SHARES) for name in TRACK.measures},
        attackers={name: random.choice(SHARES) for name in TRACK.attackers},
    )


def build_release(random: Random, number: int) -> FinishedRelease:
    received = random.randrange(PUBLICATION_HOUR)
    team_id = random.choice((*TEAMS, BASELINE))
    is_accepted = random.random() < 0.8
    return FinishedRelease(
        submission_id=UUID(int=100 + number),
        evaluation_id=UUID(int=200 + number),
        team_id=team_id,
        is_baseline=team_id == BASELINE,
        received_at=build_moment(received),
        at=build_moment(received + random.choice((1, 1, 5, 40))),
        numbers=build_numbers(random) if is_accepted else None,
    )


def build_target(release: FinishedRelease) -> BoardTarget:
    return BoardTarget(
        release.submission_id, "T", ROWS, release.submission_id, release.evaluation_id, release.team_id, ""
    )


def build_guess(random: Random, target: BoardTarget) -> JudgedGuess:
    received, correct = random.randrange(PUBLICATION_HOUR, LAST_HOUR), random.choice((0, 10, 20, 30))
    accepted = received + random.choice((0, 0, 1))
    return JudgedGuess(
        submission_id=target.submission_id,
        team_id=random.choice([team_id for team_id in TEAMS if team_id != target.team_id]),
        question="link",
        risk=correct / ROWS,
        correct=correct,
        received_at=build_moment(received),
        accepted_at=build_moment(accepted),
        at=build_moment(accepted + random.choice((1, 1, 20))),
    )


def build_adjustment(random: Random) -> TeamAdjustment:
    return TeamAdjustment(
        random.choice(TEAMS), random.choice((-0.5, 0.25)), build_moment(random.randrange(LAST_HOUR))
    )


@st.composite
def round_facts(draw: st.DrawFn) -> RoundFacts:
    """Events at full hours of three days, so that many coincide with each other and with midnight."""
    random = draw(st.randoms(use_true_random=False))
    releases = [build_release(random, number) for number in range(random.randrange(8))]
    finals = [release for release in releases if release.numbers and not release.is_baseline]
    targets = [build_target(release) for release in random.sample(finals, len(finals) // 2)]
    return RoundFacts(
        rules=RULES[draw(st.sampled_from(list(RULES)))],
        releases=releases,
        guesses=[build_guess(random, random.choice(targets)) for _ in range(8) if targets],
        adjustments=[build_adjustment(random) for _ in range(3)],
        targets={target.submission_id: target for target in targets},
        teams=(),
        published_at=build_moment(PUBLICATION_HOUR),
    )


def fold_all(facts: RoundFacts, series: Series) -> list[list[tuple[datetime, Any]]]:
    return [list(fold(board(facts), series)) for board in BOARDS]


def sort_rows(rows: Iterable[tuple[datetime, Any]]) -> list[tuple[datetime, Any]]:
    """Sort rows by moment and team, because those of a moment are in no particular order."""
    return sorted(rows, key=lambda row: (row[0], row[1].team_id))


def find_newest(rows: list[tuple[datetime, Any]], before: datetime) -> dict[UUID, Any]:
    return {row.team_id: row for moment, row in rows if moment < before}


moments = st.integers(-1, LAST_HOUR + 48).map(build_moment)
all_series = st.sampled_from(list(Series))


@given(round_facts(), all_series)
def test_later_standings_can_be_computed_alone(facts: RoundFacts, series: Series) -> None:
    for board in BOARDS:
        rows = list(fold(board(facts), series))
        for since in {moment + delay for moment, _ in rows for delay in (timedelta(), HALF_HOUR)}:
            later = [(moment, row) for moment, row in rows if moment >= since]
            assert sort_rows(fold(board(facts), series, since=since)) == sort_rows(later)


@given(round_facts(), all_series)
def test_each_row_is_a_change(facts: RoundFacts, series: Series) -> None:
    for rows in fold_all(facts, series):
        assert [moment for moment, _ in rows] == sorted(moment for moment, _ in rows)
        for number, (moment, row) in enumerate(rows):
            previous = [earlier for earlier in rows[:number] if earlier[1].team_id == row.team_id]
            if previous:
                assert previous[-1][0] < moment
                assert previous[-1][1] != row


@given(round_facts(), all_series, st.randoms(use_true_random=False))
def test_the_order_of_the_facts_does_not_matter(facts: RoundFacts, series: Series, random: Random) -> None:
    def shuffle(values: Any) -> list[Any]:
        return random.sample(list(values), len(values))

    shuffled = replace(
        facts,
        releases=shuffle(facts.releases),
        guesses=shuffle(facts.guesses),
        adjustments=shuffle(facts.adjustments),
        targets=dict(shuffle(facts.targets.items())),
    )
    for rows, shuffled_rows in zip(fold_all(facts, series), fold_all(shuffled, series), strict=True):
        assert {(moment, row.team_id): row for moment, row in rows} == {
            (moment, row.team_id): row for moment, row in shuffled_rows
        }


@given(round_facts(), all_series, moments)
def test_a_board_is_computed_from_what_its_viewer_may_see(
    facts: RoundFacts, series: Series, hour: datetime
) -> None:
    """The series before a moment ends like all standings of a round in which nothing else has happened."""
    before = hour + HALF_HOUR
    midnight, _ = phases.find_midnights(before, facts.rules.timezone)
    horizons = {Series.ALL_GUESSES: before, Series.DAILY: midnight, Series.WITHOUT_GUESSES: START}
    visible = replace(
        facts,
        releases=[release for release in facts.releases if release.at < before],
        guesses=[
            guess for guess in facts.guesses if guess.at < before and guess.accepted_at < horizons[series]
        ],
        adjustments=[adjustment for adjustment in facts.adjustments if adjustment.at < before],
        published_at=facts.published_at if facts.published_at and facts.published_at < before else None,
    )
    for rows, visible_rows in zip(
        fold_all(facts, series), fold_all(visible, Series.ALL_GUESSES), strict=True
    ):
        assert find_newest(rows, before) == find_newest(visible_rows, datetime.max.replace(tzinfo=UTC))


@given(round_facts(), all_series)
def test_baselines_change_no_standing_of_a_team(facts: RoundFacts, series: Series) -> None:
    teams_only = replace(facts, releases=[release for release in facts.releases if not release.is_baseline])
    rows = [(moment, row) for moment, row in fold(ReleaseBoard(facts), series) if row.team_id != BASELINE]
    assert sort_rows(rows) == sort_rows(fold(ReleaseBoard(teams_only), series))


@given(round_facts())
def test_boards_for_functions_do_not_know_what_comes_later(facts: RoundFacts) -> None:
    ranking = replace(facts.rules.ranking, rule="function", function="package:rank")
    facts = replace(facts, rules=replace(facts.rules, ranking=ranking), guesses=(), teams=COMPETING_TEAMS)
    earlier_facts = replace(facts, targets={}, published_at=None, teams=COMPETING_TEAMS[:-1])

    def collect_boards(known_facts: RoundFacts) -> list[RankingBoard]:
        boards = []

        def rank(board: RankingBoard) -> list[Ranked]:
            boards.append(board)
            return [Ranked(team, 1.0) for team in board.teams]

        until = build_moment(PUBLICATION_HOUR)
        for _ in fold(ReleaseBoard(known_facts, rank), Series.ALL_GUESSES, until=until):
            pass
        return boards

    assert collect_boards(facts) == collect_boards(earlier_facts)


def test_guesses_count_from_their_judging_or_from_midnight() -> None:
    """Midnight in Tokyo is 15:00. An upload that ends after it counts a day later."""
    random = Random(0)
    release = build_release(random, 0)._replace(team_id=TEAMS[0], is_baseline=False, at=build_moment(20))
    target = build_target(release)

    def list_moments(*, accepted: int, judged: int) -> list[list[datetime]]:
        guess = build_guess(random, target)._replace(
            received_at=build_moment(38), accepted_at=build_moment(accepted), at=build_moment(judged)
        )
        facts = RoundFacts(
            rules=RULES["score"],
            releases=[release._replace(numbers=build_numbers(random))],
            guesses=[guess],
            adjustments=(),
            targets={target.submission_id: target},
            teams=(),
            published_at=build_moment(PUBLICATION_HOUR),
        )
        return [[moment for moment, _ in fold(AttackBoard(facts), series)] for series in Series]

    def build_end_of_day(midnight_hour: int) -> datetime:
        return build_moment(midnight_hour) - timedelta(microseconds=1)

    assert list_moments(accepted=38, judged=38) == [[], [build_end_of_day(39)], [build_moment(38)]]
    assert list_moments(accepted=38, judged=40) == [[], [build_moment(40)], [build_moment(40)]]
    assert list_moments(accepted=39, judged=40) == [[], [build_end_of_day(63)], [build_moment(40)]]

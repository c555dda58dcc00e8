"""A competition with two rounds: a preliminary one, and a final on the same data."""

from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient

from anoncup.competition.parser import CompetitionFile
from anoncup.rules.toml_text import replace_tables
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import Contest, run_clock

FORMULAS = """
[publication]
feedback = "immediate"
digits = 2
[ranking]
order = "descending"
defence = "1 - (utility + security) / 2 - penalty"
attack = "mean_per_target"
total = "0.1 * round('preliminary') + 0.9 * round('final')"
attack_total = "max(round('preliminary'), if_missing(round('final'), 0))"
"""

_ROUND = """
[[rounds]]
name = "{name}"
title = {{ en = "{title}", ja = "{title_ja}" }}
weight = {weight}
data = "{data}"
practice = {practice}
[[rounds.phases]]
name = "anonymization"
start = {start}
end = {middle}
[[rounds.phases]]
name = "reidentification"
start = {middle}
end = {end}
"""


def build_round(
    name: str,
    *,
    begins: float,
    weight: float = 1.0,
    data: str = "own",
    practice: bool = False,
) -> str:
    """Return a round with two phases of a day each, of which the first begins in ``begins`` days.

    A practice round has the weight 0.
    """
    now = datetime.now(UTC)
    start, middle, end = ((now + timedelta(days=begins + days)).isoformat() for days in (0, 1, 2))
    titles = {"preliminary": "予選", "final": "本戦"}
    return _ROUND.format(
        name=name,
        title=name.title(),
        title_ja=titles.get(name, name),
        weight=0.0 if practice else weight,
        practice=str(practice).lower(),
        data=data,
        start=start,
        middle=middle,
        end=end,
    )


def build_two_round_toml(
    slug: str = "small", *, extra_toml: str = "", preliminary: str | None = None, final: str | None = None
) -> str:
    """Return a file whose first round has begun and whose final begins in a week."""
    common = replace_tables(build_competition_toml(slug, extra_toml=extra_toml, notice_hours=0), "phases", "")
    if preliminary is None:
        preliminary = build_round("preliminary", begins=-0.5, weight=0.1)
    final = build_round("final", begins=7, weight=0.9, data="previous") if final is None else final
    return common.replace("format = 1", "format = 2") + preliminary + final


def create_two_rounds(client: TestClient, **parts: str) -> dict[str, Contest]:
    """Create the competition with its data; return its rounds by name.

    ``parts`` are those of ``build_two_round_toml``.
    """
    file = build_two_round_toml(**parts)
    arena = Arena.create(client, file=file)
    return {name: build_contest(arena, name) for name in CompetitionFile(file).rounds}


def build_contest(arena: Arena, name: str) -> Contest:
    """Return a contest whose paths are those of a round."""
    return Contest(
        Arena(
            arena.client,
            arena.organizer_token,
            f"{arena.slug.partition('.')[0]}.{name}",
            arena.table,
            arena.team_tokens,
            arena.sessions,
        )
    )


def play_both_rounds(rounds: dict[str, Contest]) -> None:
    """Let three teams submit in the first round, and two of them and a new one in the final."""
    for name, teams in (("preliminary", ("red", "blue", "green")), ("final", ("red", "late", "blue"))):
        contest = rounds[name]
        contest.move_phases(anonymization=(-0.1, 1))
        run_clock()
        submissions = [contest.submit(team) for team in teams]
        contest.open_attacks()
        contest.submit_correct_guess(teams[1], submissions[0], 9 if name == "final" else 4)
        contest.submit_correct_guess(teams[2], submissions[1], 2)

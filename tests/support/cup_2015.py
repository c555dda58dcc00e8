"""A whole contest with many teams, played through the API with real releases, scores and guesses.

Teams combine the sample methods and improve from day to day. In the second phase they use the built-in
attackers. Only the times of releases and guesses are made up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
from fastapi.testclient import TestClient
from numpy.random import Generator
from sqlalchemy import select, update

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import replace_tables
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.attack_rates import LinkGuess
from anoncup.tracks.linkage.permutation import write_guess, write_secret
from anoncup.tracks.microdata.example import QUASI_IDENTIFIERS, generate_households
from anoncup.tracks.parts import BuiltInGuess
from app.core.db.models import Guess, Round
from app.core.db.transaction import transaction
from tests.support.arena import API, PASSWORD, Arena
from tests.support.contest import (
    Contest,
    build_two_phase_toml,
    judge_everything,
    run_clock,
    set_submission_times,
)
from tests.support.originals import make_original
from tests.support.standings import rebuild_standings
from tests.support.uploads import score_everything
from workers import tasks

SLUG, ROWS = "cup-2026", 300
TITLES = {"en": "Household cup 2026", "ja": "家計データ杯 2026"}
THRESHOLD = 0.2
"""Above the distance that honest methods need, below that of a cheat who permutes whole records."""
TRACK = TRACKS["microdata"]
DAY = timedelta(days=1)
FIRST_PHASE_DAYS, PAUSE_DAYS, SECOND_PHASE_DAYS = 14.0, 1.0, 10.0
"""Days that the phases and the pause between them last."""
OUR_TEAM = "データ忍者"
"""The team whose pages are shown."""
TEAMS = (
    OUR_TEAM, "Swap & Sons", "平均の会", "Mean Machine", "Серый шум", "霧の中", "Red Herrings",
    "名無しの権兵衛",
    "Quasi Modo", "ノイズ工房", "Nullspace", "Ανώνυμοι", "Bucket Brigade", "秘密結社モザイク", "Data Fog",
    "入れ替え屋本舗", "Shell Game", "Маскарад", "Team Laplace", "ぼかし職人", "Forget-me-now", "五人囃子",
    "Off by One", "多摩川プライバシー研究会", "Jane Doe et al.", "総当たり同好会", "Tiny Buckets",
    "Без имени", "Zürcher Mischer", "ゆらぎ", "Hide & Seek", "黒塗り委員会", "Crossed Out", "k 匿名の森",
    "Grey Noise", "仮名ちゃん", "Les Inconnus", "Ομίχλη", "Pseudonym Six", "差分の彼方", "山びこ研究室",
    "The Usual Suspects", "Less Is More", "チーム影武者", "Smoke & Mirrors", "雑音団", "Under the Rug",
    "みんな平均", "Anonymous & Co.", "京都マイクロデータ部", "Les Amis", "Шум и ярость", "まぜるな危険",
    "Team Kanagawa", "Odd One Out", "鏡の国の調査員", "Die Unsichtbaren", "Κρυφοί", "丸め誤差", "Sum of None",
)  # fmt: skip
ANNOUNCEMENT = {
    "en": "The last day: mark the release that is to stand for your team, or your best one will.",
    "ja": "最終日です。最終提出を選んでください。選ばないときは、最良の提出が使われます。",
}
QUESTION = {"groups": ["S1_Sex", "S1_Age"], "draws": 500}
METHOD_DESCRIPTION = (
    "職業などの列をそろえて同じ群を大きくし、その中で金額を平均しました。\n"
    "平均する割合は、攻撃者の再識別率を見ながら少しずつ上げています。"
)
ATTACKERS = (
    "sa_nearest", "id_sa", "sa_rank", "euc1", "gower", "euc2", "euc2_assignment", "aya", "gower_assignment",
)  # fmt: skip
"""The attackers that teams use, weakest first."""


@dataclass(frozen=True, slots=True)
class MethodUse:
    """A sample method and the share of rows that it is applied to."""

    method: str
    share: float = 1.0
    parameters: Mapping[str, object] = field(default_factory=dict)


MethodPlanner = Callable[[float, Generator], list[MethodUse]]
"""Returns the methods to use for an effort from 0 (none) to 1 (enough)."""


def plan_noise(effort: float, rng: Generator) -> list[MethodUse]:
    return [
        MethodUse("add_noise", parameters={"strength": 0.05 + 0.8 * effort}),
        choose_blending_method(0.2 + 0.5 * effort, rng),
    ]


def plan_classes(effort: float, rng: Generator) -> list[MethodUse]:
    return [
        MethodUse("k_anonymize", parameters={"k": 2 + int(6 * effort)}),
        choose_blending_method(0.25 + 0.7 * effort, rng),
    ]


def plan_columns(effort: float, rng: Generator) -> list[MethodUse]:
    unified_columns = QUASI_IDENTIFIERS[-(5 + int(rng.integers(0, 3))) :]
    return [
        MethodUse("unify_columns", parameters={"columns": unified_columns}),
        choose_blending_method(0.3 + 0.7 * effort, rng),
    ]


def plan_combined(effort: float, rng: Generator) -> list[MethodUse]:
    k_anonymity = MethodUse("k_anonymize", 0.3 + 0.4 * effort, {"k": 2})
    return [*plan_columns(effort, rng)[:1], k_anonymity, choose_blending_method(0.4 + 0.6 * effort, rng)]


def choose_blending_method(share: float, rng: Generator) -> MethodUse:
    """Return a method that averages or swaps numbers within classes."""
    return MethodUse(str(rng.choice(["microaggregate", "swap_within_classes"])), min(share, 1.0))


METHOD_PLANNERS: Sequence[MethodPlanner] = (
    plan_columns,
    plan_classes,
    plan_combined,
    plan_noise,
    plan_classes,
    plan_columns,
)
DETERMINISTIC_METHODS = [
    MethodUse("unify_columns", parameters={"columns": QUASI_IDENTIFIERS[-7:]}),
    MethodUse("microaggregate"),
]
"""Methods without randomness: teams that use them have the same point in the chart."""
CHEATING_METHODS = [MethodUse("group_permutation", parameters={"columns": QUASI_IDENTIFIERS[:2]})]


@dataclass
class PlayedCup:
    """A contest and the arrival time of each release, as a share of the first phase."""

    contest: Contest
    arrival_shares: dict[str, float] = field(default_factory=dict)

    @classmethod
    def create(cls, client: TestClient) -> "PlayedCup":
        """Create the contest on the last day of its first phase."""
        table = generate_households(ROWS, seed=2026)
        contest = Contest(
            Arena.create(client, slug=SLUG, file=build_rules_toml(), original={"original": write_csv(table)})
        )
        contest.arena.table = table
        cup, rng = cls(contest), np.random.default_rng(2026)
        sign_up_team(contest.arena, OUR_TEAM, "Hanako")
        for index, team in enumerate(TEAMS):
            for share, methods in plan_submissions(index, rng):
                cup.arrival_shares[submit_release(contest, team, methods, rng)] = share
        score_everything()
        cup.move_dates(days_since_start=13.0)
        contest.arena.post(f"/competitions/{SLUG}/announcements", json={"text": ANNOUNCEMENT})
        contest.arena.post(f"/competitions/{SLUG}/threshold-reports", json=QUESTION)
        tasks.advise()
        return cup

    def move_dates(self, *, days_since_start: float) -> None:
        """Let the first phase begin this many days ago, and set the times of the releases."""
        windows = (
            np.array(
                [
                    0,
                    FIRST_PHASE_DAYS,
                    FIRST_PHASE_DAYS + PAUSE_DAYS,
                    FIRST_PHASE_DAYS + PAUSE_DAYS + SECOND_PHASE_DAYS,
                ]
            )
            - days_since_start
        )
        first_window, second_window = (24 * windows).reshape(2, 2).tolist()
        self.contest.move_phases(anonymization=first_window, reidentification=second_window)
        start = datetime.now(UTC) - days_since_start * DAY
        for submission, share in self.arrival_shares.items():
            set_submission_times(submission, start + share * min(days_since_start, FIRST_PHASE_DAYS) * DAY)

    def play_attacks(self) -> None:
        """Play the second phase up to the end of its eighth day."""
        rng = np.random.default_rng(7)
        self.move_dates(days_since_start=FIRST_PHASE_DAYS + PAUSE_DAYS + 8)
        run_clock()
        published_at = datetime.now(UTC) - 8 * DAY
        with transaction() as session:
            session.execute(
                update(Round).values(frozen_at=published_at - PAUSE_DAYS * DAY, published_at=published_at)
            )
        for target in self.contest.arena.get(f"/competitions/{SLUG}/targets").json():
            built_in_guesses = run_attackers(self.contest.arena, target, rng)
            for index, team in enumerate(TEAMS):
                for guess in build_guesses(index, built_in_guesses, rng):
                    response = self.contest.submit_guess(team, target["id"], guess)
                    assert response.status_code in {202, 403}, response.text  # 403: the team's own
        judge_everything()
        spread_guess_times(published_at, 8 * DAY, rng)

    def close_cup(self) -> None:
        """Play to the reveal, and publish the method description of ``OUR_TEAM``."""
        self.move_dates(days_since_start=FIRST_PHASE_DAYS + PAUSE_DAYS + SECOND_PHASE_DAYS + 0.01)
        run_clock()
        arena = self.contest.arena
        arena.call(
            "PUT",
            f"/competitions/{SLUG}/team/method",
            team=OUR_TEAM,
            json={"method_description": METHOD_DESCRIPTION},
        )


def sign_up_team(arena: Arena, team: str, person: str) -> None:
    code = arena.post(f"/competitions/{SLUG}/invites", json={}).json()["code"]
    body = {"invite": code, "team": team, "name": person, "password": PASSWORD}
    arena.team_tokens[team] = arena.client.post(f"{API}/signup", json=body).json()["token"]


def build_rules_toml() -> str:
    """Return the rules of 2015 for a smaller table, with boards that show guesses at once."""
    text = template(2015).replace('slug = "cup-2015"', f'slug = "{SLUG}"').replace("finals = 2", "finals = 1")
    titles = ", ".join(f'{language} = "{title}"' for language, title in TITLES.items())
    lines = [f"title = {{ {titles} }}" if line.startswith("title") else line for line in text.splitlines()]
    text = replace_tables("\n".join(lines) + "\n", "excessive", f"[excessive]\nthreshold = {THRESHOLD}")
    publication = '[publication]\nfeedback = "immediate"\nreveal_notice_hours = 0'
    text = replace_tables(text, "publication", publication)
    phases = build_two_phase_toml().split("[[phases]]", 1)[1]
    return replace_tables(text, "phases", f"[[phases]]{phases}")


def plan_submissions(index: int, rng: Generator) -> list[tuple[float, list[MethodUse]]]:
    """Return the times, in shares of the phase, and the methods of a team's submissions."""
    plan_methods = METHOD_PLANNERS[index % len(METHOD_PLANNERS)]
    skill, entries = (0.93, 7) if TEAMS[index] == OUR_TEAM else (rng.beta(2.6, 1.4), int(rng.integers(2, 6)))
    times = sorted(rng.beta(1.6, 1.1, entries) * 0.97 + 0.01)
    efforts = np.linspace(0.1 * rng.random(), skill, entries) + 0.06 * rng.standard_normal(entries)
    submissions = [
        (time, plan_methods(float(np.clip(effort, 0, 1)), rng))
        for time, effort in zip(times, efforts, strict=True)
    ]
    if index % 16 == 7:
        submissions[0] = (submissions[0][0], CHEATING_METHODS)
    if index % 12 == 3:
        submissions[-1] = (submissions[-1][0], DETERMINISTIC_METHODS)
    return submissions


def submit_release(contest: Contest, team: str, methods: Sequence[MethodUse], rng: Generator) -> str:
    """Submit a release made with these methods. Return its identifier."""
    arena, rules = contest.arena, parse_competition(build_rules_toml())
    table, source = arena.table, np.arange(len(arena.table))
    for method_use in methods:
        anonymized, claims = TRACK.anonymize(
            TRACK.methods[method_use.method],
            make_original(table, rules),
            rules,
            rng,
            dict(method_use.parameters),
        )
        is_changed = rng.random(len(table)) < method_use.share
        table, source = anonymized.where(pd.Series(is_changed), table, axis=0), source[claims]
    table, source = TRACK.shuffle(table, source, rng=rng)
    files = {"anonymized": ("a.csv", write_csv(table)), "secret": ("s.csv", write_secret(source))}
    response = arena.post(f"/competitions/{SLUG}/submissions", team=team, files=files)
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def run_attackers(arena: Arena, target: Mapping[str, Any], rng: Generator) -> dict[str, IntArray]:
    """Return the guesses of the built-in attackers on a target, by attacker."""
    rules = parse_competition(build_rules_toml())
    data = arena.get(f"/targets/{target['id']}/data/anonymized.csv").content
    attack_view = TRACK.parse_target({"anonymized": data}, make_original(arena.table, rules), rules)
    guesses: dict[str, LinkGuess] = {
        name: TRACK.attackers[name].attack(attack_view, **rules.attacker_settings(name).parameters)
        for name in ATTACKERS
    }
    sent = {
        name: guess.sample(rng) if isinstance(guess, BuiltInGuess) else guess
        for name, guess in guesses.items()
    }
    return {name: guess for name, guess in sent.items() if guess is not None}


def build_guesses(index: int, built_in_guesses: Mapping[str, IntArray], rng: Generator) -> list[bytes]:
    """Return a team's guesses on a target. Weak teams rarely guess; strong ones use the best attackers."""
    strength = (0.85 + index * 0.618) % 1
    if rng.random() > 0.15 + 0.75 * strength:
        return []
    name = ATTACKERS[max(0, round(strength * (len(ATTACKERS) - 1)) - int(rng.integers(0, 3)))]
    abstains = rng.random(len(built_in_guesses[name])) > 0.6 + 0.4 * strength
    return [write_guess(np.where(abstains, -1, built_in_guesses[name]))]


def spread_guess_times(start: datetime, duration: timedelta, rng: Generator) -> None:
    """Spread the guesses' times over the phase and keep the order of each team's guesses."""
    with transaction() as session:
        guess_rows = session.scalars(select(Guess).order_by(Guess.team_id, Guess.received_at)).all()
        shares = rng.beta(1.2, 1.4, len(guess_rows))
        teams = [guess.team_id for guess in guess_rows]
        order = sorted(range(len(guess_rows)), key=lambda index: (str(teams[index]), shares[index]))
        for guess, index in zip(
            sorted(guess_rows, key=lambda guess: (str(guess.team_id), guess.received_at)), order, strict=True
        ):
            moment = start + shares[index] * duration
            guess.received_at = guess.created_at = moment
            guess.finished_at = moment + timedelta(seconds=2)
    rebuild_standings()

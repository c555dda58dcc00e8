"""A whole contest with many teams, played through the API: real releases, their scores, and real guesses.

Teams mix the sample methods, timidly at first and better from day to day; in the second phase they attack as
the built-in attackers do. Only when each release and guess came is made up: the contest took weeks.
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

from anoncup.competition.templates import template
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import with_tables
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import guess_csv, secret_csv
from anoncup.tracks.linkage.question import LINK
from anoncup.tracks.microdata.example import QUASI_IDENTIFIERS, household_table
from app.db.models import Competition, Guess
from app.db.transaction import transaction
from app.services.contests.contest import parsed
from tests.support.arena import API, PASSWORD, Arena
from tests.support.contest import Contest, dated, judge_everything, turn, two_phase_file
from tests.support.uploads import score_everything
from workers import advise

SLUG, ROWS = "cup-2026", 300
TITLES = {"en": "Household cup 2026", "ja": "家計データ杯 2026"}
THRESHOLD = 0.2
"""Of the distance: what the methods need, and less than that of a cheat, who keeps every cell."""
TRACK = TRACKS["microdata"]
DAY = timedelta(days=1)
FIRST, PAUSE, SECOND = 14.0, 1.0, 10.0
"""Days that the phases last, and the pause between them."""
OURS = "データ忍者"
"""The team whose pages are shown."""
TEAMS = (
    OURS, "Swap & Sons", "平均の会", "Mean Machine", "Серый шум", "霧の中", "Red Herrings", "名無しの権兵衛",
    "Quasi Modo", "ノイズ工房", "Nullspace", "Ανώνυμοι", "Bucket Brigade", "秘密結社モザイク", "Data Fog",
    "入れ替え屋本舗", "Shell Game", "Маскарад", "Team Laplace", "ぼかし職人", "Forget-me-now", "五人囃子",
    "Off by One", "多摩川プライバシー研究会", "Jane Doe et al.", "総当たり同好会", "Tiny Buckets",
    "Без имени", "Zürcher Mischer", "ゆらぎ", "Hide & Seek", "黒塗り委員会", "Crossed Out", "k 匿名の森",
    "Grey Noise", "仮名ちゃん", "Les Inconnus", "Ομίχλη", "Pseudonym Six", "差分の彼方", "山びこ研究室",
    "The Usual Suspects", "Less Is More", "チーム影武者", "Smoke & Mirrors", "雑音団", "Under the Rug",
    "みんな平均", "Anonymous & Co.", "京都マイクロデータ部", "Les Amis", "Шум и ярость", "まぜるな危険",
    "Team Kanagawa", "Odd One Out", "鏡の国の調査員", "Die Unsichtbaren", "Κρυφοί", "丸め誤差", "Sum of None",
)  # fmt: skip
LAST_DAY = {
    "en": "The last day: mark the release that is to stand for your team, or your best one will.",
    "ja": "最終日です。最終提出を選んでください。選ばないときは、最良の提出が使われます。",
}
QUESTION = {"groups": ["S1_Sex", "S1_Age"], "draws": 500}
TOLD = (
    "職業などの列をそろえて同じ群を大きくし、その中で金額を平均しました。\n"
    "平均する割合は、攻撃者の再識別率を見ながら少しずつ上げています。"
)
ATTACKS = (
    "sa_nearest", "id_sa", "sa_rank", "euc1", "gower", "euc2", "euc2_assignment", "aya", "gower_assignment",
)  # fmt: skip
"""What the teams attack with, the weakest first."""


@dataclass(frozen=True, slots=True)
class Move:
    """A sample method, and of the table the share of rows that it is used on."""

    method: str
    share: float = 1.0
    parameters: Mapping[str, object] = field(default_factory=dict)


Style = Callable[[float, Generator], list[Move]]
"""The moves of a way to anonymize, from no effort (0) to all that is needed (1)."""


def noise(effort: float, rng: Generator) -> list[Move]:
    return [Move("add_noise", parameters={"strength": 0.05 + 0.8 * effort}), blended(0.2 + 0.5 * effort, rng)]


def classes(effort: float, rng: Generator) -> list[Move]:
    return [Move("k_anonymize", parameters={"k": 2 + int(6 * effort)}), blended(0.25 + 0.7 * effort, rng)]


def columns(effort: float, rng: Generator) -> list[Move]:
    last = QUASI_IDENTIFIERS[-(5 + int(rng.integers(0, 3))) :]
    return [Move("unify_columns", parameters={"columns": last}), blended(0.3 + 0.7 * effort, rng)]


def both(effort: float, rng: Generator) -> list[Move]:
    k = Move("k_anonymize", 0.3 + 0.4 * effort, {"k": 2})
    return [*columns(effort, rng)[:1], k, blended(0.4 + 0.6 * effort, rng)]


def blended(share: float, rng: Generator) -> Move:
    """Numbers of the same class averaged, or exchanged."""
    return Move(str(rng.choice(["microaggregate", "swap_within_classes"])), min(share, 1.0))


STYLES: Sequence[Style] = (columns, classes, both, noise, classes, columns)
EVERYTHING = [Move("unify_columns", parameters={"columns": QUASI_IDENTIFIERS[-7:]}), Move("microaggregate")]
"""Draws no lots: teams that find it share a point."""
CHEAT = [Move("group_permutation", parameters={"columns": QUASI_IDENTIFIERS[:2]})]


@dataclass
class Cup:
    """``sent``: when each release came, in shares of the first phase."""

    contest: Contest
    sent: dict[str, float] = field(default_factory=dict)

    @classmethod
    def opened(cls, client: TestClient) -> "Cup":
        """In its first phase, when all but its last day is over."""
        table = household_table(ROWS, seed=2026)
        contest = Contest(
            Arena.opened(client, slug=SLUG, file=file(), original={"original": table_csv(table)})
        )
        contest.arena.table = table
        cup, rng = cls(contest), np.random.default_rng(2026)
        signed_up(contest.arena, OURS, "Hanako")
        for place, team in enumerate(TEAMS):
            for share, moves in plan(place, rng):
                cup.sent[released(contest, team, moves, rng)] = share
        score_everything()
        cup.date(begun=13.0)
        contest.arena.post(f"/competitions/{SLUG}/announcements", json={"text": LAST_DAY})
        report = contest.arena.post(f"/competitions/{SLUG}/threshold-reports", json=QUESTION).json()["id"]
        advise.advise(report)
        return cup

    def date(self, *, begun: float) -> None:
        """The first phase began so many days ago, and the releases came in it."""
        windows = np.array([0, FIRST, FIRST + PAUSE, FIRST + PAUSE + SECOND]) - begun
        first, second = (24 * windows).reshape(2, 2).tolist()
        self.contest.move(anonymization=first, reidentification=second)
        start = datetime.now(UTC) - begun * DAY
        for submission, share in self.sent.items():
            dated(submission, start + share * min(begun, FIRST) * DAY)

    def attack(self) -> None:
        """Into the second phase, and to the end of its eighth day."""
        rng = np.random.default_rng(7)
        self.date(begun=FIRST + PAUSE + 8)
        turn()
        published = datetime.now(UTC) - 8 * DAY
        with transaction() as session:
            session.execute(
                update(Competition).values(frozen_at=published - PAUSE * DAY, published_at=published)
            )
        for target in self.contest.arena.get(f"/competitions/{SLUG}/targets").json():
            said = answers(self.contest.arena, target, rng)
            for place, team in enumerate(TEAMS):
                for guess in guesses(place, said, rng):
                    answer = self.contest.guess(team, target["id"], guess)
                    assert answer.status_code in {202, 403}, answer.text  # 403: the team's own
        judge_everything()
        spread(published, 8 * DAY, rng)

    def close(self) -> None:
        """To the end, where everything is revealed, and our team tells how it did it."""
        self.date(begun=FIRST + PAUSE + SECOND + 0.01)
        turn()
        arena = self.contest.arena
        arena.call(
            "PUT", f"/competitions/{SLUG}/team/approach", token=arena.team(OURS), json={"approach": TOLD}
        )


def signed_up(arena: Arena, team: str, person: str) -> None:
    code = arena.post(f"/competitions/{SLUG}/invites", json={}).json()["code"]
    body = {"invite": code, "team": team, "name": person, "password": PASSWORD}
    arena.tokens[team] = arena.client.post(f"{API}/signup", json=body).json()["token"]


def file() -> str:
    """The rules of 2015 on a smaller table, with boards that show guesses at once."""
    text = template(2015).replace('slug = "cup-2015"', f'slug = "{SLUG}"').replace("finals = 2", "finals = 1")
    titles = ", ".join(f'{language} = "{title}"' for language, title in TITLES.items())
    lines = [f"title = {{ {titles} }}" if line.startswith("title") else line for line in text.splitlines()]
    text = with_tables("\n".join(lines) + "\n", "excessive", f"[excessive]\nthreshold = {THRESHOLD}")
    shown = '[publication]\nfeedback = "immediate"\nreveal_notice_hours = 0'
    text = with_tables(text, "publication", shown)
    phases = two_phase_file().split("[[phases]]", 1)[1]
    return with_tables(text, "phases", f"[[phases]]{phases}")


def plan(place: int, rng: Generator) -> list[tuple[float, list[Move]]]:
    """When a team sends what, in shares of the phase."""
    style = STYLES[place % len(STYLES)]
    skill, entries = (0.93, 7) if TEAMS[place] == OURS else (rng.beta(2.6, 1.4), int(rng.integers(2, 6)))
    times = sorted(rng.beta(1.6, 1.1, entries) * 0.97 + 0.01)
    efforts = np.linspace(0.1 * rng.random(), skill, entries) + 0.06 * rng.standard_normal(entries)
    sent = [(at, style(float(np.clip(one, 0, 1)), rng)) for at, one in zip(times, efforts, strict=True)]
    if place % 16 == 7:
        sent[0] = (sent[0][0], CHEAT)
    if place % 12 == 3:
        sent[-1] = (sent[-1][0], EVERYTHING)
    return sent


def released(contest: Contest, team: str, moves: Sequence[Move], rng: Generator) -> str:
    """The identifier of the team's new submission."""
    arena, rules = contest.arena, parsed(file())
    table, source = arena.table, np.arange(len(arena.table))
    for move in moves:
        made, claims = TRACK.anonymize(TRACK.methods[move.method], table, rules, rng, dict(move.parameters))
        chosen = rng.random(len(table)) < move.share
        table, source = made.where(pd.Series(chosen), table, axis=0), source[claims]
    table, source = TRACK.shuffle(table, source, rng=rng)
    files = {"anonymized": ("a.csv", table_csv(table)), "secret": ("s.csv", secret_csv(source))}
    answer = arena.post(f"/competitions/{SLUG}/submissions", token=arena.team(team), files=files)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def answers(arena: Arena, target: Mapping[str, Any], rng: Generator) -> dict[str, IntArray]:
    """What the built-in attackers say of a target, by name."""
    rules = parsed(file())
    data = arena.get(f"/targets/{target['id']}/data/anonymized.csv").content
    seen = TRACK.target_of(
        TRACK.prepare(arena.table, rules), TRACK.read_target({"anonymized": data}, arena.table, rules)
    )
    said = {name: TRACK.attackers[name].attack(seen, **rules.attacker(name).parameters) for name in ATTACKS}
    found = {name: LINK.guess_of(one, rng) for name, one in said.items()}
    return {name: guess for name, guess in found.items() if guess is not None}


def guesses(place: int, said: Mapping[str, IntArray], rng: Generator) -> list[bytes]:
    """What a team sends: some few and timid guesses, others those of the best attackers on most targets."""
    strength = (0.85 + place * 0.618) % 1
    if rng.random() > 0.15 + 0.75 * strength:
        return []
    name = ATTACKS[max(0, round(strength * (len(ATTACKS) - 1)) - int(rng.integers(0, 3)))]
    abstains = rng.random(len(said[name])) > 0.6 + 0.4 * strength
    return [guess_csv(np.where(abstains, -1, said[name]))]


def spread(start: datetime, lasted: timedelta, rng: Generator) -> None:
    """Let the guesses have come while the phase lasted, each team's in their order."""
    with transaction() as session:
        sent = session.scalars(select(Guess).order_by(Guess.team_id, Guess.received_at)).all()
        shares = rng.beta(1.2, 1.4, len(sent))
        teams = [one.team_id for one in sent]
        order = sorted(range(len(sent)), key=lambda at: (str(teams[at]), shares[at]))
        for one, at in zip(
            sorted(sent, key=lambda one: (str(one.team_id), one.received_at)), order, strict=True
        ):
            moment = start + shares[at] * lasted
            one.received_at = one.created_at = moment
            one.finished_at = moment + timedelta(seconds=2)

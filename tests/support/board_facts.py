"""The boards a second time: plain Python over a list of facts, as slow and as obvious as can be."""

import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

ORGANIZER = "(organizer)"
VISITOR = "(visitor)"
NEVER = datetime.max.replace(tzinfo=UTC)
ZONE = ZoneInfo("Asia/Tokyo")
WEIGHING = ("mean_mae", "cross_count", "information_loss")
ROUNDING = {"mean_mae": 1e-3}
"""In data units: not 1e-9, as for the others."""


@dataclass
class Judged:
    """One scoring of a submission, as it ended. ``since``: from when on it is the one that counts."""

    since: datetime
    ended: datetime
    state: str
    measures: dict[str, float]
    attackers: dict[str, float]
    utility: float
    security: float


@dataclass
class Sent:
    """A submission. ``judged``: in the order in which they came to count; ``target``: if it became one."""

    id: str
    team: str
    at: datetime
    judged: list[Judged]
    marked: bool = False
    barred: bool = False
    target: str | None = None

    @property
    def now(self) -> Judged:
        return self.judged[-1]

    @property
    def state(self) -> str:
        return self.now.state

    def seen_at(self, moment: datetime) -> Judged | None:
        """What one saw of it just before the moment."""
        counted = [judged for judged in self.judged if judged.since < moment]
        return counted[-1] if counted and counted[-1].ended < moment else None


@dataclass
class Guessed:
    team: str
    victim: Sent
    at: datetime
    ended: datetime
    state: str
    correct: int


DIGITS = {"overall": 4, "utility": 2, "security": 2}


@dataclass
class Facts:
    """A contest as it stands; ``teams`` in the order in which they were founded."""

    teams: list[str]
    rule: str
    feedback: str
    finals: int
    frozen_from: datetime | None
    rows: int
    attackers: tuple[str, ...]
    sent: list[Sent] = field(default_factory=list)
    guessed: list[Guessed] = field(default_factory=list)
    barred: set[str] = field(default_factory=set)
    published_at: datetime | None = None
    closed: bool = False
    revealed: bool = False
    weighing: list[tuple[datetime, tuple[str, ...]]] = field(
        default_factory=lambda: [(datetime.min.replace(tzinfo=UTC), WEIGHING)]
    )
    """The measures that weigh, and since when."""

    def weighing_for(self, viewer: str) -> tuple[str, ...]:
        return [names for since, names in self.weighing if since < self.cut(viewer)][-1]

    def cut(self, viewer: str) -> datetime:
        """What happened from then on is not seen."""
        frozen = self.frozen_from
        if frozen is None or frozen > datetime.now(UTC) or self.closed or viewer == ORGANIZER:
            return NEVER
        return frozen

    def shows_finals(self, viewer: str) -> bool:
        return self.published_at is not None and self.published_at < self.cut(viewer)

    def shown(self, viewer: str, line: dict[str, Any]) -> dict[str, Any]:
        """A row's scores as everybody but the organizers sees them before the reveal."""
        if self.revealed or viewer == ORGANIZER or line["overall"] is None:
            return line
        coarse = {name: round(line[name], digits) for name, digits in DIGITS.items()}
        return line | coarse | {"rivals": None, "rank_sum": None, "measures": {}, "attackers": {}}

    def line_for(self, viewer: str, line: dict[str, Any]) -> dict[str, Any]:
        return line if line["own"] else self.shown(viewer, line)

    def visible_guesses(self, viewer: str) -> list[Guessed]:
        return [guess for guess in self.guessed if self.sees(viewer, guess) and self.counts(viewer, guess)]

    def sees(self, viewer: str, guess: Guessed) -> bool:
        if guess.at >= self.cut(viewer):
            return False
        if viewer == ORGANIZER or self.closed or self.feedback == "immediate":
            return True
        moment = min(datetime.now(ZONE), self.cut(viewer)).astimezone(ZONE)
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return self.feedback == "daily" and guess.at < midnight

    def counts(self, viewer: str, guess: Guessed) -> bool:
        judged = guess.state == "SCORED" and guess.ended < self.cut(viewer)
        return judged and guess.team not in self.barred and self.is_target(guess.victim, viewer)

    def is_target(self, sent: Sent, viewer: str = ORGANIZER) -> bool:
        barred = sent.barred or sent.team in self.barred
        judged = sent.seen_at(self.cut(viewer))
        return sent.target is not None and judged is not None and judged.state == "SCORED" and not barred

    def chosen_finals(self) -> list[Sent]:
        found = []
        for team in self.teams:
            valid = [sent for sent in self.sent if sent.team == team and sent.state == "SCORED"]
            marked = [sent for sent in valid if sent.marked]
            unmarked = [sent for sent in valid if not sent.barred]
            best = sorted(
                marked or unmarked, key=lambda one: (one.now.utility + one.now.security, one.at, one.id)
            )
            found += best[: self.finals]
        return found


def anonymization(facts: Facts, viewer: str) -> list[dict[str, Any]]:
    lines = []
    for team in facts.teams:
        line = anonymization_line(facts, viewer, team)
        if line is not None:
            lines.append(line)
    accepted = [line for line in lines if line["overall"] is not None]
    for line in accepted:
        if facts.rule == "rank_sum":
            compared = [*facts.weighing_for(viewer), "security"]
            line["rank_sum"] = float(sum(place_among_measured(line, accepted, name) for name in compared))
    score = "rank_sum" if facts.rule == "rank_sum" else "overall"
    for line in accepted:
        line["rank"] = place(line, accepted, score)
        line["on_front"] = not any(
            beats(facts.shown(viewer, other), facts.shown(viewer, line)) for other in accepted
        )
    accepted.sort(key=lambda line: (line[score], line["at"], line["id"]))
    others = sorted(
        (line for line in lines if line["overall"] is None), key=lambda one: (one["at"], one["id"])
    )
    return [without_keys(facts.line_for(viewer, line)) for line in (*accepted, *others)]


def anonymization_line(facts: Facts, viewer: str, team: str) -> dict[str, Any] | None:
    if team in facts.barred:
        return None
    found = [sent for sent in facts.sent if sent.team == team and not sent.barred]
    verdicts = {sent.id: sent.seen_at(facts.cut(viewer)) for sent in found}
    judged = {name: one for name, one in verdicts.items() if one and one.state in ("SCORED", "REJECTED")}
    seen = [sent for sent in found if sent.id in judged]
    if not seen:
        return None
    line: dict[str, Any] = {
        "rank": None,
        "team": team,
        "own": viewer == team,
        "baseline": False,
        "entries": len(seen),
    }
    line |= dict.fromkeys(("overall", "utility", "security", "rivals", "rank_sum", "received_at"))
    line |= {"on_front": False, "baseline": False, "measures": {}, "attackers": {}}
    standing = [sent for sent in seen if judged[sent.id].state == "SCORED"]
    if facts.shows_finals(viewer):
        standing = [sent for sent in standing if sent.target is not None]
    if not standing:
        first = min(seen, key=lambda sent: (sent.at, sent.id))
        return line | {"at": first.at, "id": first.id}
    rivals = {sent.id: against(facts, viewer, sent) for sent in standing}
    losses = {sent.id: max(judged[sent.id].security, rivals[sent.id] or 0.0) for sent in standing}
    overall = {sent.id: (judged[sent.id].utility + losses[sent.id]) / 2 for sent in standing}
    best = min(standing, key=lambda sent: (overall[sent.id], sent.at, sent.id))
    return line | {
        "at": best.at,
        "id": best.id,
        "utility": judged[best.id].utility,
        "security": losses[best.id],
        "overall": overall[best.id],
        "rivals": rivals[best.id],
        "received_at": best.at.astimezone(UTC),
        "measures": judged[best.id].measures,
        "attackers": judged[best.id].attackers,
    }


def against(facts: Facts, viewer: str, sent: Sent) -> float | None:
    hits = [guess.correct for guess in facts.visible_guesses(viewer) if guess.victim is sent]
    return max(hits) / facts.rows if hits else None


def place(line: dict[str, Any], lines: list[dict[str, Any]], name: str) -> int:
    """One more than there are better ones."""

    def value(one: dict[str, Any]) -> float:
        return float(one["measures"][name] if name in WEIGHING else one[name])

    return 1 + sum(value(other) < value(line) for other in lines)


def place_among_measured(line: dict[str, Any], lines: list[dict[str, Any]], name: str) -> int:
    """The same where less than ``tiny`` tells no values apart: those drawn lie either nearer or far wider."""
    tiny = ROUNDING.get(name, 1e-9)

    def value(one: dict[str, Any]) -> float:
        return float(one["measures"][name] if name in WEIGHING else one[name])

    return 1 + sum(value(line) - value(other) >= tiny for other in lines)


def beats(other: dict[str, Any], line: dict[str, Any]) -> bool:
    mine, its = ((one["utility"], one["security"]) for one in (line, other))
    return its != mine and its[0] <= mine[0] and its[1] <= mine[1]


def without_keys(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in ("at", "id")}


def reidentification(facts: Facts, viewer: str) -> list[dict[str, Any]]:
    lines = []
    for team in facts.teams:
        if team in facts.barred:
            continue
        line: dict[str, Any] = {"rank": None, "team": team, "own": viewer == team, "first": None}
        line |= dict.fromkeys(("identified", "tried", "rate", "targets"))
        mine = [guess for guess in facts.visible_guesses(viewer) if guess.team == team]
        if mine:
            victims = {guess.victim.id for guess in mine}
            hits = [max(guess.correct for guess in mine if guess.victim.id == one) for one in victims]
            tried = facts.rows * len(victims)
            line |= {"identified": sum(hits), "tried": tried, "targets": len(victims)}
            line |= {"rate": sum(hits) / tried, "first": min(guess.at for guess in mine)}
        lines.append(line)
    attackers = [line for line in lines if line["identified"] is not None]
    for line in attackers:
        line["rank"] = 1 + sum(other["identified"] > line["identified"] for other in attackers)
    attackers.sort(key=lambda line: (-line["identified"], line["first"], facts.teams.index(line["team"])))
    listed = attackers + [line for line in lines if line["identified"] is None]
    return [{name: value for name, value in line.items() if name != "first"} for line in listed]


def matrix(facts: Facts, viewer: str) -> dict[str, Any]:
    """Columns and rows."""
    targets = [sent for sent in facts.sent if facts.is_target(sent, viewer)]
    shown = sorted(targets, key=lambda sent: str(sent.target))
    if not facts.shows_finals(viewer):
        shown = []
    columns = [
        {
            "target": sent.target,
            "rows": facts.rows,
            "own": sent.team == viewer,
            "team": sent.team,
        }
        for sent in shown
    ]
    guesses = facts.visible_guesses(viewer)
    attackers = sorted({guess.team for guess in guesses}, key=key_of)
    rows = [
        {
            "attacker": team,
            "built_in": False,
            "own": team == viewer,
            "cells": [
                cell(facts, [g for g in guesses if g.team == team and g.victim is one]) for one in shown
            ],
        }
        for team in attackers
    ]
    names = facts.attackers if viewer == ORGANIZER or facts.revealed else ()
    return {"targets": columns, "rows": [*rows, *(built_in(facts, name, shown) for name in names)]}


def cell(facts: Facts, tried: list[Guessed]) -> dict[str, Any] | None:
    if not tried:
        return None
    most = max(guess.correct for guess in tried)
    return {"correct": most, "rate": most / facts.rows, "trials": len(tried)}


def built_in(facts: Facts, name: str, shown: list[Sent]) -> dict[str, Any]:
    cells = [
        {"correct": sent.now.attackers[name] * facts.rows, "rate": sent.now.attackers[name], "trials": 1}
        for sent in shown
    ]
    return {"attacker": name, "built_in": True, "own": False, "cells": cells}


def key_of(team: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", team).casefold())


def hours(number: float) -> timedelta:
    return timedelta(hours=number)

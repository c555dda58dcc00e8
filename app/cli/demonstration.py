"""The demo: a competition of each track, a release per sample method, all through the public API.

A process of its own beside the service, and as patient: however busy the machine is, it goes on.
"""

import json
import logging
import math
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from app import client, wire
from app.cli import duel
from app.roles import Role
from app.scoring.competition_file import parse_competition
from app.scoring.data import tc400
from app.scoring.excessive.advisor import advise
from app.scoring.registry import Tables
from app.scoring.synthetic import household_table
from app.scoring.templates import template
from app.scoring.toml_text import with_tables
from app.scoring.tracks import TRACKS
from app.services.people import accounts
from app.transaction import transaction

logger = logging.getLogger(__name__)

ORGANIZER = "demo organizer"
Client = partial(client.Client, timeout_s=3600)


@dataclass(frozen=True, slots=True)
class Entry:
    """One team of a demo and the sample method that it uses."""

    team: str
    method: str
    parameters: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Demo:
    """One competition: a year's template on data of ours. ``groups``: what cheats may keep. ``duel``: it is
    taken into its second phase, where every team attacks the others."""

    slug: str
    year: int
    titles: tuple[str, str]
    tables: Callable[[], Tables]
    groups: tuple[str, ...]
    entries: tuple[Entry, ...]
    duel: bool = False


DEMOS = (
    Demo(
        slug="demo",
        year=2015,
        titles=("Demo cup: households", "デモ杯：家計"),
        tables=lambda: household_table(seed=2015),
        groups=("S1_Sex", "S1_Age"),
        entries=(
            Entry("Team K", "k_anonymize", {"k": 3}),
            Entry("ノイズ工房", "add_noise"),
            Entry("Crossed out", "unify_columns", {"columns": ["Kouzou"]}),
            Entry("Off the books", "unify_columns", {"columns": ["S1_KigyouKubun"]}),
            Entry("平均の会", "microaggregate"),
            Entry("Swap & Sons", "swap_within_classes"),
            Entry("Less is more", "delete_rows", {"share": 0.01}),
            Entry("Yamaoka tribute", "cheating_permutation"),
        ),
    ),
    Demo(
        slug="demo-shop",
        year=2016,
        titles=("Demo cup: purchases", "デモ杯：購買履歴"),
        tables=tc400,
        groups=("sex", "country"),
        entries=(
            Entry("Basket weavers", "balance_clusters", {"clusters": 60, "smallest": 4}),
            Entry("五十の束", "cluster_tfidf", {"clusters": 50}),
            Entry("Lost receipts", "delete_records", {"share": 0.3}),
            Entry("Neighbours", "group_permutation"),
        ),
    ),
    Demo(
        slug="demo-duel",
        year=2015,
        titles=("Demo cup: attack!", "デモ杯：攻撃フェーズ"),
        tables=lambda: household_table(400, seed=2016),
        groups=("S1_Sex", "S1_Age"),
        entries=(
            Entry("Red herrings", "k_anonymize", {"k": 4}),
            Entry("雑音団", "add_noise"),
            Entry("Mean machine", "microaggregate"),
            Entry("Shell game", "swap_within_classes"),
        ),
        duel=True,
    ),
)


def play(url: str, data: Path) -> None:
    """Bring the demos to their end, from wherever an earlier run left them, and print their boards."""
    notes = Notes(data / "demo.json")
    logger.info("creating accounts")
    organizer = organizer_token(url, notes)
    for number, demo in enumerate(DEMOS):
        logger.info("creating the competition %s", demo.slug)
        tables = original(url, organizer, demo)
        with Client(url, organizer, password=lambda: notes.password(ORGANIZER)) as client:
            invite = client.invite(demo.slug, uses=len(demo.entries))
        for place, entry in enumerate(demo.entries):
            logger.info("sending release %d of %d", place + 1, len(demo.entries))
            rng = np.random.default_rng([demo.year, number, place])
            take_part(url, notes, invite, demo, entry, tables=tables, rng=rng)
    for demo in DEMOS:
        bring_to_its_end(url, demo, notes)
    print(f"accounts and tokens of the demo: {notes.path}")


def bring_to_its_end(url: str, demo: Demo, notes: "Notes") -> None:
    """Wait for the scores, play the second phase if there is one, and print the boards."""
    endings, tokens = {}, notes.content["tokens"]
    for place, entry in enumerate(demo.entries):
        endings[entry.team] = ending(url, tokens[entry.team], demo.slug)
        logger.info("%s: scored %d of %d", demo.slug, place + 1, len(demo.entries))
    if demo.duel:
        own = {entry.team: tokens[entry.team] for entry in demo.entries}
        duel.play(
            url,
            demo.slug,
            demo.tables(),
            organizer=tokens[ORGANIZER],
            password=notes.password(ORGANIZER),
            tokens=own,
        )
    with Client(url, tokens[ORGANIZER]) as client:
        show(client.board(demo.slug), endings)
        if demo.duel:
            show_attackers(client.attackers(demo.slug))


class Notes:
    """What the demo must remember between runs, in a file only its owner can read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, dict[str, str]] = {"passwords": {}, "tokens": {}}
        if path.exists():
            self.content = json.loads(path.read_text())

    def keep(self, kind: str, name: str, value: str) -> str:
        self.content[kind][name] = value
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(self.content, file, indent=2, ensure_ascii=False)
        return value

    def password(self, name: str) -> str:
        known = self.content["passwords"].get(name)
        return known or self.keep("passwords", name, secrets.token_urlsafe(12))


def organizer_token(url: str, notes: Notes) -> str:
    """An organizer as an administrator's command makes one, signed in."""
    known = notes.content["tokens"].get(ORGANIZER)
    if known:
        return known
    with transaction() as session:
        accounts.create_user(session, name=ORGANIZER, password=notes.password(ORGANIZER), role=Role.ORGANIZER)
    with Client(url) as client:
        return notes.keep("tokens", ORGANIZER, client.token(ORGANIZER, notes.password(ORGANIZER)))


def original(url: str, organizer: str, demo: Demo) -> Tables:
    """The competition's data; competition and data are created and uploaded unless they are there."""
    tables = demo.tables()
    track = TRACKS[parse_competition(template(demo.year)).track]
    with Client(url, organizer) as client:
        if demo.slug not in {one.slug for one in client.competitions()}:
            client.create_competition(competition_file(demo, advised_threshold(demo, tables)))
        if client.competition(demo.slug).original_rows is None:
            contents = track.files_of(tables).values()
            for name, content in zip(track.original_files, contents, strict=True):
                client.put_original(demo.slug, content, file=f"{name}.csv")
    return tables


def advised_threshold(demo: Demo, tables: Tables) -> float:
    """What the advisor recommends against permutations, also inside the groups."""
    rules = parse_competition(template(demo.year))
    track = TRACKS[rules.track]
    prepared = track.prepare(tables, rules)
    distance, groups = track.distances[rules.against_excess.distance], track.groups(prepared, demo.groups)
    threshold = advise(prepared, distance, groups, draws=0).threshold
    assert threshold is not None  # noqa: S101  # the data of the demo leave room
    return threshold


def competition_file(demo: Demo, threshold: float) -> str:
    """The year's template, open now, with a threshold between what is enough and what is too much."""
    now = datetime.now(UTC).replace(microsecond=0)
    rules = parse_competition(template(demo.year))
    text = template(demo.year).replace(f'slug = "{rules.slug}"', f'slug = "{demo.slug}"')
    for language, title in zip(("en", "ja"), demo.titles, strict=True):
        text = text.replace(rules.title[language], title)
    distance = rules.against_excess.distance
    text = with_tables(text, "excessive", f'[excessive]\ndistance = "{distance}"\nthreshold = {threshold!r}')
    # The second phase of a duel begins as soon as the first is ended.
    windows = (("anonymization", 0, 30), ("reidentification", 30 if demo.duel else 31, 60))
    phases = [
        f'[[phases]]\nname = "{name}"\nstart = {(now + timedelta(days=first)).isoformat()}\n'
        f"end = {(now + timedelta(days=last)).isoformat()}"
        for name, first, last in windows
    ]
    if demo.duel:
        text = with_tables(text, "publication", '[publication]\nfeedback = "immediate"')
    return with_tables(text, "phases", "\n\n".join(phases))


def take_part(
    url: str,
    notes: Notes,
    invite: str,
    demo: Demo,
    entry: Entry,
    *,
    tables: Tables,
    rng: np.random.Generator,
) -> None:
    """Sign the team up and submit its release, unless it has."""
    token = notes.content["tokens"].get(entry.team) or signed_up(url, notes, invite, entry)
    with Client(url, token) as client:
        if client.submissions(demo.slug):
            return
        rules = parse_competition(template(demo.year))
        track = TRACKS[rules.track]
        made = track.anonymize(track.methods[entry.method], tables, rules, rng, entry.parameters)
        released, source = track.shuffle(*made, rng=rng)
        comment = f"{entry.method} {entry.parameters or ''}".strip()
        client.submit(
            demo.slug, track.files_of(released), secret=track.answers.write(source), comment=comment
        )


def signed_up(url: str, notes: Notes, invite: str, entry: Entry) -> str:
    person = f"member of {entry.team}"
    with Client(url) as client:
        token = client.sign_up(invite=invite, team=entry.team, name=person, password=notes.password(person))
    return notes.keep("tokens", entry.team, token)


def ending(url: str, token: str, slug: str) -> str:
    """How the team's latest submission ended, once it has."""
    with Client(url, token) as client:
        latest = str(client.submissions(slug)[0].id)
        found = client.wait(latest, timeout_s=math.inf, patience_s=math.inf)
    reasons = [violation.code for violation in found.result.violations] if found.result else []
    return ": ".join([found.status, *reasons])


def show(board: wire.Board, endings: dict[str, str]) -> None:
    table = Table("rank", "team", "overall", "utility loss", "risk", "ended as")
    table.title = f"{board.title['en']} (0 is best)"
    for row in board.rows:
        scores = (row.overall, row.utility, row.security)
        numbers = ["–" if score is None else f"{score:.4f}" for score in scores]
        table.add_row(str(row.rank or "–"), row.team, *numbers, endings.get(row.team, ""))
    Console(width=110).print(table)


def show_attackers(board: wire.AttackersBoard) -> None:
    table = Table("rank", "team", "identified", "tried", "rate", "targets")
    table.title = f"{board.title['en']} (records identified)"
    for row in board.rows:
        if row.rank is not None:
            counts = [str(one) for one in (row.identified, row.tried)]
            table.add_row(str(row.rank), row.team, *counts, f"{row.rate:.4f}", str(row.targets))
    Console(width=110).print(table)

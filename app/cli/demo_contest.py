"""The demo: a competition of each track, a release per sample method, all through the public API.

A process of its own beside the service, and as patient: however busy the machine is, it goes on.
"""

import json
import logging
import math
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from anoncup import client, schemas
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.toml_text import with_tables
from anoncup.schemas.roles import Role
from anoncup.tracks.microdata.example import QUASI_IDENTIFIERS, household_table
from anoncup.tracks.model import Tables
from anoncup.tracks.transactions.example import tc400
from app.cli import demo_attacks
from app.db.transaction import transaction
from app.services.accounts import accounts

logger = logging.getLogger(__name__)

ORGANIZER = "demo organizer"
Client = partial(client.Client, timeout_s=3600)


Step = tuple[str, Mapping[str, object]]
"""A sample method and its parameters."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A team of a demo and the sample methods that it applies, one after the other."""

    team: str
    steps: tuple[Step, ...]

    @property
    def member(self) -> str:
        return f"member of {self.team}"

    @property
    def comment(self) -> str:
        return ", then ".join(
            f"{method} {dict(parameters) or ''}".strip() for method, parameters in self.steps
        )


@dataclass(frozen=True, slots=True)
class Demo:
    """A contest by the template of a year, on our own data.

    ``threshold`` lies between the distances of the honest releases and those of the cheat. ``duel``: the
    contest goes on to its second phase, where every team attacks the others. ``unrealistic``: attackers
    that know more than this contest assumes; they are reported but not counted.
    """

    slug: str
    year: int
    titles: tuple[str, str]
    tables: Callable[[], Tables]
    threshold: float
    entries: tuple[Entry, ...]
    unrealistic: tuple[str, ...] = ()
    duel: bool = False


def unify(number: int) -> Step:
    """Give the last ``number`` quasi-identifiers one value each."""
    return "unify_columns", {"columns": QUASI_IDENTIFIERS[-number:]}


DEMOS = (
    Demo(
        slug="demo",
        year=2015,
        titles=("Demo cup: households", "デモ杯：家計"),
        tables=lambda: household_table(seed=2015),
        threshold=0.2,
        entries=(
            Entry("Team K", (("k_anonymize", {"k": 5}), ("microaggregate", {}))),
            Entry("ノイズ工房", (unify(5), ("add_noise", {"strength": 1.0}))),
            Entry("Crossed out", (unify(2), ("microaggregate", {}))),
            Entry("Off the books", (unify(7), ("microaggregate", {}))),
            Entry("平均の会", (("microaggregate", {}),)),
            Entry("Swap & Sons", (unify(3), ("swap_within_classes", {}))),
            Entry("Less is more", (("delete_rows", {"share": 0.01}),)),
            Entry("Yamaoka tribute", (("cheating_permutation", {}),)),
        ),
    ),
    Demo(
        slug="demo-shop",
        year=2016,
        titles=("Demo cup: purchases", "デモ杯：購買履歴"),
        tables=tc400,
        threshold=0.65,
        unrealistic=(
            "master_match",
            "receipt_match",
            "record_keys",
            "jaccard_quantity",
            "jaccard_quantity_assignment",
        ),
        entries=(
            Entry("Basket weavers", (("balance_clusters", {"clusters": 100, "smallest": 3}),)),
            Entry("五十の束", (("cluster_tfidf", {"clusters": 50}),)),
            Entry("Shared carts", (("cluster_tfidf", {"clusters": 200}),)),
            Entry("Lost receipts", (("delete_records", {"share": 0.01}),)),
            Entry("Neighbours", (("group_permutation", {}),)),
        ),
    ),
    Demo(
        slug="demo-duel",
        year=2015,
        titles=("Demo cup: attack!", "デモ杯：攻撃フェーズ"),
        tables=lambda: household_table(400, seed=2016),
        threshold=0.2,
        entries=(
            Entry("Red herrings", (("k_anonymize", {"k": 3}), ("microaggregate", {}))),
            Entry("雑音団", (("add_noise", {}),)),
            Entry("Mean machine", (unify(7), ("microaggregate", {}))),
            Entry("Shell game", (unify(3), ("swap_within_classes", {}))),
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
        with Client(url, organizer, password=lambda: notes.organizer.password) as client:
            invite = client.invite(demo.slug, uses=len(demo.entries))
        for place, entry in enumerate(demo.entries):
            logger.info("sending release %d of %d", place + 1, len(demo.entries))
            rng = np.random.default_rng([demo.year, number, place])
            take_part(url, notes, invite, demo, entry, tables=tables, rng=rng)
    for demo in DEMOS:
        bring_to_its_end(url, demo, notes)
    print(f"Sign in as “{ORGANIZER}” to see every contest as its organizer.")
    print(f"The passwords and tokens of all accounts, and their contests: {notes.path}")


def bring_to_its_end(url: str, demo: Demo, notes: "Notes") -> None:
    """Wait for the scores, play the second phase if there is one, and print the boards."""
    accounts_of = {entry.team: notes.team(demo, entry) for entry in demo.entries}
    endings = {}
    for place, (team, account) in enumerate(accounts_of.items()):
        endings[team] = ending(url, account.token, demo.slug)
        logger.info("%s: scored %d of %d", demo.slug, place + 1, len(demo.entries))
    organizer = notes.organizer
    if demo.duel:
        demo_attacks.play(
            url,
            demo.slug,
            demo.tables(),
            organizer=organizer.token,
            password=organizer.password,
            tokens={team: account.token for team, account in accounts_of.items()},
        )
    with Client(url, organizer.token) as client:
        show(client.board(demo.slug), endings, accounts_of)
        if demo.duel:
            show_attackers(client.attackers(demo.slug))


@dataclass(slots=True)
class Account:
    """An account of the demo; ``token`` is empty until it exists."""

    name: str
    role: str
    competitions: list[str]
    team: str | None = None
    password: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    token: str = ""


class Notes:
    """The accounts of the demo, in a file that only its owner can read: a later run goes on with them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        known = json.loads(path.read_text())["accounts"] if path.exists() else []
        self.accounts = {account["name"]: Account(**account) for account in known}

    @property
    def organizer(self) -> Account:
        return self._account(Account(ORGANIZER, "organizer", [demo.slug for demo in DEMOS]))

    def team(self, demo: Demo, entry: Entry) -> Account:
        return self._account(Account(entry.member, "team member", [demo.slug], entry.team))

    def _account(self, new: Account) -> Account:
        if new.name not in self.accounts:
            self.accounts[new.name] = new
            self.save()
        return self.accounts[new.name]

    def save(self) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            listed = [asdict(account) for account in self.accounts.values()]
            json.dump({"accounts": listed}, file, indent=2, ensure_ascii=False)


def organizer_token(url: str, notes: Notes) -> str:
    """Create the organizer as the administrator's command does, unless it exists, and return its token."""
    account = notes.organizer
    if not account.token:
        with transaction() as session:
            accounts.create_user(session, name=ORGANIZER, password=account.password, role=Role.ORGANIZER)
        with Client(url) as client:
            account.token = client.token(ORGANIZER, account.password)
        notes.save()
    return account.token


def original(url: str, organizer: str, demo: Demo) -> Tables:
    """The competition's data; competition and data are created and uploaded unless they are there."""
    tables = demo.tables()
    track = TRACKS[parse_competition(template(demo.year)).track]
    with Client(url, organizer) as client:
        if demo.slug not in {one.slug for one in client.competitions()}:
            client.create_competition(competition_file(demo))
        if client.competition(demo.slug).original_rows is None:
            contents = track.files_of(tables).values()
            for name, content in zip(track.original_files, contents, strict=True):
                client.put_original(demo.slug, content, file=f"{name}.csv")
    return tables


def competition_file(demo: Demo) -> str:
    """Return the template of the year, open now, with the demo's threshold and attackers."""
    now = datetime.now(UTC).replace(microsecond=0)
    rules = parse_competition(template(demo.year))
    text = template(demo.year).replace(f'slug = "{rules.slug}"', f'slug = "{demo.slug}"')
    for language, title in zip(("en", "ja"), demo.titles, strict=True):
        text = text.replace(rules.title[language], title)
    distance = rules.against_excess.distance
    text = with_tables(
        text, "excessive", f'[excessive]\ndistance = "{distance}"\nthreshold = {demo.threshold!r}'
    )
    text += "".join(f"\n[attackers.{name}]\ncounts = false\n" for name in demo.unrealistic)
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
    account = notes.team(demo, entry)
    if not account.token:
        with Client(url) as client:
            account.token = client.sign_up(
                invite=invite, team=entry.team, name=account.name, password=account.password
            )
        notes.save()
    with Client(url, account.token) as client:
        if client.submissions(demo.slug):
            return
        rules = parse_competition(template(demo.year))
        released, source = release_of(entry, tables, rules, rng)
        track = TRACKS[rules.track]
        client.submit(
            demo.slug, track.files_of(released), secret=track.answers.write(source), comment=entry.comment
        )


def release_of(
    entry: Entry, tables: Tables, rules: Rules, rng: np.random.Generator
) -> tuple[Tables, IntArray]:
    """Apply the team's methods one after the other and shuffle the result."""
    track = TRACKS[rules.track]
    released, source = tables, np.arange(track.individuals(tables))
    for method, parameters in entry.steps:
        released, claims = track.anonymize(track.methods[method], released, rules, rng, parameters)
        source = source[claims]
    return track.shuffle(released, source, rng=rng)


def ending(url: str, token: str, slug: str) -> str:
    """How the team's latest submission ended, once it has."""
    with Client(url, token) as client:
        latest = str(client.submissions(slug)[0].id)
        found = client.wait(latest, timeout_s=math.inf, patience_s=math.inf)
    reasons = [violation.code for violation in found.result.violations] if found.result else []
    return ": ".join([found.status, *reasons])


def show(board: schemas.Board, endings: Mapping[str, str], accounts_of: Mapping[str, Account]) -> None:
    table = Table("rank", "team", "overall", "utility loss", "risk", "ended as", "sign in as")
    table.title = f"{board.competition}: {board.title['en']} (0 is best)"
    for row in board.rows:
        scores = (row.overall, row.utility, row.security)
        numbers = ["–" if score is None else f"{score:.4f}" for score in scores]
        names = (endings.get(row.team, ""), accounts_of[row.team].name)
        table.add_row(str(row.rank or "–"), row.team, *numbers, *names)
    Console(width=120).print(table)


def show_attackers(board: schemas.AttackersBoard) -> None:
    table = Table("rank", "team", "identified", "tried", "rate", "targets")
    table.title = f"{board.competition}: {board.title['en']} (records identified)"
    for row in board.rows:
        if row.rank is not None:
            counts = [f"{one:,}" for one in (row.identified, row.tried)]
            table.add_row(str(row.rank), row.team, *counts, f"{row.rate:.4f}", str(row.targets))
    Console(width=110).print(table)

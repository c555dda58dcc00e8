"""The demo: a competition on a generated table, a release per sample method, all through the public API."""

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from app.client import Client
from app.roles import Role
from app.scoring.competition import Columns
from app.scoring.competition_file import parse_competition
from app.scoring.csv_text import table_csv
from app.scoring.excessive.advisor import advise
from app.scoring.methods import METHODS
from app.scoring.methods.permutations import shuffle_rows
from app.scoring.permutation import secret_csv
from app.scoring.release import prepare
from app.scoring.synthetic import household_table
from app.scoring.templates import template
from app.scoring.toml_text import with_tables
from app.scoring.tracks.microdata import MICRODATA
from app.services import accounts
from app.transaction import transaction

SLUG = "demo"
ORGANIZER = "demo organizer"
SEED = 2015
SCORED_WITHIN_S = 300


@dataclass(frozen=True, slots=True)
class Entry:
    """One team of the demo and the sample method that it uses."""

    team: str
    method: str
    parameters: dict[str, Any]


ENTRIES = (
    Entry("Team K", "k_anonymize", {"k": 3}),
    Entry("ノイズ工房", "add_noise", {}),
    Entry("Crossed out", "unify_columns", {"columns": ["Kouzou"]}),
    Entry("Off the books", "unify_columns", {"columns": ["S1_KigyouKubun"]}),
    Entry("平均の会", "microaggregate", {}),
    Entry("Swap & Sons", "swap_within_classes", {}),
    Entry("Less is more", "delete_rows", {"share": 0.01}),
    Entry("Yamaoka tribute", "cheating_permutation", {}),
)


def play(url: str, data: Path, *, meanwhile: Callable[[], None]) -> None:
    """Bring the demo to its end, from wherever an earlier run left it, and print its board."""
    notes = Notes(data / "demo.json")
    organizer = organizer_token(url, notes)
    columns, table = original(url, organizer)
    with Client(url, organizer) as client:
        invite = client.invite(SLUG, uses=len(ENTRIES))
    for number, entry in enumerate(ENTRIES):
        rng = np.random.default_rng([SEED, number])
        take_part(url, notes, invite, entry, data=(table, columns), rng=rng)
    endings = {entry.team: ending(url, notes.content["tokens"][entry.team], meanwhile) for entry in ENTRIES}
    with Client(url, organizer) as client:
        show(client.board(SLUG), endings)
    print(f"accounts and tokens of the demo: {notes.path}")


class Notes:
    """What the demo must remember between runs, in a file only its owner can read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = {"passwords": {}, "tokens": {}}
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
        return str(known)
    with transaction() as session:
        accounts.create_user(session, name=ORGANIZER, password=notes.password(ORGANIZER), role=Role.ORGANIZER)
    with Client(url) as client:
        return notes.keep("tokens", ORGANIZER, client.token(ORGANIZER, notes.password(ORGANIZER)))


def original(url: str, organizer: str) -> tuple[Columns, pd.DataFrame]:
    """The competition's columns and data; created and uploaded unless they are there."""
    table = household_table(seed=SEED)
    columns = parse_competition(template(2015)).columns
    assert columns is not None  # noqa: S101  # the template names its columns
    with Client(url, organizer) as client:
        found = [one for one in client.competitions() if one["slug"] == SLUG]
        if not found:
            found = [client.create_competition(competition_file(advised_threshold(table, columns)))]
        if found[0]["original_rows"] is None:
            client.put_original(SLUG, table_csv(table))
    return columns, table


def advised_threshold(table: pd.DataFrame, columns: Columns) -> float:
    """What the advisor recommends against permutations, also inside the groups of equal sex and age."""
    original = prepare(table, columns)
    groups = MICRODATA.groups(original, ("S1_Sex", "S1_Age"))
    threshold = advise(original, MICRODATA.distances["gower"], groups, draws=0).threshold
    assert threshold is not None  # noqa: S101  # the generated table leaves room
    return threshold


def competition_file(threshold: float) -> str:
    """The 2015 template, open now, with a threshold between what is enough and what is too much."""
    now = datetime.now(UTC).replace(microsecond=0)
    text = template(2015).replace('slug = "cup-2015"', f'slug = "{SLUG}"')
    text = text.replace("Anonymization cup, 2015 rules", "Demo cup").replace(
        "匿名化コンテスト 2015年ルール", "デモ杯"
    )
    text = with_tables(text, "excessive", f'[excessive]\ndistance = "gower"\nthreshold = {threshold!r}')
    windows = (("anonymization", 0, 30), ("reidentification", 31, 60))
    phases = [
        f'[[phases]]\nname = "{name}"\nstart = {(now + timedelta(days=first)).isoformat()}\n'
        f"end = {(now + timedelta(days=last)).isoformat()}"
        for name, first, last in windows
    ]
    return with_tables(text, "phases", "\n\n".join(phases))


def take_part(
    url: str,
    notes: Notes,
    invite: str,
    entry: Entry,
    *,
    data: tuple[pd.DataFrame, Columns],
    rng: np.random.Generator,
) -> None:
    """Sign the team up and submit its release, unless it has."""
    token = notes.content["tokens"].get(entry.team)
    if token is None:
        person = f"member of {entry.team}"
        with Client(url) as client:
            token = client.sign_up(
                invite=invite, team=entry.team, name=person, password=notes.password(person)
            )
        notes.keep("tokens", entry.team, token)
    with Client(url, token) as client:
        if client.submissions(SLUG):
            return
        anonymized, source = METHODS[entry.method].apply(*data, rng=rng, **entry.parameters)
        anonymized, source = shuffle_rows(anonymized, source, rng=rng)
        comment = f"{entry.method} {entry.parameters or ''}".strip()
        client.submit(SLUG, {"anonymized": table_csv(anonymized)}, secret=secret_csv(source), comment=comment)


def ending(url: str, token: str, meanwhile: Callable[[], None]) -> str:
    """How the team's latest submission ended, once it has."""
    with Client(url, token) as client:
        latest = client.submissions(SLUG)[0]["id"]
        found = client.wait(latest, timeout_s=SCORED_WITHIN_S, meanwhile=meanwhile)
    reasons = [violation["code"] for violation in (found["result"] or {}).get("violations", [])]
    return ": ".join([found["status"], *reasons])


def show(board: dict[str, Any], endings: dict[str, str]) -> None:
    table = Table("rank", "team", "overall", "utility loss", "risk", "ended as")
    table.title = "Anonymization board (0 is best)"
    for row in board["rows"]:
        numbers = [
            "–" if row[key] is None else f"{row[key]:.4f}" for key in ("overall", "utility", "security")
        ]
        ended = endings.get(row["team"], "")
        table.add_row(str(row["rank"] or "–"), row["team"], *numbers, ended)
    Console(width=110).print(table)

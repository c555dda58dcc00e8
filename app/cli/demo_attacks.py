"""The demo's second phase: the clock turns a competition, and every team attacks the others' releases."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import cycle

import numpy as np

from anoncup import schemas
from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.attacks import guesses_of
from anoncup.plugins import TRACKS
from anoncup.tracks.model import Tables
from app.processes import readiness

logger = logging.getLogger(__name__)

ATTACKS = ("euc1", "sa_rank", "gower", "sort")
"""Built-in attackers that the demo's teams use, in turns, those of them that the track has."""
AHEAD = timedelta(seconds=2)


def play(
    url: str,
    slug: str,
    tables: Tables,
    *,
    organizer: str,
    password: str,
    tokens: Mapping[str, str],
) -> None:
    """Close the first phase, attack every target once by every other team, and wait for the scores."""
    with Client(url, organizer, password=lambda: password) as client:
        if client.competition(slug).state == "anonymization":
            logger.info("%s: ending the first phase", slug)
            end = (datetime.now(UTC) + AHEAD).isoformat()
            client.extend(slug, "anonymization", end=end, move_following=True)
        readiness.until(
            lambda: client.competition(slug).state == "reidentification", "the second phase", pause=0.2
        )
    for place, token in enumerate(tokens.values()):
        logger.info("%s: team %d of %d attacks the others", slug, place + 1, len(tokens))
        with Client(url, token) as client:
            attack(client, slug, tables, np.random.default_rng(place))
    for place, token in enumerate(tokens.values()):
        with Client(url, token) as client:
            readiness.until(lambda: all_judged(client.guesses(slug)), "scores", pause=0.2)
        logger.info("%s: judged the guesses of %d of %d", slug, place + 1, len(tokens))


def all_judged(guesses: list[schemas.Guess]) -> bool:
    return all(guess.status not in {"QUEUED", "SCORING"} for guess in guesses)


def attack(client: Client, slug: str, tables: Tables, rng: np.random.Generator) -> None:
    """One guess on each target of another team that has none of ours yet."""
    tried = {guess.target for guess in client.guesses(slug)}
    rules = parse_competition(client.text(f"/competitions/{slug}/competition.toml"))
    track = TRACKS[rules.track]
    prepared = track.prepare(tables, rules)
    names = cycle(name for name in ATTACKS if name in track.attackers)
    for target in client.targets(slug):
        if target.own or target.name in tried:
            continue
        contents = {
            file.removesuffix(".csv"): client.text(f"/targets/{target.id}/data/{file}").encode()
            for file in target.files
        }
        release = track.read_target(contents, tables, rules)
        attacker = track.attackers[next(names)]
        aim = track.target_of(prepared, release)
        for name, guess in guesses_of(attacker, aim, track=track, rules=rules, rng=rng).items():
            client.guess(str(target.id), guess, question=name)

"""The second phase of the demo: every team attacks the releases of the others."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import cycle

import numpy as np

from anoncup import schemas
from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.attacks import make_guesses, write_guesses
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.parts import HasRows
from app.operations import service_readiness as readiness

logger = logging.getLogger(__name__)

_ATTACKER_NAMES = ("euc1", "sa_rank", "gower", "sort")
"""Built-in attackers that the teams use in turn. A track that has none of them uses all of its own."""
_END_DELAY = timedelta(seconds=2)


def play(
    url: str,
    slug: str,
    *,
    organizer: str,
    password: str,
    tokens: Mapping[str, str],
) -> None:
    """End the first phase, let every team attack every other target once, and wait for the scores."""
    with Client(url, organizer, password=lambda: password) as client:
        if client.get_competition(slug).state == "anonymization":
            logger.info("%s: ending the first phase", slug)
            end = (datetime.now(UTC) + _END_DELAY).isoformat()
            client.extend_phase(slug, "anonymization", end=end, move_following=True)
        readiness.wait_until(
            lambda: client.get_competition(slug).state == "reidentification",
            "the second phase",
            interval_s=0.2,
        )
        round_address = client.get_competition(slug).address
        rules = parse_competition(client.get_competition_file(round_address))
        original = _load_original(client, slug, rules)
    for number, token in enumerate(tokens.values()):
        logger.info("%s: team %d of %d attacks the others", slug, number + 1, len(tokens))
        with Client(url, token) as client:
            attack(client, slug, rules, original, np.random.default_rng(number))
    for number, token in enumerate(tokens.values()):
        with Client(url, token) as client:
            readiness.wait_until(lambda: _all_judged(client.list_guesses(slug)), "scores", interval_s=0.2)
        logger.info("%s: judged the guesses of %d of %d", slug, number + 1, len(tokens))


def _all_judged(guesses: list[schemas.Guess]) -> bool:
    return all(guess.status not in {"QUEUED", "SCORING"} for guess in guesses)


def _load_original(client: Client, slug: str, rules: Rules) -> HasRows:
    """Return the original data with the files that the service has drawn."""
    contents = {
        file.removesuffix(".csv"): client.send("GET", f"/competitions/{slug}/original/{file}").content
        for file in client.get_competition(slug).original_sha256
    }
    original: HasRows = TRACKS[rules.track].parse_original(contents, rules)[0]
    return original


def attack(client: Client, slug: str, rules: Rules, original: HasRows, rng: np.random.Generator) -> None:
    """Submit one guess on each target of another team that this team has not attacked yet."""
    attacked = {guess.target for guess in client.list_guesses(slug)}
    track = TRACKS[rules.track]
    usual_names = [name for name in _ATTACKER_NAMES if name in track.attackers]
    attacker_names = cycle(usual_names or track.attackers)
    for target in client.list_targets(slug):
        if target.own or target.name in attacked:
            continue
        contents = {
            file.removesuffix(".csv"): client.get_text(f"/targets/{target.id}/data/{file}").encode()
            for file in target.files
        }
        attack_target = track.parse_target(contents, original, rules)
        attacker = track.attackers[next(attacker_names)]
        guesses = make_guesses(attacker, attack_target, track=track, rules=rules)
        for name, guess in write_guesses(guesses, track=track, rng=rng).items():
            client.send_guess(str(target.id), guess, question=name)

"""The built-in attackers on a release of one's own: their answers, rates and guesses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anoncup import schemas
from anoncup.cli.local_files import LocalContest
from anoncup.cli.terminal import progress_bar
from anoncup.errors import InvalidInput
from anoncup.evaluation.attacks import asked, rate_of_attack, said_to
from anoncup.evaluation.evaluate import attacker_json
from anoncup.tracks.model import Tables
from anoncup.tracks.parts import Attacker


def answers_of(contest: LocalContest, release: Tables, names: list[str]) -> dict[str, Any]:
    target = contest.track.target_of(contest.prepared, release)
    answers = {}
    with progress_bar("attacking") as progress:
        for step, name in enumerate(names, 1):
            progress(step, len(names), name)
            settings, attacker = contest.rules.attacker(name), contest.track.attackers[name]
            is_asked = asked(attacker, contest.track, contest.rules)
            answers[name] = attacker.attack(target, **settings.parameters) if is_asked else None
    return answers


def rates_of(
    answers: Mapping[str, Any], contest: LocalContest, release: Tables, source: Any
) -> dict[str, schemas.Attacked]:
    sizes, track, rules = contest.track.sizes(contest.tables, release), contest.track, contest.rules

    def attacked(attacker: Attacker, said: Any) -> schemas.Attacked:
        rate = rate_of_attack(attacker, said, source, sizes, track=track, rules=rules)
        return schemas.Attacked.model_validate(attacker_json(rate, attacker.version))

    return {name: attacked(contest.track.attackers[name], answer) for name, answer in answers.items()}


def write_guesses(answers: Mapping[str, Any], contest: LocalContest, into: Path, seed: int) -> None:
    """A guess file of each attacker that can make a guess; where several questions are asked, of each."""
    into.mkdir(parents=True, exist_ok=True)
    several = len(contest.track.asked(contest.rules)) > 1
    for name, said in answers.items():
        attacker = contest.track.attackers[name]
        for question in asked(attacker, contest.track, contest.rules).values():
            guess = question.guess_of(said_to(attacker, said)[question.name], np.random.default_rng(seed))
            if guess is not None:
                file = f"{name}.{question.name}.csv" if several else f"{name}.csv"
                (into / file).write_bytes(question.write(guess))


def chosen_attackers(contest: LocalContest, names: list[str]) -> list[str]:
    known = list(contest.track.attackers)
    for name in names:
        if name not in known:
            raise InvalidInput(
                "attackers of the {track} track: {known}",
                code="unknown_attacker",
                track=contest.track.name,
                known=tuple(known),
            )
    return names or known

"""The built-in attackers on a release of one's own: their answers, rates and guesses."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from app import wire
from app.cli.files import LocalContest
from app.cli.terminal import progress_bar
from app.errors import InvalidInput
from app.scoring.arrays import IntArray
from app.scoring.evaluate import attacker_json
from app.scoring.rates import Answer
from app.scoring.registry import Attacker, Tables, Track


def answers_of(contest: LocalContest, release: Tables, names: list[str]) -> dict[str, Answer]:
    target = contest.track.target_of(contest.prepared, release)
    answers = {}
    with progress_bar("attacking") as progress:
        for step, name in enumerate(names, 1):
            progress(step, len(names), name)
            settings = contest.rules.attacker(name)
            answers[name] = contest.track.attackers[name].attack(target, **settings.parameters)
    return answers


def rates_of(
    answers: Mapping[str, Answer], contest: LocalContest, release: Tables, source: IntArray
) -> dict[str, wire.Attacked]:
    sizes = contest.track.sizes(contest.tables, release)

    def attacked(attacker: Attacker, answer: Answer) -> wire.Attacked:
        settled = contest.rules.questions.get(attacker.questions[0], {})
        rate = contest.track.questions[attacker.questions[0]].rate(answer, source, sizes, **settled)
        return wire.Attacked.model_validate(attacker_json(rate, attacker.version))

    return {name: attacked(contest.track.attackers[name], answer) for name, answer in answers.items()}


def write_guesses(answers: Mapping[str, Answer], track: Track, into: Path, seed: int) -> None:
    """A guess file of each attacker that can make a guess."""
    into.mkdir(parents=True, exist_ok=True)
    for name, answer in answers.items():
        question = track.questions[track.attackers[name].questions[0]]
        guess = question.guess_of(answer, np.random.default_rng(seed))
        if guess is not None:
            (into / f"{name}.csv").write_bytes(question.write(guess))


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

"""Run the built-in attackers on a local release, compute their rates and write their guesses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anoncup import schemas
from anoncup.cli.local_files import LocalContest
from anoncup.cli.terminal import progress_bar
from anoncup.errors import InvalidInput
from anoncup.evaluation.attacks import get_answers_by_question, rate_attack, select_questions
from anoncup.evaluation.evaluate import serialize_rate
from anoncup.tracks.model import Tables
from anoncup.tracks.parts import Attacker


def run_attackers(contest: LocalContest, release: Tables, names: list[str]) -> dict[str, Any]:
    target = contest.track.attack_view(contest.prepared, release)
    answers = {}
    with progress_bar("attacking") as progress:
        for step, name in enumerate(names, 1):
            progress(step, len(names), name)
            settings, attacker = contest.rules.attacker_settings(name), contest.track.attackers[name]
            questions = select_questions(attacker, contest.track, contest.rules)
            answers[name] = attacker.attack(target, **settings.parameters) if questions else None
    return answers


def compute_rates(
    answers: Mapping[str, Any], contest: LocalContest, release: Tables, source: Any
) -> dict[str, schemas.AttackerVerdict]:
    sizes, track, rules = contest.track.count_sizes(contest.tables, release), contest.track, contest.rules

    def rate_attacker(attacker: Attacker, answer: Any) -> schemas.AttackerVerdict:
        rate = rate_attack(attacker, answer, source, sizes, track=track, rules=rules)
        return schemas.AttackerVerdict.model_validate(serialize_rate(rate, attacker.version))

    return {name: rate_attacker(contest.track.attackers[name], answer) for name, answer in answers.items()}


def write_guesses(answers: Mapping[str, Any], contest: LocalContest, folder: Path, seed: int) -> None:
    """Write a guess file for each attacker that can make a guess, one per question if there are several."""
    folder.mkdir(parents=True, exist_ok=True)
    has_several_questions = len(contest.track.select_questions(contest.rules)) > 1
    for name, answer in answers.items():
        attacker = contest.track.attackers[name]
        for question in select_questions(attacker, contest.track, contest.rules).values():
            guess = question.resolve_guess(
                get_answers_by_question(attacker, answer)[question.name], np.random.default_rng(seed)
            )
            if guess is not None:
                file_name = f"{name}.{question.name}.csv" if has_several_questions else f"{name}.csv"
                (folder / file_name).write_bytes(question.write(guess))


def select_attackers(contest: LocalContest, names: list[str]) -> list[str]:
    available = list(contest.track.attackers)
    for name in names:
        if name not in available:
            raise InvalidInput(
                "attackers of the {track} track: {known}",
                code="unknown_attacker",
                track=contest.track.name,
                known=tuple(available),
            )
    return names or available

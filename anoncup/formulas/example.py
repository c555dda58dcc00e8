"""Boards with invented numbers in (0, 1), on which the formulas of a competition file are tried."""

from collections.abc import Mapping, Sequence

import numpy as np

from anoncup.formulas.board_numbers import (
    Attacks,
    BoardNumbers,
    build_attack_functions,
    build_defence_functions,
)
from anoncup.formulas.values import Values
from anoncup.geometry.arrays import FloatArray

_TEAMS, _TARGETS = 3, 4


def build_defence_example(
    names: Sequence[str], questions: Sequence[str], attackers: Mapping[str, Sequence[str]]
) -> BoardNumbers:
    """Return a board of three releases. ``attackers``: the questions of each."""
    by_attackers = {
        name: {question: _invent(_TEAMS) for question in answered if question in questions}
        for name, answered in attackers.items()
    }
    attacks = Attacks(_invent_risks(questions, _TEAMS), np.arange(_TEAMS), by_attackers)
    return BoardNumbers(_TEAMS, _invent_names(names), build_defence_functions(attacks))


def build_attack_example(names: Sequence[str], questions: Sequence[str]) -> BoardNumbers:
    """Return a board of three teams and four targets, of which one belongs to none of them."""
    attacks = Attacks(_invent_risks(questions, _TARGETS), np.array([0, 1, 2, -1]))
    return BoardNumbers(_TEAMS, _invent_names(names), build_attack_functions(attacks))


def _invent_names(names: Sequence[str]) -> dict[str, Values]:
    return {name: Values(_invent(_TEAMS, first=index)) for index, name in enumerate(names)}


def _invent_risks(questions: Sequence[str], releases: int) -> dict[str, FloatArray]:
    return {
        question: _invent(releases * _TEAMS, first=index).reshape(releases, _TEAMS)
        for index, question in enumerate(questions)
    }


def _invent(count: int, *, first: int = 0) -> FloatArray:
    """Return ``count`` random numbers in (0, 1), others for another ``first``; the same in each call."""
    return np.random.default_rng(first).uniform(0.01, 0.99, count)

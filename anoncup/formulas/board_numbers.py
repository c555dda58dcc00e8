"""What formulas can name: numbers of the teams on a board, and functions of the attacks on their releases."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anoncup.formulas.errors import FormulaError
from anoncup.formulas.functions import FormulaFunction
from anoncup.formulas.values import Operand, Values
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.messages import Message


@dataclass(frozen=True, slots=True)
class BoardNumbers:
    """``names`` and ``functions`` have values for ``team_count`` teams."""

    team_count: int
    names: Mapping[str, Values]
    functions: Mapping[str, FormulaFunction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Attacks:
    """Risks in [0, 1] found in releases; 0 where nobody attacked.

    ``by_teams[question]`` (releases, teams): the largest risk that a team's guesses found. ``owners``
    (releases,): the column of the team that made the release, or -1. ``by_attackers[attacker][question]``
    (releases,): the risk of a built-in attacker that counts; NaN where there is no evaluation.
    """

    by_teams: Mapping[str, FloatArray]
    owners: IntArray
    by_attackers: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict)

    @property
    def is_foreign(self) -> BoolArray:
        """Mask (releases, teams) of the pairs in which the team did not make the release."""
        team_count = next(iter(self.by_teams.values())).shape[1]
        is_foreign: BoolArray = np.arange(team_count) != self.owners[:, None]
        return is_foreign

    def select_questions(self, names: Sequence[object]) -> tuple[str, ...]:
        """Return the named questions, or all without names; raise FormulaError for an unknown one."""
        for name in names:
            if name not in self.by_teams:
                raise FormulaError(
                    Message(
                        "{name} is no question of this competition; it asks {names}",
                        name=name if isinstance(name, str) else "",
                        names=tuple(self.by_teams),
                    )
                )
        return tuple(question for question in self.by_teams if not names or question in names)

    def find_team_risks(self, *names: object) -> FloatArray:
        """Return the largest risk (releases, teams) that each team found with any of these questions."""
        risks: FloatArray = np.maximum.reduce([self.by_teams[name] for name in self.select_questions(names)])
        return risks

    def find_built_in_risks(self, *names: object) -> FloatArray:
        """Return the largest risk (releases,) of the built-in attackers with any of these questions."""
        questions = self.select_questions(names)
        risks = [risks[name] for risks in self.by_attackers.values() for name in questions if name in risks]
        largest: FloatArray = np.maximum.reduce([np.zeros(len(self.owners)), *risks])
        return largest


def build_defence_functions(attacks: Attacks) -> dict[str, FormulaFunction]:
    """Return the functions of formulas with one row per release."""

    def best_per_team(*questions: Operand | str) -> Values:
        return Values(attacks.find_team_risks(*questions), attacks.is_foreign)

    def strongest_team(*questions: Operand | str) -> Values:
        risks = np.where(attacks.is_foreign, attacks.find_team_risks(*questions), 0.0)
        return Values(risks.max(axis=1, initial=0.0))

    def strongest_built_in(*questions: Operand | str) -> Values:
        return Values(attacks.find_built_in_risks(*questions))

    def strongest(*questions: Operand | str) -> Values:
        return Values(np.maximum(strongest_team(*questions).numbers, strongest_built_in(*questions).numbers))

    def attacker(name: Operand | str, *questions: Operand | str) -> Values:
        if not isinstance(name, str) or name not in attacks.by_attackers:
            names = tuple(attacks.by_attackers)
            raise FormulaError(Message("the attackers that count are {names}", names=names))
        attacks_by_it = Attacks(attacks.by_teams, attacks.owners, {name: attacks.by_attackers[name]})
        return Values(attacks_by_it.find_built_in_risks(*questions))

    functions: tuple[Callable[..., Values], ...] = (
        best_per_team,
        strongest_team,
        strongest_built_in,
        strongest,
        attacker,
    )
    return {function.__name__: function for function in functions}


def build_attack_functions(attacks: Attacks) -> dict[str, FormulaFunction]:
    """Return the functions of formulas with one row per attacking team."""

    def best_per_target(*questions: Operand | str) -> Values:
        return Values(attacks.find_team_risks(*questions).T, attacks.is_foreign.T)

    return {"best_per_target": best_per_target}

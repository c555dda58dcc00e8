"""The formulas of ``[ranking]``: those of named rules, what formulas can name, and the check of a file."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random

from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.errors import NotFound
from anoncup.formulas.evaluation import FormulaFunction, TeamNumbers, check_formula, evaluate_formula
from anoncup.formulas.syntax import Formula, FormulaError, InvalidFormula, parse_any_length
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.rounds import RoundSettings
from anoncup.rules.settings import Ranking

SCORE_FORMULA = "(utility + security) / 2"
"""The formula of the rule "score"."""
TOTAL_KEYS = ("total", "attack_total")
_COMMON_NAMES = ("utility", "security", "penalty")
"""Names in formulas besides those of measures and of the attackers that count."""
_EXAMPLE_TEAMS = 3


def find_defence_formula(rules: Rules) -> Formula:
    """Return the formula that ranks releases, lowest first unless the competition says otherwise.

    Raises NotFound if a function of a package ranks them.
    """
    ranking = rules.ranking
    if ranking.rule == "function":
        raise NotFound("a function of a package ranks the releases", code="no_formula")
    if ranking.defence is not None:
        return ranking.defence
    if ranking.is_by_overall:
        return parse_any_length(SCORE_FORMULA)
    ranks = ", ".join(f"rank('{name}')" for name in (*rules.weights, "security"))
    return parse_any_length(f"sum({ranks})")


def names_penalty(ranking: Ranking) -> bool:
    """Return whether penalties and bonuses count in any formula."""
    formulas = filter(None, (ranking.utility, ranking.defence, ranking.attack))
    return any("penalty" in formula.collect_value_names() for formula in formulas)


def find_total_formula(ranking: Ranking, key: str, rounds: Sequence[RoundSettings]) -> Formula | None:
    """Return the formula ``total`` or ``attack_total``, by default the weighted sum of the rounds.

    None if no round counts. A practice round does not count.
    """
    formula: Formula | None = getattr(ranking, key)
    terms = [f"{entry.weight!r} * round('{entry.name}')" for entry in rounds if entry.weight]
    if formula is not None or not terms:
        return formula
    return parse_any_length(f"sum({', '.join(terms)})")


def check_totals(ranking: Ranking, rounds: Sequence[RoundSettings]) -> None:
    """Raise InvalidFormula if a formula of totals names a round that does not count or does not exist."""
    names = [entry.name for entry in rounds if entry.name and not entry.practice]
    for key in TOTAL_KEYS:
        formula: Formula | None = getattr(ranking, key)
        if formula is None:
            continue
        _check(
            f"ranking.{key}", formula, _invent_numbers((), {"round": build_round(dict.fromkeys(names, 0.5))})
        )


def compares_teams(rules: Rules) -> bool:
    """Return whether the score of a release depends on other releases, by a formula or a function."""
    if rules.ranking.rule == "function":
        return True
    formulas = [find_defence_formula(rules), *filter(None, [rules.ranking.utility])]
    return any(formula.compares_teams for formula in formulas)


def scores_alone(rules: Rules) -> bool:
    """Return whether a formula ranks releases that needs no others, so that each has a score of its own."""
    return rules.ranking.rule == "formula" and not compares_teams(rules)


def list_counting_attackers(rules: Rules) -> dict[str, tuple[str, ...]]:
    """Return the questions of the competition that each attacker that counts answers."""
    track = TRACKS[rules.track]
    questions = track.select_questions(rules)
    return {
        name: tuple(question for question in attacker.questions if question in questions)
        for name, attacker in track.attackers.items()
        if counts_towards_security(rules, name)
    }


def list_formula_names(rules: Rules) -> tuple[str, ...]:
    """Return the names of numbers in formulas that rank releases."""
    return (*TRACKS[rules.track].measures, *list_counting_attackers(rules), *_COMMON_NAMES)


def check_ranking(rules: Rules) -> None:
    """Raise InvalidFormula if a formula names what it cannot have, or has no value for invented numbers."""
    ranking, track = rules.ranking, TRACKS[rules.track]
    strongest = build_strongest(tuple(track.select_questions(rules)), lambda _: [0.5])
    releases = _invent_numbers(list_formula_names(rules), {"strongest": strongest})
    attack_names = ("penalty", "mean_per_target", *(("identified",) if track.asks_identity(rules) else ()))
    for key, formula, examples in (
        ("utility", ranking.utility, releases),
        ("defence", ranking.defence, releases),
        ("attack", ranking.attack, _invent_numbers(attack_names, {})),
    ):
        if formula is not None:
            _check(f"ranking.{key}", formula, examples)


def _invent_numbers(names: Sequence[str], functions: Mapping[str, FormulaFunction]) -> list[TeamNumbers]:
    """Return random numbers in (0, 1) for a few teams, the same in each call."""
    rng = Random(0)  # noqa: S311  # no secret
    return [
        TeamNumbers({name: rng.uniform(0.01, 0.99) for name in names}, functions)
        for _ in range(_EXAMPLE_TEAMS)
    ]


def _check(key: str, formula: Formula, examples: Sequence[TeamNumbers]) -> None:
    try:
        check_formula(formula, examples)
    except FormulaError as error:
        raise InvalidFormula(key, error) from None


def build_strongest(
    questions: Sequence[str], find_risks: Callable[[str], Iterable[float]]
) -> FormulaFunction:
    """Return ``strongest('question', …)``, the largest risk with any of these questions, or with any at all.

    ``find_risks`` returns the risks that attacks found with a question. The result is 0 without attacks, and
    missing if one of the risks is.
    """

    def strongest(*names: object) -> float:
        for name in names:
            if name not in questions:
                raise FormulaError(
                    Message(
                        "{name} is no question of this competition; it asks {names}",
                        name=name if isinstance(name, str) else "",
                        names=tuple(questions),
                    )
                )
        selected = [question for question in questions if not names or question in names]
        risks = [risk for question in selected for risk in find_risks(question)]
        return math.nan if any(map(math.isnan, risks)) else max(risks, default=0.0)

    return strongest


def build_round(scores: Mapping[str, float]) -> FormulaFunction:
    """Return ``round('name')``, the score of a team in a round; NaN if it is missing."""

    def round(name: object) -> float:  # noqa: A001  # the name in formulas
        if name not in scores:
            raise FormulaError(Message("the rounds that count are {names}", names=tuple(scores)))
        return scores[str(name)]

    return round


def _replace_utility(
    rules: Rules, releases: Sequence[TeamNumbers], rounding: Mapping[str, float]
) -> Sequence[TeamNumbers]:
    """Return the numbers with the value of the formula ``utility``, if there is one."""
    if rules.ranking.utility is None:
        return releases
    utilities = evaluate_formula(rules.ranking.utility, releases, rounding)
    return [
        replace(release, names={**release.names, "utility": utility})
        for release, utility in zip(releases, utilities, strict=True)
    ]


def evaluate_defence(
    rules: Rules, releases: Sequence[TeamNumbers], rounding: Mapping[str, float]
) -> list[float]:
    """Return the value of the formula that ranks releases for each of them; NaN where it is missing."""
    return evaluate_formula(
        find_defence_formula(rules), _replace_utility(rules, releases, rounding), rounding
    )

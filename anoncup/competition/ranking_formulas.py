"""The formulas of ``[ranking]``: those of the named rules, and the check of those in a competition file."""

from collections.abc import Sequence

from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.formulas.errors import FormulaError, InvalidFormula
from anoncup.formulas.syntax import Formula, parse_any_length
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.rounds import RoundSettings
from anoncup.rules.settings import Ranking

SCORE_FORMULA = "(utility + security) / 2"
"""The formula of the rule "score"."""
TOTAL_KEYS = ("total", "attack_total")
COMMON_NAMES = ("utility", "security", "adjustment")
"""Names in formulas besides those of measures and of the attackers that count."""


def find_defence_formula(rules: Rules) -> Formula:
    """Return the formula that ranks releases, lowest first unless the competition says otherwise."""
    ranking = rules.ranking
    if ranking.defence is not None:
        return ranking.defence
    if ranking.rule == "score":
        return parse_any_length(SCORE_FORMULA)
    ranks = ", ".join(f"rank({name})" for name in (*rules.weights, "security"))
    return parse_any_length(f"sum({ranks})")


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
        from anoncup.formulas.totals import check_total  # noqa: PLC0415  # loads numpy

        try:
            check_total(formula, names)
        except FormulaError as error:
            raise InvalidFormula(f"ranking.{key}", formula.text, error) from None


def compares_teams(rules: Rules) -> bool:
    """Return whether the formula ranks the values of releases, so that each depends on those of others."""
    formulas = [find_defence_formula(rules), *filter(None, [rules.ranking.utility])]
    return any(formula.compares_teams for formula in formulas)


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
    return (*TRACKS[rules.track].measures, *list_counting_attackers(rules), *COMMON_NAMES)


def check_ranking(rules: Rules) -> None:
    """Raise InvalidFormula if a formula names what it cannot have, or has no value on an example board."""
    ranking = rules.ranking
    if ranking.utility is None and ranking.defence is None and ranking.attack is None:
        return
    from anoncup.formulas import example  # noqa: PLC0415  # loads numpy
    from anoncup.formulas.evaluation import check_formula  # noqa: PLC0415

    track = TRACKS[rules.track]
    questions = tuple(track.select_questions(rules))
    attackers = list_counting_attackers(rules)
    defence_example = example.build_defence_example(list_formula_names(rules), questions, attackers)
    attack_names = ("adjustment", *(("identified",) if track.asks_identity(rules) else ()))
    attack_example = example.build_attack_example(attack_names, questions)
    for key, formula, board in (
        ("utility", ranking.utility, defence_example),
        ("defence", ranking.defence, defence_example),
        ("attack", ranking.attack, attack_example),
    ):
        if formula is None:
            continue
        try:
            check_formula(formula, board)
        except FormulaError as error:
            raise InvalidFormula(f"ranking.{key}", formula.text, error) from None

"""The page that explains a competition's rules and data in words and formulas.

The formulas are written in LaTeX: those of built-in tracks in ``formulas.toml`` of their folders.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from anoncup import tracks
from anoncup.competition.ranking_formulas import TOTAL_KEYS, find_total_formula, scores_alone
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.formulas.syntax import Formula
from anoncup.plugins import BUILT_IN, INSTALLED
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter, ParameterValue, Roles
from anoncup.rules.settings import Parameters
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure
from app.competitions.frame import Frame, load_frame
from app.competitions.phases import REIDENTIFICATION
from app.core.db.transaction import transaction
from app.core.pages import notation
from app.core.pages.mathematics import typeset
from app.core.pages.pages import Page, PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)

_LIMIT_NAMES = (
    "valid_per_day",
    "valid_total",
    "attempts_per_day",
    "attempts_total",
    "guesses_per_target",
    "file_mb",
)
_TRACKS_FOLDER = Path(tracks.__file__).parent


@dataclass(frozen=True, slots=True)
class MeasureRule:
    """A measure as this competition uses it.

    ``weight`` is None if the measure is only reported, and ``share`` is its share of all weights. ``scale``
    is None before the original is uploaded. ``parameters`` holds the configured or default values as texts.
    """

    measure: AnyMeasure
    formula: Markup | None
    weight: float | None
    share: float
    scale: float | None
    parameters: dict[str, str]


@dataclass(frozen=True, slots=True)
class AttackerRule:
    """A built-in attacker as this competition uses it."""

    attacker: AnyAttacker
    counts: bool
    parameters: dict[str, str]


@router.get("/competitions/{slug}/rules")
def show_rules(page: RequestedPage, slug: str) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    return render_rules(page, frame)


def render_rules(page: Page, frame: Frame, *, with_description: bool = False) -> HTMLResponse:
    """Render the rules of a frame, which may differ from those in force.

    ``with_description``: show the description above them, as the overview does.
    """
    round_ = frame.round
    rules, track = frame.rules, frame.round.track
    ranking_formulas = _list_ranking_formulas(frame)
    return page.render(
        "competitions/rules.html",
        frame=frame,
        description=frame.rules.description.texts if with_description else {},
        seed=round_.seed_commitment if round_.allocation else None,
        track=track,
        measures=list(iter_measure_rules(rules, track)),
        attacks=list(iter_attacker_rules(rules, track)),
        score_formulas=load_score_formulas(),
        ranking_formulas=ranking_formulas,
        ranking_functions=_list_ranking_functions(rules),
        explained_names=_list_explained_names(ranking_formulas.values()),
        shows_score=scores_alone(rules),
        find_distance_formula=_find_distance_formula,
        limits={name: getattr(rules.limits, name) for name in _LIMIT_NAMES},
        settings=_format_settings(rules, track),
        questions=list(track.select_questions(rules).values()),
        questions_by_file=[
            list(group) for _, group in groupby(track.select_questions(rules).values(), attrgetter("file"))
        ],
        asked_with=_format_question_parameters(rules, track),
        source=track.examples.identify_dataset(round_.original),
    )


@cache
def load_formulas(track: str) -> Mapping[str, Mapping[str, str]]:
    """Return the formulas of a built-in track in LaTeX, by kind and name."""
    return _read_toml(_TRACKS_FOLDER / track / "formulas.toml") if track in BUILT_IN else {}


@cache
def load_score_formulas() -> Mapping[str, Markup]:
    """Return the formulas of the scores, and of the distances that the rule against excess uses."""
    formulas = _read_toml(Path(__file__).with_name("score_formulas.toml"))
    return {name: typeset(latex) for name, latex in formulas.items()}


def _read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _find_measure_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a measure, which is built in or from an installed package, or None."""
    built_in_formula = load_formulas(track).get("measures", {}).get(name)
    latex = built_in_formula or INSTALLED.formulas.get(track, {}).get(name)
    return typeset(latex) if latex else None


def _find_distance_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a distance of a built-in track, or None."""
    latex = load_formulas(track).get("distances", {}).get(name)
    return typeset(latex) if latex else None


def iter_measure_rules(rules: Rules, track: AnyTrack) -> Iterator[MeasureRule]:
    """Yield the measures with a weight, then the others, both in the order of the registry."""
    measures, roles = track.measures, track.settings.list_columns_by_role(rules.columns, rules.settings)
    weights = {name: rules.weight(name) for name in measures}
    total_weight = sum(weights.values())
    for name in sorted(measures, key=lambda name: not weights[name]):
        settings = rules.measure_settings(name)
        yield MeasureRule(
            measure=measures[name],
            formula=_find_measure_formula(track.name, name),
            weight=settings.weight or None,
            share=settings.weight / total_weight if total_weight else 0.0,
            scale=rules.scales.get(name),
            parameters=_format_parameters(measures[name].parameters, settings.parameters, roles),
        )


def iter_attacker_rules(rules: Rules, track: AnyTrack) -> Iterator[AttackerRule]:
    roles = track.settings.list_columns_by_role(rules.columns, rules.settings)
    for name, attacker in track.attackers.items():
        settings = rules.attacker_settings(name)
        parameters = _format_parameters(attacker.parameters, settings.parameters, roles)
        yield AttackerRule(attacker, counts_towards_security(rules, name), parameters)


def _list_ranking_formulas(frame: Frame) -> dict[str, Formula]:
    """Return the formulas of the competition by their keys, without those of named rules."""
    ranking = frame.rules.ranking
    formulas_by_key = {"utility": ranking.utility, "defence": ranking.defence, "attack": ranking.attack}
    present = {key: formula for key, formula in formulas_by_key.items() if formula is not None}
    return present | _list_totals(frame)


def _list_ranking_functions(rules: Rules) -> dict[str, str]:
    """Return the functions of packages that rank, by the keys of the formulas in whose places they are."""
    functions = {"defence": rules.ranking.function, "attack": rules.ranking.attack_function}
    return {key: function for key, function in functions.items() if function is not None}


def _list_totals(frame: Frame) -> dict[str, Formula]:
    """Return the formulas that combine the rounds, by their keys; none without rounds."""
    settings = [entry.settings for entry in frame.rounds if not entry.settings.practice]
    has_attacks = any(entry.rules.phase(REIDENTIFICATION) for entry in frame.rounds)
    keys = TOTAL_KEYS if has_attacks else ("total",)
    formulas_by_key = {key: find_total_formula(frame.rules.ranking, key, settings) for key in keys}
    return {key: formula for key, formula in formulas_by_key.items() if formula is not None and settings}


def _list_explained_names(ranking_formulas: Iterable[Formula]) -> list[str]:
    """Return the names and functions in the formulas, each once."""
    names = [
        name
        for formula in ranking_formulas
        for name in (*sorted(formula.collect_value_names()), *(call.func.id for call in formula.list_calls()))
    ]
    return list(dict.fromkeys(names))


def _format_question_parameters(rules: Rules, track: AnyTrack) -> dict[str, dict[str, str]]:
    """Return the parameters of each question of the competition as texts."""
    roles = track.settings.list_columns_by_role(rules.columns, rules.settings)
    return {
        name: _format_parameters(question.parameters, rules.questions.get(name, {}), roles)
        for name, question in track.select_questions(rules).items()
    }


def _format_settings(rules: Rules, track: AnyTrack) -> dict[str, str]:
    """Return the track's own settings as texts, in the form of ``_format_parameters``."""
    shown_settings = track.settings.list_shown(rules.settings)
    return {
        name: f"={value}" if isinstance(value, str) else _format_value(value)
        for name, value in shown_settings.items()
    }


def _format_parameters(
    parameters: Sequence[Parameter], given_values: Parameters, roles: Roles
) -> dict[str, str]:
    """Return the configured or default values as texts; ``=name`` stands for a label to translate."""
    return {
        parameter.name: _format_parameter(parameter, given_values.get(parameter.name), roles)
        for parameter in parameters
    }


def _format_parameter(parameter: Parameter, given_value: ParameterValue, roles: Roles) -> str:
    value = parameter.resolve_default(roles) if given_value is None else given_value
    if parameter.is_list and given_value is None and parameter.default is None:
        return "=all"
    return f"={value}" if parameter.kind == "choice" else _format_value(value)


def _format_value(value: ParameterValue) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return notation.format_exact_number(value) if isinstance(value, float) else str(value)

"""Setup step for measures: weights, parameters, attackers, questions, and the share of rows to keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition.scoring_versions import is_selected
from anoncup.competition.writer import collect_fields, replace_attackers, replace_measures, replace_questions
from anoncup.errors import DomainError
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter, ParameterValue, Roles
from anoncup.rules.settings import AttackerSettings, MeasureSettings, Parameters
from anoncup.rules.toml_text import format_table, replace_tables
from anoncup.tracks.model import AnyQuestion, AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure
from app.services.contests.contest import Contest
from app.web.organizer.forms import FormBody, ParsedForm
from app.web.organizer.setup_steps import RequestedSetup, SetupContext, render_step, save_step
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)

_MAX_BY_KIND = {"share": 1.0}


@dataclass(frozen=True, slots=True)
class ParameterChoice:
    """A parameter in the form. The organizer selects among ``options`` or types a number."""

    parameter: Parameter
    field: str
    options: tuple[str, ...]
    selected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartEntry:
    """A measure, an attacker or a question in the form.

    ``weight_text`` is the weight as typed. The last two fields describe a checkbox: whether an attacker
    counts toward the risk or a question is asked, and whether that can be changed.
    """

    name: str
    field: str
    choices: tuple[ParameterChoice, ...]
    is_weighted: bool = False
    weight_text: str = ""
    is_selected: bool = False
    is_selectable: bool = True


@router.get("/competitions/{slug}/organize/measures")
def show_measures(context: RequestedSetup) -> HTMLResponse:
    return _render_measures(context, None)


def _render_measures(
    context: SetupContext, form: ParsedForm | None, problem: DomainError | None = None
) -> HTMLResponse:
    content = _build_content(context.frame.contest, form)
    errors = form.errors if form else {}
    return render_step(context, "organizer/measures.html", problem=problem, errors=errors, **content)


@router.post("/competitions/{slug}/organize/measures")
def save_measures(context: RequestedSetup, form: FormBody) -> Response:
    selection = _parse_selection(form, context.frame.contest)
    render = partial(_render_measures, context, form)
    return save_step(context, form, selection.apply_to, render, step_name="measures")


@dataclass(frozen=True, slots=True)
class MeasureSelection:
    measures: Mapping[str, MeasureSettings]
    attackers: Mapping[str, AttackerSettings]
    questions: Mapping[str, Parameters]
    min_rows_kept: float | None

    def apply_to(self, contest: Contest) -> str:
        rules = contest.rules
        text = replace_attackers(
            replace_measures(contest.competition.file, self.measures), contest.track, self.attackers
        )
        if self.questions != rules.questions:
            text = replace_questions(text, contest.track, self.questions)
        limits = collect_fields(rules.limits) | {"min_rows_kept": self.min_rows_kept}
        return replace_tables(text, "limits", format_table("limits", limits))


def _parse_selection(form: ParsedForm, contest: Contest) -> MeasureSelection:
    rules, track = contest.rules, contest.track
    roles = track.settings.list_columns_by_role(rules.columns, rules.settings)
    measures = {
        name: MeasureSettings(
            form.parse_number(f"weight_{name}", default=0.0) if definition.weighs else 0.0,
            _parse_parameters(form, f"measure_{name}", definition.parameters, roles),
        )
        for name, definition in track.measures.items()
    }
    attackers = {
        name: AttackerSettings(
            definition.may_count and form.is_checked(f"counts_{name}"),
            _parse_parameters(form, f"attacker_{name}", definition.parameters, roles),
        )
        for name, definition in track.attackers.items()
    }
    questions = {
        name: _keep_stored_if_equal(
            _parse_parameters(form, f"question_{name}", definition.parameters, roles),
            rules.questions.get(name, {}),
            definition.parameters,
            roles,
        )
        for name, definition in track.questions.items()
        if form.is_checked(f"asks_{name}") or not definition.optional
    }
    min_rows_kept = form.parse_number("min_rows_kept", maximum=1) if track.allows_deletion else None
    if not any(definition.weight > 0 for definition in measures.values()) and not form.errors:
        form.errors["weights"] = "wrong_no_weights"
    return MeasureSelection(measures, attackers, _drop_default_questions(questions, track), min_rows_kept)


def _keep_stored_if_equal(
    new_values: Parameters, stored_values: Parameters, parameters: Sequence[Parameter], roles: Roles
) -> Parameters:
    """Return the stored parameters if the new ones resolve to the same values.

    The stored file may state default values explicitly; its text then stays as it is.
    """
    new_and_stored = [
        {
            parameter.name: values.get(parameter.name, parameter.resolve_default(roles))
            for parameter in parameters
        }
        for values in (new_values, stored_values)
    ]
    return stored_values if new_and_stored[0] == new_and_stored[1] else new_values


def _drop_default_questions(questions: Mapping[str, Parameters], track: AnyTrack) -> Mapping[str, Parameters]:
    """Drop required questions without parameters, which the file does not have to name."""
    return {
        name: parameters
        for name, parameters in questions.items()
        if parameters or track.questions[name].optional
    }


def _parse_parameters(
    form: ParsedForm, prefix: str, parameters: Sequence[Parameter], roles: Roles
) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, and all numbers except 0."""
    value_by_name = {
        parameter.name: _parse_value(form, f"{prefix}_{parameter.name}", parameter, roles)
        for parameter in parameters
    }
    return {
        parameter.name: value_by_name[parameter.name]
        for parameter in parameters
        if value_by_name[parameter.name]
        and (parameter.is_number or value_by_name[parameter.name] != parameter.resolve_default(roles))
    }


def _parse_value(form: ParsedForm, field: str, parameter: Parameter, roles: Roles) -> ParameterValue:
    """Return the selected or typed value. Unknown columns are dropped; an empty number gives None."""
    if parameter.is_list:
        return tuple(name for name in parameter.allowed_names(roles) if name in form.values(field))
    if not parameter.is_number:
        return form.text(field)
    if not form.text(field):
        return None
    return (
        form.parse_count(field)
        if parameter.kind == "whole"
        else form.parse_number(field, maximum=_MAX_BY_KIND.get(parameter.kind, inf))
    )


def _build_content(contest: Contest, form: ParsedForm | None) -> dict[str, Any]:
    """Return the template variables, with values from the rejected form or else from the file."""
    rules, track = contest.rules, contest.track
    roles = track.settings.list_columns_by_role(rules.columns, rules.settings)
    measure_entries = [_build_measure_entry(item, rules, roles, form) for item in track.measures.values()]
    min_rows_kept = (
        form.text("min_rows_kept") if form else _format_field_number(rules.limits.min_rows_kept or 0.0)
    )
    return {
        "weighing": [item for item in measure_entries if item.is_weighted],
        "reported": [item for item in measure_entries if not item.is_weighted],
        "counted": track.asks_identity(rules),
        "opened": form is not None and any(name.startswith("attacker_") for name in form.errors),
        "attackers": [_build_attacker_entry(item, rules, roles, form) for item in track.attackers.values()],
        "questions": [
            _build_question_entry(item, rules, roles, form)
            for item in track.questions.values()
            if item.parameters
        ],
        "min_rows_kept": min_rows_kept if track.allows_deletion else None,
    }


def _build_measure_entry(
    measure: AnyMeasure, rules: Rules, roles: Roles, form: ParsedForm | None
) -> PartEntry:
    name, settings = measure.name, rules.measure_settings(measure.name)
    choices = _build_choices(f"measure_{name}", measure.parameters, settings.parameters, roles, form)
    weight_text = form.text(f"weight_{name}") if form else _format_field_number(settings.weight)
    return PartEntry(name, f"weight_{name}", choices, is_weighted=measure.weighs, weight_text=weight_text)


def _build_attacker_entry(
    attacker: AnyAttacker, rules: Rules, roles: Roles, form: ParsedForm | None
) -> PartEntry:
    name, settings = attacker.name, rules.attacker_settings(attacker.name)
    choices = _build_choices(f"attacker_{name}", attacker.parameters, settings.parameters, roles, form)
    is_chosen = form.is_checked(f"counts_{name}") if form else is_selected(rules, name)
    return PartEntry(name, f"counts_{name}", choices, is_selected=is_chosen, is_selectable=attacker.may_count)


def _build_question_entry(
    question: AnyQuestion, rules: Rules, roles: Roles, form: ParsedForm | None
) -> PartEntry:
    """Build the entry of a question. Only optional questions can be deselected."""
    values = rules.questions.get(question.name, {})
    choices = _build_choices(f"question_{question.name}", question.parameters, values, roles, form)
    is_selected = form.is_checked(f"asks_{question.name}") if form else question.name in rules.questions
    field = f"asks_{question.name}"
    return PartEntry(
        question.name,
        field,
        choices,
        is_selected=is_selected or not question.optional,
        is_selectable=question.optional,
    )


def _build_choices(
    prefix: str, parameters: Sequence[Parameter], values: Parameters, roles: Roles, form: ParsedForm | None
) -> tuple[ParameterChoice, ...]:
    return tuple(
        ParameterChoice(
            parameter,
            f"{prefix}_{parameter.name}",
            parameter.allowed_names(roles),
            form.values(f"{prefix}_{parameter.name}") if form else _list_selected(parameter, values, roles),
        )
        for parameter in parameters
    )


def _list_selected(parameter: Parameter, values: Parameters, roles: Roles) -> tuple[str, ...]:
    """Return the values that the form shows as selected. A number that is not set stays empty."""
    value = values.get(parameter.name, None if parameter.is_number else parameter.resolve_default(roles))
    return value if isinstance(value, tuple) else () if value is None else (str(value),)


def _format_field_number(number: float) -> str:
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)

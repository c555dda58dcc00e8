"""Setup step for measures: weights, parameters, attackers, questions, and the share of rows to keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition import scoring_versions
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
from app.web.site import notation
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)

_MAX_BY_KIND = {"share": 1.0}


def _name_weight_field(measure: str) -> str:
    return f"weight_{measure}"


def _name_counts_field(attacker: str) -> str:
    return f"counts_{attacker}"


def _name_asks_field(question: str) -> str:
    return f"asks_{question}"


def _name_parameter_field(kind: str, part: str, parameter: Parameter) -> str:
    """Return the field of a parameter of a measure, an attacker or a question."""
    return f"{kind}_{part}_{parameter.name}"


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
            form.parse_number(_name_weight_field(name), default=0.0) if measure.weighs else 0.0,
            _parse_parameters(form, "measure", measure, roles),
        )
        for name, measure in track.measures.items()
    }
    attackers = {
        name: AttackerSettings(
            attacker.may_count and form.is_checked(_name_counts_field(name)),
            _parse_parameters(form, "attacker", attacker, roles),
        )
        for name, attacker in track.attackers.items()
    }
    questions = {
        name: _keep_stored_if_equal(
            _parse_parameters(form, "question", question, roles),
            rules.questions.get(name, {}),
            question.parameters,
            roles,
        )
        for name, question in track.questions.items()
        if form.is_checked(_name_asks_field(name)) or not question.optional
    }
    min_rows_kept = form.parse_number("min_rows_kept", maximum=1) if track.allows_deletion else None
    if not any(settings.weight > 0 for settings in measures.values()) and not form.errors:
        form.errors["weights"] = "wrong_no_weights"
    return MeasureSelection(measures, attackers, _drop_default_questions(questions, track), min_rows_kept)


def _keep_stored_if_equal(
    new_values: Parameters, stored_values: Parameters, parameters: Sequence[Parameter], roles: Roles
) -> Parameters:
    """Return the stored parameters if the new ones resolve to the same values.

    The stored file may state default values explicitly; its text then stays as it is.
    """
    names_and_defaults = [(parameter.name, parameter.resolve_default(roles)) for parameter in parameters]
    are_equal = all(
        new_values.get(name, default) == stored_values.get(name, default)
        for name, default in names_and_defaults
    )
    return stored_values if are_equal else new_values


def _drop_default_questions(questions: Mapping[str, Parameters], track: AnyTrack) -> Mapping[str, Parameters]:
    """Drop required questions without parameters, which the file does not have to name."""
    return {
        name: parameters
        for name, parameters in questions.items()
        if parameters or track.questions[name].optional
    }


def _parse_parameters(
    form: ParsedForm, kind: str, part: AnyMeasure | AnyAttacker | AnyQuestion, roles: Roles
) -> dict[str, Any]:
    """Return the parameters to write to the file.

    Numbers are written if they are positive, other values if they differ from the default. A list without
    any selected value is not written, so its parameter has the default value again.
    """
    parameters: dict[str, Any] = {}
    for parameter in part.parameters:
        value = _parse_value(form, _name_parameter_field(kind, part.name, parameter), parameter, roles)
        if value and (parameter.is_number or value != parameter.resolve_default(roles)):
            parameters[parameter.name] = value
    return parameters


def _parse_value(form: ParsedForm, field: str, parameter: Parameter, roles: Roles) -> ParameterValue:
    """Return the selected or typed value. Unknown columns are dropped; an empty number gives None."""
    if parameter.is_list:
        return tuple(name for name in parameter.allowed_names(roles) if name in form.values(field))
    if not parameter.is_number:
        return form.text(field)
    if not form.text(field):
        return None
    if parameter.kind == "whole":
        return form.parse_count(field)
    return form.parse_number(field, maximum=_MAX_BY_KIND.get(parameter.kind, inf))


def _build_content(contest: Contest, form: ParsedForm | None) -> dict[str, Any]:
    """Return the template variables, with values from the rejected form or else from the file."""
    rules, track = contest.rules, contest.track
    roles = track.settings.list_columns_by_role(rules.columns, rules.settings)
    measures = [_build_measure_entry(measure, rules, roles, form) for measure in track.measures.values()]
    min_rows_kept = (
        form.text("min_rows_kept")
        if form
        else notation.format_exact_number(rules.limits.min_rows_kept or 0.0)
    )
    return {
        "weighted_measures": [entry for entry in measures if entry.is_weighted],
        "reported_measures": [entry for entry in measures if not entry.is_weighted],
        "asks_identity": track.asks_identity(rules),
        "is_attackers_section_open": form is not None
        and any(name.startswith("attacker_") for name in form.errors),
        "attackers": [
            _build_attacker_entry(attacker, rules, roles, form) for attacker in track.attackers.values()
        ],
        "questions": [
            _build_question_entry(question, rules, roles, form)
            for question in track.questions.values()
            if question.parameters
        ],
        "min_rows_kept": min_rows_kept if track.allows_deletion else None,
    }


def _build_measure_entry(
    measure: AnyMeasure, rules: Rules, roles: Roles, form: ParsedForm | None
) -> PartEntry:
    settings, field = rules.measure_settings(measure.name), _name_weight_field(measure.name)
    return PartEntry(
        measure.name,
        field,
        _build_choices("measure", measure, settings.parameters, roles, form),
        is_weighted=measure.weighs,
        weight_text=form.text(field) if form else notation.format_exact_number(settings.weight),
    )


def _build_attacker_entry(
    attacker: AnyAttacker, rules: Rules, roles: Roles, form: ParsedForm | None
) -> PartEntry:
    settings, field = rules.attacker_settings(attacker.name), _name_counts_field(attacker.name)
    is_selected = form.is_checked(field) if form else scoring_versions.is_selected(rules, attacker.name)
    return PartEntry(
        attacker.name,
        field,
        _build_choices("attacker", attacker, settings.parameters, roles, form),
        is_selected=is_selected,
        is_selectable=attacker.may_count,
    )


def _build_question_entry(
    question: AnyQuestion, rules: Rules, roles: Roles, form: ParsedForm | None
) -> PartEntry:
    """Build the entry of a question. Only optional questions can be deselected."""
    parameters, field = rules.questions.get(question.name, {}), _name_asks_field(question.name)
    is_selected = form.is_checked(field) if form else question.name in rules.questions
    return PartEntry(
        question.name,
        field,
        _build_choices("question", question, parameters, roles, form),
        is_selected=is_selected or not question.optional,
        is_selectable=question.optional,
    )


def _build_choices(
    kind: str,
    part: AnyMeasure | AnyAttacker | AnyQuestion,
    values: Parameters,
    roles: Roles,
    form: ParsedForm | None,
) -> tuple[ParameterChoice, ...]:
    fields = [_name_parameter_field(kind, part.name, parameter) for parameter in part.parameters]
    return tuple(
        ParameterChoice(
            parameter,
            field,
            options=parameter.allowed_names(roles),
            selected=form.values(field) if form else _list_selected(parameter, values, roles),
        )
        for parameter, field in zip(part.parameters, fields, strict=True)
    )


def _list_selected(parameter: Parameter, values: Parameters, roles: Roles) -> tuple[str, ...]:
    """Return the values that the form shows as selected. A number that is not set stays empty."""
    value = values.get(parameter.name, None if parameter.is_number else parameter.resolve_default(roles))
    if value is None:
        return ()
    if isinstance(value, tuple):
        return value
    return (notation.format_exact_number(value) if isinstance(value, float) else str(value),)

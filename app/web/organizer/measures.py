"""The step of the measures: weights, parameters, the attackers that count, the rows to be kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition.scoring_versions import settings_let_count
from anoncup.competition.writer import fields_of, with_attackers, with_measures, with_questions
from anoncup.errors import DomainError
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter, Roles, Value
from anoncup.rules.settings import AttackerSettings, MeasureSettings, Parameters
from anoncup.rules.toml_text import table_text, with_tables
from anoncup.tracks.model import Question, Track
from anoncup.tracks.parts import Attacker, Measure
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.contests.contest import Contest
from app.web.organizer.forms import Form, Sent
from app.web.organizer.setup_steps import desk_of, saved, step_page
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)

MOST = {"share": 1.0}


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter as its form shows it: ``among`` it is chosen, or typed if it is a number."""

    parameter: Parameter
    field: str
    among: tuple[str, ...]
    chosen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A measure or an attacker. ``value``: its weight as typed; ``counts``: towards the security."""

    name: str
    field: str
    choices: tuple[Choice, ...]
    weighs: bool = False
    value: str = ""
    counts: bool = False
    may_count: bool = True


@router.get("/competitions/{slug}/organize/measures")
def measures(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    content = measures_content(desk.frame.contest, None)
    return step_page(request, principal, "organizer/measures.html", desk, wrong={}, **content)


@router.post("/competitions/{slug}/organize/measures")
def save_measures(request: Request, slug: str, principal: SignedIn, form: Form) -> Response:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    chosen = chosen_in(form, desk.frame.contest)
    problem: DomainError | None = None
    if not form.wrong:
        answer = saved(
            principal,
            slug,
            chosen.written_into,
            back="measures",
            of=form.text("of"),
            to=desk.onward(form, "measures"),
        )
        if isinstance(answer, Response):
            return answer
        problem = answer
    content = measures_content(desk.frame.contest, form)
    return step_page(
        request, principal, "organizer/measures.html", desk, problem=problem, wrong=form.wrong, **content
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    measures: Mapping[str, MeasureSettings]
    attackers: Mapping[str, AttackerSettings]
    questions: Mapping[str, Parameters]
    min_rows_kept: float | None

    def written_into(self, contest: Contest) -> str:
        rules = contest.rules
        text = with_attackers(with_measures(contest.row.file, self.measures), contest.track, self.attackers)
        if self.questions != rules.questions:
            text = with_questions(text, contest.track, self.questions)
        limits = fields_of(rules.limits) | {"min_rows_kept": self.min_rows_kept}
        return with_tables(text, "limits", table_text("limits", limits))


def chosen_in(form: Sent, contest: Contest) -> Chosen:
    rules, track = contest.rules, contest.track
    roles = track.roles(rules.columns, rules.settings)
    weighed = {
        name: MeasureSettings(
            form.amount(f"weight_{name}", default=0.0) if one.weighs else 0.0,
            parameters_in(form, f"measure_{name}", one.parameters, roles),
        )
        for name, one in track.measures.items()
    }
    counted = {
        name: AttackerSettings(
            one.may_count and form.flag(f"counts_{name}"),
            parameters_in(form, f"attacker_{name}", one.parameters, roles),
        )
        for name, one in track.attackers.items()
    }
    asked = {
        name: as_before(
            parameters_in(form, f"question_{name}", one.parameters, roles),
            rules.questions.get(name, {}),
            one.parameters,
            roles,
        )
        for name, one in track.questions.items()
        if form.flag(f"asks_{name}") or not one.optional
    }
    kept = form.amount("min_rows_kept", most=1) if track.deletes else None
    if not any(one.weight > 0 for one in weighed.values()) and not form.wrong:
        form.wrong["weights"] = "wrong_no_weights"
    return Chosen(weighed, counted, named(asked, track), kept)


def as_before(new: Parameters, before: Parameters, accepted: Sequence[Parameter], roles: Roles) -> Parameters:
    """What the file said, if what is new says the same: it may have written what is usual."""
    said = [{one.name: given.get(one.name, one.usual(roles)) for one in accepted} for given in (new, before)]
    return before if said[0] == said[1] else new


def named(asked: Mapping[str, Parameters], track: Track) -> Mapping[str, Parameters]:
    """The questions that the file has to name."""
    return {name: given for name, given in asked.items() if given or track.questions[name].optional}


def parameters_in(form: Sent, prefix: str, accepted: Sequence[Parameter], roles: Roles) -> dict[str, Any]:
    """Those that say something else than what is usual."""
    found = {one.name: sent_value(form, f"{prefix}_{one.name}", one, roles) for one in accepted}
    return {
        one.name: found[one.name]
        for one in accepted
        if found[one.name] and (one.is_number or found[one.name] != one.usual(roles))
    }


def sent_value(form: Sent, field: str, one: Parameter, roles: Roles) -> Value:
    """What was chosen or typed; of several columns those that there are, of nothing nothing."""
    if one.is_list:
        return tuple(name for name in one.allowed(roles) if name in form.all(field))
    if not one.is_number:
        return form.text(field)
    if not form.text(field):
        return None
    return form.whole(field) if one.kind == "whole" else form.amount(field, most=MOST.get(one.kind, inf))


def measures_content(contest: Contest, form: Sent | None) -> dict[str, Any]:
    """The entries of the form, as the file has them or as they were typed."""
    rules, track = contest.rules, contest.track
    roles = track.roles(rules.columns, rules.settings)
    weighed = [measure_entry(one, rules, roles, form) for one in track.measures.values()]
    kept = form.text("min_rows_kept") if form else plain(rules.limits.min_rows_kept or 0.0)
    return {
        "weighing": [one for one in weighed if one.weighs],
        "reported": [one for one in weighed if not one.weighs],
        "counted": track.counts(rules),
        "opened": form is not None and any(name.startswith("attacker_") for name in form.wrong),
        "attackers": [attacker_entry(one, rules, roles, form) for one in track.attackers.values()],
        "questions": [
            question_entry(one, rules, roles, form) for one in track.questions.values() if one.parameters
        ],
        "min_rows_kept": kept if track.deletes else None,
    }


def measure_entry(one: Measure, rules: Rules, roles: Roles, form: Sent | None) -> Entry:
    name, settings = one.name, rules.measure(one.name)
    choices = choices_of(f"measure_{name}", one.parameters, settings.parameters, roles, form)
    value = form.text(f"weight_{name}") if form else plain(settings.weight)
    return Entry(name, f"weight_{name}", choices, weighs=one.weighs, value=value)


def attacker_entry(one: Attacker, rules: Rules, roles: Roles, form: Sent | None) -> Entry:
    name, settings = one.name, rules.attacker(one.name)
    choices = choices_of(f"attacker_{name}", one.parameters, settings.parameters, roles, form)
    counts = form.flag(f"counts_{name}") if form else settings_let_count(rules, name)
    return Entry(name, f"counts_{name}", choices, counts=counts, may_count=one.may_count)


def question_entry(one: Question, rules: Rules, roles: Roles, form: Sent | None) -> Entry:
    """``counts``: it is asked; ``may_count``: that can be chosen."""
    given = rules.questions.get(one.name, {})
    choices = choices_of(f"question_{one.name}", one.parameters, given, roles, form)
    asked = form.flag(f"asks_{one.name}") if form else one.name in rules.questions
    field = f"asks_{one.name}"
    return Entry(one.name, field, choices, counts=asked or not one.optional, may_count=one.optional)


def choices_of(
    prefix: str, accepted: Sequence[Parameter], given: Parameters, roles: Roles, form: Sent | None
) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            one,
            f"{prefix}_{one.name}",
            one.allowed(roles),
            form.all(f"{prefix}_{one.name}") if form else chosen_of(one, given, roles),
        )
        for one in accepted
    )


def chosen_of(one: Parameter, given: Parameters, roles: Roles) -> tuple[str, ...]:
    """What stands in the form; a number that nobody gave is left to the part."""
    value = given.get(one.name, None if one.is_number else one.usual(roles))
    return value if isinstance(value, tuple) else () if value is None else (str(value),)


def plain(number: float) -> str:
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)

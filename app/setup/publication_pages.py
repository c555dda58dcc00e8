"""Settings of the publication: visibility, ranking, quotas and limits."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Literal, cast
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition.parser import MAX_DIGITS
from anoncup.competition.ranking_formulas import list_formula_names
from anoncup.competition.writer import replace_publication_rules
from anoncup.errors import Conflict, DomainError
from anoncup.formulas.errors import FormulaError, InvalidFormula
from anoncup.formulas.syntax import MAX_CHARACTERS, Formula, parse_formula
from anoncup.messages import N_, Message
from anoncup.rules.model import Rules
from anoncup.rules.settings import Limits, Publication, Ranking
from anoncup.rules.toml_values import MAX_HOURS
from app.competitions import competitions
from app.competitions.contest import Contest
from app.core.pages.forms import FormBody, ParsedForm, format_local_time
from app.core.pages.pages import PageRoute
from app.core.pages.sentences import translate_sentence
from app.setup.setup_context import RequestedSetup, SetupContext, render_setup, save_rules

router = APIRouter(route_class=PageRoute)

SAVED_BY_ANOTHER = N_(
    "other values have been saved here since you opened this page: open it in another tab to see them; "
    "saving again replaces them"
)

_ALLOWED_VALUES: dict[str, tuple[str, ...]] = {
    "board": ("public", "teams", "organizers"),
    "feedback": ("hidden", "immediate", "daily"),
    "owners": ("shown", "hidden"),
    "rule": ("score", "rank_sum", "formula"),
}
_ORDERS = ("ascending", "descending")
_FORMULA_FIELDS = ("utility", "defence", "attack")
_ALWAYS_VISIBLE_FIELDS = {
    *("board", "rule", "valid_per_day", "guesses_per_target", "finals"),
    *("order", *_FORMULA_FIELDS),
}
"""Fields that are visible even if the section of further fields is folded."""
_INVALID_FORMULA = "wrong_formula"
_Formulas = Mapping[str, Formula | None]
"""The formula of each field; None if it is empty or invalid."""
_LIMIT_NAMES = tuple(name for name in Limits.__dataclass_fields__ if name != "min_rows_kept")


@router.get("/competitions/{slug}/organize/publication")
def show_publication(context: RequestedSetup) -> HTMLResponse:
    return _render_publication(context, _format_values(context.frame.rules), {}, {})


@router.post("/competitions/{slug}/organize/publication")
def save_publication(context: RequestedSetup, form: FormBody) -> Response:
    formulas, formula_errors = _parse_formulas(form)
    form.errors.update(dict.fromkeys(formula_errors, _INVALID_FORMULA))
    settings = _parse_settings(form, context.frame.rules, formulas)

    def write_file(contest: Contest) -> str:
        if form.text("of") not in {"", _compute_fingerprint(contest.rules)}:
            raise Conflict(SAVED_BY_ANOTHER, code="changed_meanwhile")
        return replace_publication_rules(contest.competition.file, *settings)

    render = partial(_render_publication, context, form.raw_values(), form.errors, formula_errors)
    return save_rules(context, form, write_file, render, page_name="publication")


def _compute_fingerprint(rules: Rules) -> str:
    """Return a hash of the values that the form shows, so that changes made meanwhile are noticed."""
    return competitions.compute_text_digest(repr((rules.publication, rules.ranking, rules.limits)))


def _render_publication(
    context: SetupContext,
    values: dict[str, str],
    error_codes: dict[str, str],
    formula_errors: dict[str, FormulaError],
    rejection: DomainError | None = None,
) -> HTMLResponse:
    """Render the form. If the file is rejected for a formula, its error is shown at the field of the formula.

    ``error_codes`` and ``formula_errors`` are by field.
    """
    if isinstance(rejection, InvalidFormula):
        name = rejection.key.rpartition(".")[2]
        formula_errors = {name: rejection.error}
        rejection = None
    error_codes = error_codes | dict.fromkeys(formula_errors, _INVALID_FORMULA)
    return render_setup(
        context,
        "setup/publication.html",
        problem=rejection,
        values=values,
        fingerprint=_compute_fingerprint(context.frame.rules),
        errors=error_codes,
        choices=_list_choices(context.frame.rules),
        orders=_ORDERS,
        formula_names=list_formula_names(context.frame.rules),
        formula_messages={
            name: translate_sentence(_describe_formula_error(error), context.page.t)
            for name, error in formula_errors.items()
        },
        max_characters=MAX_CHARACTERS,
        usual=asdict(Publication()) | asdict(Ranking()),
        counts=_LIMIT_NAMES,
        most_hours=MAX_HOURS,
        opened=bool(error_codes.keys() - _ALWAYS_VISIBLE_FIELDS),
    )


def _list_choices(rules: Rules) -> dict[str, tuple[str, ...]]:
    """Return the values of each choice. A ranking function is named in the file only, and can be kept."""
    functions = ("function",) if rules.ranking.function else ()
    return _ALLOWED_VALUES | {"rule": (*_ALLOWED_VALUES["rule"], *functions)}


def _describe_formula_error(error: FormulaError) -> Message:
    position = (error.position or 0) + 1
    return Message("at character {position}: {reason}", position=position, reason=error.message)


def _format_values(rules: Rules) -> dict[str, str]:
    publication, zone = rules.publication, ZoneInfo(rules.timezone)
    return {
        "board": publication.board,
        "frozen_from": format_local_time(publication.frozen_from, zone),
        "feedback": publication.feedback,
        "digits": str(publication.digits),
        "owners": publication.owners,
        "shuffle_targets": "yes" if publication.shuffle_targets else "",
        "reveal_notice_hours": str(publication.reveal_notice_hours),
        "rule": rules.ranking.rule,
        "order": rules.ranking.order,
        **{name: _format_formula(getattr(rules.ranking, name)) for name in _FORMULA_FIELDS},
        "finals": str(rules.ranking.finals),
        **{name: str(getattr(rules.limits, name)) for name in _LIMIT_NAMES},
    }


def _format_formula(formula: Formula | None) -> str:
    return "" if formula is None else formula.text


def _parse_formulas(form: ParsedForm) -> tuple[_Formulas, dict[str, FormulaError]]:
    """Parse the formulas, and return the errors of those that are invalid.

    Line breaks are blanks. The names in the formulas are checked with the file.
    """
    formulas: dict[str, Formula | None] = dict.fromkeys(_FORMULA_FIELDS)
    errors: dict[str, FormulaError] = {}
    for name in _FORMULA_FIELDS:
        text = " ".join(form.text(name).splitlines())
        try:
            formulas[name] = parse_formula(text) if text else None
        except FormulaError as error:
            errors[name] = error
    return formulas, errors


def _parse_settings(
    form: ParsedForm, stored_rules: Rules, formulas: _Formulas
) -> tuple[Publication, Ranking, Limits]:
    zone = ZoneInfo(stored_rules.timezone)
    choices = _list_choices(stored_rules)
    chosen_values = {name: form.parse_choice(name, allowed) for name, allowed in choices.items()}
    publication = Publication(
        board=cast(Literal["public", "teams", "organizers"], chosen_values["board"]),
        frozen_from=form.parse_datetime("frozen_from", zone, stored_rules.publication.frozen_from),
        feedback=cast(Literal["hidden", "immediate", "daily"], chosen_values["feedback"]),
        shuffle_targets=form.is_checked("shuffle_targets"),
        digits=form.parse_count("digits", minimum=0, maximum=MAX_DIGITS),
        owners=cast(Literal["shown", "hidden"], chosen_values["owners"]),
        reveal_notice_hours=form.parse_count("reveal_notice_hours", minimum=0, maximum=MAX_HOURS),
    )
    limits = {name: form.parse_count(name) for name in _LIMIT_NAMES}
    ranking = _parse_ranking(form, stored_rules.ranking, chosen_values["rule"], formulas)
    return publication, ranking, replace(stored_rules.limits, **limits)


def _parse_ranking(form: ParsedForm, stored_ranking: Ranking, rule: str, formulas: _Formulas) -> Ranking:
    """Return the chosen rule with its formulas, in place of the stored ones; totals of rounds are kept."""
    ranking = replace(
        stored_ranking,
        rule=cast(Literal["score", "rank_sum", "formula", "function"], rule),
        finals=form.parse_count("finals"),
        attack=formulas["attack"],
    )
    if rule == "formula" and not form.text("defence"):
        form.errors["defence"] = "missing_formula"
    if rule in {"formula", "function"}:
        order = cast(Literal["ascending", "descending"], form.parse_choice("order", _ORDERS))
        ranking = replace(ranking, order=order)
    if rule == "formula":
        return replace(ranking, function=None, utility=formulas["utility"], defence=formulas["defence"])
    for name in ("defence", "utility"):
        if form.text(name) not in {"", _format_formula(getattr(stored_ranking, name))}:
            form.errors[name] = "unused_formula"
    function = stored_ranking.function if rule == "function" else None
    return replace(ranking, function=function, utility=None, defence=None)

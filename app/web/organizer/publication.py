"""Setup step for publication: visibility, ranking, quotas and limits."""

from dataclasses import asdict, replace
from functools import partial
from typing import Literal, cast
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition.parser import MAX_DIGITS
from anoncup.competition.writer import replace_publication_rules
from anoncup.errors import DomainError
from anoncup.rules.model import Rules
from anoncup.rules.settings import Limits, Publication, Ranking
from anoncup.rules.toml_values import MAX_HOURS
from app.web.organizer.forms import FormBody, ParsedForm, format_local_time
from app.web.organizer.setup_steps import RequestedSetup, SetupContext, render_step, save_step
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)

_ALLOWED_VALUES: dict[str, tuple[str, ...]] = {
    "board": ("public", "teams", "organizers"),
    "feedback": ("hidden", "immediate", "daily"),
    "owners": ("shown", "hidden"),
    "rule": ("score", "rank_sum", "formula"),
}
_ALWAYS_VISIBLE_FIELDS = {"board", "rule", "valid_per_day", "guesses_per_target", "finals"}
"""Fields that are visible even if the section of further fields is folded."""
_LIMIT_NAMES = tuple(name for name in Limits.__dataclass_fields__ if name != "min_rows_kept")


@router.get("/competitions/{slug}/organize/publication")
def show_publication(context: RequestedSetup) -> HTMLResponse:
    return _render_publication(context, _format_values(context.frame.rules), {})


@router.post("/competitions/{slug}/organize/publication")
def save_publication(context: RequestedSetup, form: FormBody) -> Response:
    settings = _parse_settings(form, context.frame.rules)
    return save_step(
        context,
        form,
        lambda contest: replace_publication_rules(contest.competition.file, *settings),
        partial(_render_publication, context, form.raw_values(), form.errors),
        step_name="publication",
    )


def _render_publication(
    context: SetupContext, values: dict[str, str], errors: dict[str, str], problem: DomainError | None = None
) -> HTMLResponse:
    return render_step(
        context,
        "organizer/publication.html",
        problem=problem,
        values=values,
        errors=errors,
        choices=_ALLOWED_VALUES,
        usual=asdict(Publication()) | asdict(Ranking()),
        counts=_LIMIT_NAMES,
        most_hours=MAX_HOURS,
        opened=bool(errors.keys() - _ALWAYS_VISIBLE_FIELDS),
    )


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
        "finals": str(rules.ranking.finals),
        **{name: str(getattr(rules.limits, name)) for name in _LIMIT_NAMES},
    }


def _parse_settings(form: ParsedForm, stored_rules: Rules) -> tuple[Publication, Ranking, Limits]:
    zone = ZoneInfo(stored_rules.timezone)
    chosen_values = {name: form.parse_choice(name, allowed) for name, allowed in _ALLOWED_VALUES.items()}
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
    ranking = _parse_ranking(form, stored_rules.ranking, chosen_values["rule"])
    return publication, ranking, replace(stored_rules.limits, **limits)


def _parse_ranking(form: ParsedForm, stored_ranking: Ranking, rule: str) -> Ranking:
    """Return the chosen rule. Formulas are written in the file; a named rule replaces that of releases."""
    finals = form.parse_count("finals")
    if rule == "formula":
        return replace(stored_ranking, finals=finals)
    named_rule = cast(Literal["score", "rank_sum"], rule)
    return Ranking(named_rule, finals, attack=stored_ranking.attack)

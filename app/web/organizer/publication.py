"""The step of publication: who sees what when, the ranking, quotas and limits."""

from dataclasses import asdict, replace
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition.parser import MOST_DIGITS
from anoncup.competition.writer import with_publication
from anoncup.errors import DomainError
from anoncup.rules.model import Rules
from anoncup.rules.settings import Limits, Publication, Ranking
from anoncup.rules.toml_values import MOST_HOURS
from app.db.transaction import transaction
from app.http.authentication import Address, SignedIn
from app.http.step_up import confirmed
from app.web.organizer.forms import Form, Sent, local
from app.web.organizer.setup_steps import desk_of, saved, step_page
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)

CHOICES: dict[str, tuple[str, ...]] = {
    "board": ("public", "teams", "organizers"),
    "feedback": ("hidden", "immediate", "daily"),
    "owners": ("shown", "hidden"),
    "rule": ("score", "rank_sum"),
}
AT_ONCE = {"board", "rule", "valid_per_day", "guesses_per_target", "finals"}
"""The fields that are not folded away."""
COUNTS = tuple(name for name in Limits.__dataclass_fields__ if name != "min_rows_kept")


@router.get("/competitions/{slug}/organize/publication")
def publication(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    values = values_of(desk.frame.rules)
    return step_page(request, principal, "organizer/publication.html", desk, **content_of(values, {}))


@router.post("/competitions/{slug}/organize/publication")
def save_publication(
    request: Request, slug: str, principal: SignedIn, address: Address, form: Form
) -> Response:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    found = settings_in(form, desk.frame.rules)
    problem: DomainError | None = None
    if not form.wrong:
        answer = saved(
            principal,
            slug,
            lambda contest: with_publication(contest.row.file, *found),
            back="publication",
            of=form.text("of"),
            to=desk.onward(form, "publication"),
            sure=lambda: confirmed(principal, address, form.secret("password")),
        )
        if isinstance(answer, Response):
            return answer
        problem = answer
    content = content_of(form.typed(), form.wrong)
    return step_page(request, principal, "organizer/publication.html", desk, problem=problem, **content)


def content_of(values: dict[str, str], wrong: dict[str, str]) -> dict[str, Any]:
    return {
        "values": values,
        "wrong": wrong,
        "choices": CHOICES,
        "usual": asdict(Publication()) | asdict(Ranking()),
        "counts": COUNTS,
        "most_hours": MOST_HOURS,
        "opened": bool(wrong.keys() - AT_ONCE),
    }


def values_of(rules: Rules) -> dict[str, str]:
    shown, zone = rules.publication, ZoneInfo(rules.timezone)
    return {
        "board": shown.board,
        "frozen_from": local(shown.frozen_from, zone),
        "feedback": shown.feedback,
        "digits": str(shown.digits),
        "owners": shown.owners,
        "shuffle_targets": "yes" if shown.shuffle_targets else "",
        "reveal_notice_hours": str(shown.reveal_notice_hours),
        "rule": rules.ranking.rule,
        "finals": str(rules.ranking.finals),
        **{name: str(getattr(rules.limits, name)) for name in COUNTS},
    }


def settings_in(form: Sent, before: Rules) -> tuple[Publication, Ranking, Limits]:
    zone = ZoneInfo(before.timezone)
    chosen = {name: form.one_of(name, allowed) for name, allowed in CHOICES.items()}
    shown = Publication(
        board=cast(Literal["public", "teams", "organizers"], chosen["board"]),
        frozen_from=form.moment("frozen_from", zone, before.publication.frozen_from),
        feedback=cast(Literal["hidden", "immediate", "daily"], chosen["feedback"]),
        shuffle_targets=form.flag("shuffle_targets"),
        digits=form.whole("digits", least=0, most=MOST_DIGITS),
        owners=cast(Literal["shown", "hidden"], chosen["owners"]),
        reveal_notice_hours=form.whole("reveal_notice_hours", least=0, most=MOST_HOURS),
    )
    rule = cast(Literal["score", "rank_sum"], chosen["rule"])
    counts = {name: form.whole(name) for name in COUNTS}
    return shown, Ranking(rule, form.whole("finals")), replace(before.limits, **counts)

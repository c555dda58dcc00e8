"""The rules of a competition in words and formulas, and its data: all read from its file and the registry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from anoncup.competition.scoring_versions import attacker_counts
from anoncup.evaluation.ranking import compute_utility, overall, utility_score
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter, Roles, Value
from anoncup.rules.settings import Parameters
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure
from app.db.models import Competition
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn
from app.services.contests import sealed_inputs
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, page
from app.web.site.questions import alike
from app.web.visitor import formulas

router = APIRouter(route_class=PageRoute)
LIMITS = (
    "valid_per_day",
    "valid_total",
    "attempts_per_day",
    "attempts_total",
    "guesses_per_target",
    "file_mb",
)
SHARES = (0.25, 0.5)
"""Of the scales: the values of the worked example."""
FOUND = 0.3
"""What the best attacker finds in the worked example."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A measure as this competition uses it. ``weight``: None where it is only reported; ``share``: of all
    weights; ``scale``: None before the data are there. ``parameters``: by name what the file says, or the
    word of the default."""

    measure: Measure
    formula: Markup | None
    weight: float | None
    share: float
    scale: float | None
    parameters: dict[str, str]


@dataclass(frozen=True, slots=True)
class Attack:
    """A built-in attacker as this competition uses it."""

    attacker: Attacker
    counts: bool
    parameters: dict[str, str]


@dataclass(frozen=True, slots=True)
class Worked:
    """The scores of a release that was thought up, by the competition's own weights and scales."""

    values: dict[str, tuple[float, float]]
    utility: float
    security: float
    overall: float


@router.get("/competitions/{slug}/rules")
def rules(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        seed = sealed_inputs.commitment_of(session, frame.contest.id) if frame.contest.row.drawing else None
    rules, track = frame.rules, frame.contest.track
    return page(
        request,
        principal,
        "visitor/rules.html",
        frame=frame,
        seed=seed,
        track=track,
        measures=list(measure_rules(rules, track)),
        attacks=list(attack_rules(rules, track)),
        worked=worked(rules, track),
        formulas=formulas,
        limits={name: getattr(rules.limits, name) for name in LIMITS},
        questions=list(track.asked(rules).values()),
        questions_by_file=alike(track.asked(rules).values()),
        asked_with=asked_with(rules, track),
        source=source_of(frame.contest.row, track),
    )


def measure_rules(rules: Rules, track: Track) -> Iterator[Rule]:
    """Those with a weight first, each kind in the registry's order."""
    known, roles = track.measures, track.roles(rules.columns, rules.settings)
    weights = {name: rules.weight(name) for name in known}
    together = sum(weights.values())
    for name in sorted(known, key=lambda name: not weights[name]):
        settings = rules.measure(name)
        yield Rule(
            measure=known[name],
            formula=formulas.of_measure(track.name, name),
            weight=settings.weight or None,
            share=settings.weight / together if together else 0.0,
            scale=rules.scales.get(name),
            parameters=told(known[name].parameters, settings.parameters, roles),
        )


def attack_rules(rules: Rules, track: Track) -> Iterator[Attack]:
    roles = track.roles(rules.columns, rules.settings)
    for name, attacker in track.attackers.items():
        settings = rules.attacker(name)
        parameters = told(attacker.parameters, settings.parameters, roles)
        yield Attack(attacker, attacker_counts(rules, name), parameters)


def asked_with(rules: Rules, track: Track) -> dict[str, dict[str, str]]:
    """The parameters of each question that is asked."""
    roles = track.roles(rules.columns, rules.settings)
    return {
        name: told(question.parameters, rules.questions.get(name, {}), roles)
        for name, question in track.asked(rules).items()
    }


def told(known: Sequence[Parameter], given: Parameters, roles: Roles) -> dict[str, str]:
    """Every parameter as the file gives it, else what is usual; ``=name`` stands for a word."""
    return {one.name: written(one, given.get(one.name), roles) for one in known}


def written(one: Parameter, given: Value, roles: Roles) -> str:
    value = one.usual(roles) if given is None else given
    if one.is_list and given is None and one.default is None:
        return "=all"
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"={value}" if one.kind == "choice" else str(value)


def worked(rules: Rules, track: Track) -> Worked | None:
    """A release that loses a quarter and a half of the first measures' scales; None without scales."""
    known = track.measures
    weighing = [name for name in known if rules.weight(name)]
    scales = rules.scales
    if not weighing or not all(scales.get(name) for name in weighing):
        return None
    values = dict.fromkeys(weighing, 0.0) | {
        name: share * scales[name] for name, share in zip(weighing, SHARES, strict=False)
    }
    u = compute_utility(
        values, measures=known, weights=rules.weights, scales=scales, largest_cell=0.0, how=track.utility
    )
    shown = {name: (value, utility_score(value, scales[name])) for name, value in values.items() if value}
    return Worked(shown, u, FOUND, overall(u, FOUND))


def source_of(row: Competition, track: Track) -> str | None:
    """The name of the data, if they are some whose source is known."""
    return track.shipped_as(row.original)

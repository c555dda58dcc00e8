"""The second phase as its teams meet it: what may be attacked, and one target with its guesses."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.errors import DomainError, InvalidUpload, NotFound, Problem
from anoncup.rules.model import Rules
from anoncup.schemas import Judged
from anoncup.tracks.model import Question, Track
from anoncup.tracks.outcomes import beyond_chance
from app.db.models import Competition, Guess, State, Target
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.accounts.accounts import Principal
from app.services.attacks import guesses, targets
from app.services.attacks.targets import Shown
from app.services.submissions import quota
from app.web.site import language
from app.web.site.frame import Frame, frame_of
from app.web.site.pages import PageRoute, again, page
from app.web.site.questions import alike
from app.web.team.upload_form import words_of_script

router = APIRouter(route_class=PageRoute)

SHOWN_GUESSES = 100
OVER = ("settling", "closed")
"""There are targets, and none may be attacked any more."""
WAITING = (State.QUEUED, State.SCORING)


@dataclass(frozen=True, slots=True)
class Told:
    """One of the team's own guesses; ``outcome``: None while the competition hides it; ``lines``: how many
    its file has, where that is settled; ``counts``: its value is the share of the rows that are right."""

    made: Guess
    outcome: Judged | None
    lines: int | None
    counts: bool

    @property
    def correct(self) -> int | float | None:
        return self.outcome.correct if self.outcome else None

    @property
    def waits(self) -> bool:
        return self.made.state in WAITING


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about one target, as the team may answer it. ``left``: guesses, None where it cannot guess;
    ``best``: the best outcome that it knows of."""

    question: Question
    left: int | None
    best: Judged | None
    lines: int | None

    @property
    def name(self) -> str:
        return self.question.name


@router.get("/competitions/{slug}/targets")
def all_targets(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        published = published_targets(session, principal, slug)
        own = own_guesses(session, principal, frame) if published is not None else []
        report = quota.report(session, principal, slug) if frame.team and published is not None else None
    return page(
        request,
        principal,
        "team/targets.html",
        frame=frame,
        targets=published,
        own=own[:SHOWN_GUESSES],
        more=max(0, len(own) - SHOWN_GUESSES),
        waits=any(one.waits for one in own),
        best=best_by_target(own),
        teams={one.target.id: one.team for one in published or []},
        report=report,
        guide=guide(frame),
    )


def published_targets(session: Session, principal: Principal, slug: str) -> list[Shown] | None:
    try:
        return targets.listed(session, principal, slug)
    except NotFound:  # only the targets can be missing: the competition has been found
        return None


def own_guesses(session: Session, principal: Principal, frame: Frame) -> list[Told]:
    """The team's own guesses, newest first; an organizer has none."""
    if frame.team is None:
        return []
    found, horizon = guesses.of_team(session, principal, frame.contest.slug)
    known = frame.contest.track.questions

    def told(made: Guess) -> Told:
        question, outcome = known.get(made.question), guesses.told(made, horizon)
        lines = lines_of(question, made.target, frame.rules) if question else None
        return Told(made, outcome, lines, counts=question is not None and question.counts)

    return [told(made) for made in found]


def lines_of(question: Question, target: Target, rules: Rules) -> int | None:
    """How many lines a guess has; None where it may have several numbers of them."""
    fewest, most = question.file.rows(target.sizes, rules)
    return fewest if fewest == most else None


Best = Mapping[UUID, Mapping[str, Judged]]


def best_by_target(own: Sequence[Told]) -> Best:
    """The outcome with the largest risk that the team knows of, as on boards, by target and question."""
    best: defaultdict[UUID, dict[str, Judged]] = defaultdict(dict)
    for one in own:
        if one.outcome is None:
            continue
        before = best[one.made.target_id].setdefault(one.made.question, one.outcome)
        if rank_of(one.outcome) > rank_of(before):
            best[one.made.target_id][one.made.question] = one.outcome
    return best


def rank_of(found: Judged) -> tuple[float, float]:
    """Where chance takes all, the larger value tells more."""
    return beyond_chance(found.value, found.baseline), found.value


def asked(frame: Frame) -> list[Question]:
    """The questions of the competition, the usual one first."""
    return list(frame.contest.track.asked(frame.rules).values())


def guide(frame: Frame) -> dict[str, Any]:
    """What the explanation of a guess says in this competition; ``attack``: the originals of that command,
    none where it cannot read what others get."""
    track, questions = frame.contest.track, asked(frame)
    return {
        "questions": questions,
        "alike": alike(questions),
        "counts": all(question.counts for question in questions),
        "over": frame.standing.state in OVER,
        "attack": originals_of(frame) if can_attack(track) else [],
        "released": [f"{name}.csv" for name in track.target_files],
        "sent": guesses_sent(frame, questions),
        "feedback": frame.rules.publication.feedback,
    }


def can_attack(track: Track) -> bool:
    """Whether there are attackers who can read a target."""
    return bool(track.attackers) and (not track.targets or track.parse_target is not None)


def originals_of(frame: Frame) -> list[str]:
    """As commands name the files of the original; those that need not be there by their names."""
    there = frame.contest.row.given
    return [
        f"{'' if file.required else f'{file.name}='}{frame.rules.slug}/{file.name}.csv"
        for file in frame.contest.track.original
        if file.required or file.name in there
    ]


def guesses_sent(frame: Frame, questions: Sequence[Question]) -> list[str]:
    """The options of a command that sends a guess, for each question: a file of the first attacker that is
    asked it, or one of one's own."""
    track, several = frame.contest.track, len(questions) > 1
    found = []
    for question in questions:
        able = (name for name, one in track.attackers.items() if question.name in one.questions)
        attacker = next(able, None) if can_attack(track) else None
        name = f"{attacker}.{question.name}" if several else attacker
        file = f"{question.name}.csv" if attacker is None else f"guesses/{name}.csv"
        found.append(f"--question {question.name} --file {file}" if several else f"--file {file}")
    return found


@router.get("/targets/{target_id}")
def one_target(request: Request, target_id: UUID, principal: SignedIn) -> HTMLResponse:
    return target_page(request, principal, target_id)


def target_page(
    request: Request,
    principal: Principal,
    target_id: UUID,
    problem: DomainError | None = None,
    question: str | None = None,
) -> HTMLResponse:
    """One target; ``problem``: why a guess on it was refused, which answered this ``question``."""
    with transaction() as session:
        content = target_content(session, principal, target_id)
    content["script_words"] = words_of_script(language.words_of(request))
    if problem is None:
        return page(request, principal, "team/target.html", **content)
    content |= refusal_of(problem, question, content["asked"])
    return again(request, principal, "team/target.html", problem, **content)


def refusal_of(problem: DomainError, question: str | None, asked: Sequence[Asked]) -> dict[str, Any]:
    """Return what a page says of a refused guess, and by which form."""
    said: dict[str, Any] = {"refused_at": asked[0].name if len(asked) == 1 else question}
    if isinstance(problem, InvalidUpload):
        said |= {"problems": grouped(problem.problems), "total": problem.total}
    return said


@dataclass(frozen=True, slots=True)
class Alike:
    """Problems of one kind in rows that follow each other; ``last``: the row of the last one."""

    first: Problem
    last: int | None
    count: int = 1


def grouped(problems: Sequence[Problem]) -> list[Alike]:
    """Each run of rows with the same problem as one."""
    found: list[Alike] = []
    for one in problems:
        before = found[-1] if found else None
        if (
            before
            and before.first.code == one.code
            and before.last is not None
            and one.row == before.last + 1
        ):
            found[-1] = replace(before, last=one.row, count=before.count + 1)
        else:
            found.append(Alike(one, one.row))
    return found


def target_content(session: Session, principal: Principal, target_id: UUID) -> dict[str, Any]:
    target = targets.visible(session, principal, target_id)
    slug = session.get_one(Competition, target.competition_id).slug
    frame = frame_of(session, principal, slug)
    shown = next(one for one in targets.listed(session, principal, slug) if one.target.id == target_id)
    own = [one for one in own_guesses(session, principal, frame) if one.made.target_id == target_id]
    return {
        "frame": frame,
        "one": shown,
        "own": own,
        "waits": any(each.waits for each in own),
        "files": files_of(target),
        "titles": {f"{file.name}.csv": file.title for file in frame.contest.track.targets},
        "originals": frame.contest.row.original_rows or 0,
        "salt": salt_of(session, principal, frame.contest.row, target),
        "open": may_guess(frame, shown),
        "asked": asked_about(frame, shown, best_by_target(own).get(target_id, {})),
        "guide": guide(frame),
        "no_answer": guesses.NO_ANSWER,
    }


def asked_about(frame: Frame, shown: Shown, best: Mapping[str, Judged]) -> list[Asked]:
    """What the competition asks about a target."""
    return [
        Asked(
            question=question,
            left=shown.left.get(question.name) if shown.left else None,
            best=best.get(question.name),
            lines=lines_of(question, shown.target, frame.rules),
        )
        for question in asked(frame)
    ]


def files_of(target: Target) -> list[tuple[str, str]]:
    """Name and SHA-256 of each file."""
    return [(f"{name}.csv", digest) for name, digest in sorted((target.files or {}).items())]


def salt_of(session: Session, principal: Principal, row: Competition, target: Target) -> str | None:
    """What opens the commitment, once the secrets are revealed."""
    if row.revealed_at is None:
        return None
    revealed = targets.revealed(session, principal, row.slug)
    return next((one.opening.salt.hex() for one in revealed if one.id == target.id and one.opening), None)


def may_guess(frame: Frame, shown: Shown) -> bool:
    opened = frame.standing.open
    phase_is_open = opened is not None and opened.name == "reidentification"
    return phase_is_open and bool(shown.guesses_left) and not (frame.team and frame.team.disqualified_at)

"""Targets of the second phase: the list, and a single target with its guesses."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.errors import DomainError, FileProblem, InvalidUpload, NotFound
from anoncup.rules.model import Rules
from anoncup.schemas import GuessOutcome
from anoncup.tracks.model import Question, Track
from anoncup.tracks.outcomes import adjust_for_chance
from app.db.models import Competition, Guess, State, Target
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.services.accounts.accounts import Principal
from app.services.attacks import guesses, targets
from app.services.attacks.targets import VisibleTarget
from app.services.submissions import quota
from app.web.site import language
from app.web.site.frame import Frame, load_frame
from app.web.site.pages import PageRoute, render_form_again, render_page
from app.web.site.questions import group_by_guess_file
from app.web.team.upload_form import translate_script_texts

router = APIRouter(route_class=PageRoute)

_MAX_SHOWN_GUESSES = 100
_OVER_STATES = ("settling", "closed")
"""States in which there are targets but none can be attacked any more."""
_PENDING_STATES = (State.QUEUED, State.SCORING)


@dataclass(frozen=True, slots=True)
class OwnGuess:
    """One of the team's guesses.

    ``outcome``: None while the competition hides it. ``line_count``: lines of its file, None if that varies.
    ``counts_rows``: its value is the share of correct rows.
    """

    guess: Guess
    outcome: GuessOutcome | None
    line_count: int | None
    counts_rows: bool

    @property
    def correct(self) -> int | float | None:
        return self.outcome.correct if self.outcome else None

    @property
    def is_pending(self) -> bool:
        return self.guess.state in _PENDING_STATES


@dataclass(frozen=True, slots=True)
class TargetQuestion:
    """A question about one target.

    ``guesses_left``: None if the team cannot guess. ``best``: the best outcome that the team knows of.
    """

    question: Question
    guesses_left: int | None
    best: GuessOutcome | None
    line_count: int | None

    @property
    def name(self) -> str:
        return self.question.name


@router.get("/competitions/{slug}/targets")
def show_targets(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        target_list = _load_published_targets(session, principal, slug)
        own = _load_own_guesses(session, principal, frame) if target_list is not None else []
        report = (
            quota.load_report(session, principal, slug) if frame.team and target_list is not None else None
        )
    return render_page(
        request,
        principal,
        "team/targets.html",
        frame=frame,
        targets=target_list,
        own=own[:_MAX_SHOWN_GUESSES],
        more=max(0, len(own) - _MAX_SHOWN_GUESSES),
        waits=any(item.is_pending for item in own),
        best=find_best_by_target(own),
        teams={item.target.id: item.team for item in target_list or []},
        report=report,
        guide=_build_guide(frame),
    )


def _load_published_targets(session: Session, principal: Principal, slug: str) -> list[VisibleTarget] | None:
    try:
        return targets.list_visible(session, principal, slug)
    except NotFound:  # the competition exists, so only its targets can be missing
        return None


def _load_own_guesses(session: Session, principal: Principal, frame: Frame) -> list[OwnGuess]:
    """Return the team's guesses, newest first; organizers without a team have none."""
    if frame.team is None:
        return []
    rows, horizon = guesses.list_for_team(session, principal, frame.contest.slug)
    questions = frame.contest.track.questions

    def build_own_guess(guess: Guess) -> OwnGuess:
        question, outcome = questions.get(guess.question), guesses.get_visible_result(guess, horizon)
        line_count = _count_lines(question, guess.target, frame.rules) if question else None
        return OwnGuess(
            guess, outcome, line_count, counts_rows=question is not None and question.asks_identity
        )

    return [build_own_guess(row) for row in rows]


def _count_lines(question: Question, target: Target, rules: Rules) -> int | None:
    """Return the number of lines of a guess; None if it varies."""
    minimum, maximum = question.file.rows(target.sizes, rules)
    return minimum if minimum == maximum else None


_BestOutcomes = Mapping[UUID, Mapping[str, GuessOutcome]]


def find_best_by_target(own: Sequence[OwnGuess]) -> _BestOutcomes:
    """Return the known outcome with the largest risk by target and question, as on boards."""
    best: defaultdict[UUID, dict[str, GuessOutcome]] = defaultdict(dict)
    for own_guess in own:
        if own_guess.outcome is None:
            continue
        current = best[own_guess.guess.target_id].setdefault(own_guess.guess.question, own_guess.outcome)
        if _rank_outcome(own_guess.outcome) > _rank_outcome(current):
            best[own_guess.guess.target_id][own_guess.guess.question] = own_guess.outcome
    return best


def _rank_outcome(outcome: GuessOutcome) -> tuple[float, float]:
    """Return the sort key of an outcome: its value beyond chance, then the value itself."""
    return adjust_for_chance(outcome.value, outcome.baseline), outcome.value


def _list_questions(frame: Frame) -> list[Question]:
    """Return the questions of the competition, the default one first."""
    return list(frame.contest.track.select_questions(frame.rules).values())


def _build_guide(frame: Frame) -> dict[str, Any]:
    """Return the contents of the explanation of guesses.

    ``attack``: originals for the attack command, empty if no attacker can read the targets.
    """
    track, questions = frame.contest.track, _list_questions(frame)
    return {
        "questions": questions,
        "alike": group_by_guess_file(questions),
        "counts": all(question.asks_identity for question in questions),
        "over": frame.standing.state in _OVER_STATES,
        "attack": _list_original_arguments(frame) if _can_attack(track) else [],
        "released": [f"{name}.csv" for name in track.target_file_names],
        "sent": _list_guess_options(frame, questions),
        "feedback": frame.rules.publication.feedback,
    }


def _can_attack(track: Track) -> bool:
    """Return whether the track has attackers that can read a target."""
    return bool(track.attackers) and (not track.target_files or track.parse_target is not None)


def _list_original_arguments(frame: Frame) -> list[str]:
    """Return the original files as command arguments; optional files are prefixed with their names."""
    present = frame.contest.row.public_files
    return [
        f"{'' if file.required else f'{file.name}='}{frame.rules.slug}/{file.name}.csv"
        for file in frame.contest.track.original_files
        if file.required or file.name in present
    ]


def _list_guess_options(frame: Frame, questions: Sequence[Question]) -> list[str]:
    """Return the options of the guess command for each question.

    The file is the output of the first attacker that answers the question, or one of the team's own.
    """
    track, has_several = frame.contest.track, len(questions) > 1
    options = []
    for question in questions:
        capable = (
            name for name, definition in track.attackers.items() if question.name in definition.questions
        )
        attacker = next(capable, None) if _can_attack(track) else None
        name = f"{attacker}.{question.name}" if has_several else attacker
        file = f"{question.name}.csv" if attacker is None else f"guesses/{name}.csv"
        options.append(f"--question {question.name} --file {file}" if has_several else f"--file {file}")
    return options


@router.get("/targets/{target_id}")
def show_target(request: Request, target_id: UUID, principal: CurrentPrincipal) -> HTMLResponse:
    return render_target(request, principal, target_id)


def render_target(
    request: Request,
    principal: Principal,
    target_id: UUID,
    problem: DomainError | None = None,
    question: str | None = None,
) -> HTMLResponse:
    """Render a target; ``problem`` is the reason why a guess on ``question`` was rejected."""
    with transaction() as session:
        content = _build_target_content(session, principal, target_id)
    content["script_words"] = translate_script_texts(language.words_of(request))
    if problem is None:
        return render_page(request, principal, "team/target.html", **content)
    content |= _build_rejection_content(problem, question, content["asked"])
    return render_form_again(request, principal, "team/target.html", problem, **content)


def _build_rejection_content(
    problem: DomainError, question: str | None, questions: Sequence[TargetQuestion]
) -> dict[str, Any]:
    """Return the problems of a rejected guess, and the question whose form shows them."""
    content: dict[str, Any] = {"refused_at": questions[0].name if len(questions) == 1 else question}
    if isinstance(problem, InvalidUpload):
        content |= {"problems": group_problems(problem.problems), "total": problem.total}
    return content


@dataclass(frozen=True, slots=True)
class ProblemRun:
    """Problems of one kind in consecutive rows; ``last`` is the row of the last one."""

    first: FileProblem
    last: int | None
    count: int = 1


def group_problems(problems: Sequence[FileProblem]) -> list[ProblemRun]:
    """Combine the same problem in consecutive rows into one entry."""
    runs: list[ProblemRun] = []
    for problem in problems:
        previous = runs[-1] if runs else None
        if (
            previous
            and previous.first.code == problem.code
            and previous.last is not None
            and problem.row == previous.last + 1
        ):
            runs[-1] = replace(previous, last=problem.row, count=previous.count + 1)
        else:
            runs.append(ProblemRun(problem, problem.row))
    return runs


def _build_target_content(session: Session, principal: Principal, target_id: UUID) -> dict[str, Any]:
    target = targets.find_visible(session, principal, target_id)
    slug = session.get_one(Competition, target.competition_id).slug
    frame = load_frame(session, principal, slug)
    target_view = next(
        item for item in targets.list_visible(session, principal, slug) if item.target.id == target_id
    )
    own = [item for item in _load_own_guesses(session, principal, frame) if item.guess.target_id == target_id]
    return {
        "frame": frame,
        "one": target_view,
        "own": own,
        "waits": any(own_guess.is_pending for own_guess in own),
        "files": _list_files(target),
        "titles": {f"{file.name}.csv": file.title for file in frame.contest.track.target_files},
        "originals": frame.contest.row.original_rows or 0,
        "salt": _load_salt(session, principal, frame.contest.row, target),
        "open": _can_guess(frame, target_view),
        "asked": _build_target_questions(frame, target_view, find_best_by_target(own).get(target_id, {})),
        "guide": _build_guide(frame),
        "no_answer": guesses.NO_ANSWER,
    }


def _build_target_questions(
    frame: Frame, target_view: VisibleTarget, best: Mapping[str, GuessOutcome]
) -> list[TargetQuestion]:
    return [
        TargetQuestion(
            question=question,
            guesses_left=target_view.guesses_left_by_question.get(question.name)
            if target_view.guesses_left_by_question
            else None,
            best=best.get(question.name),
            line_count=_count_lines(question, target_view.target, frame.rules),
        )
        for question in _list_questions(frame)
    ]


def _list_files(target: Target) -> list[tuple[str, str]]:
    """Return name and SHA-256 of each file."""
    return [(f"{name}.csv", digest) for name, digest in sorted((target.files or {}).items())]


def _load_salt(session: Session, principal: Principal, row: Competition, target: Target) -> str | None:
    """Return the salt of the commitment, once the secrets are revealed."""
    if row.revealed_at is None:
        return None
    revealed = targets.list_revealed(session, principal, row.slug)
    return next((item.opening.salt.hex() for item in revealed if item.id == target.id and item.opening), None)


def _can_guess(frame: Frame, target_view: VisibleTarget) -> bool:
    open_phase = frame.standing.open_phase
    phase_is_open = open_phase is not None and open_phase.name == "reidentification"
    return (
        phase_is_open and bool(target_view.guesses_left) and not (frame.team and frame.team.disqualified_at)
    )

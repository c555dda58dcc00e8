"""The report on the threshold: the advice of P2, and a contest played on the same data."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from anoncup.evaluation.sample_contest import (
    SampleContest,
    plan_releases,
    play_contest,
    sample_individuals,
    select_rules,
)
from anoncup.excessive import ProgressCallback, ignore_progress
from anoncup.excessive.question import AdviceQuestion, drop_identifying_columns, resolve_question
from anoncup.excessive.threshold_advisor import ThresholdAdvice, advise
from anoncup.messages import CodedMessage, JsonObject, Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.parts import HasRows

_ADVICE_STEPS = 3


@dataclass(frozen=True, slots=True)
class AdvisorReport:
    """``left_out``: default group columns that identify individuals, so that no group has them."""

    advice: ThresholdAdvice
    contest: SampleContest
    left_out: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return {"contest": self.contest.to_json(), **self.advice.to_json()}


def make_report(
    question: AdviceQuestion, rules: Rules, original: HasRows, *, progress: ProgressCallback = ignore_progress
) -> AdvisorReport:
    """Compute the advice on a threshold, and play the contest under the rules as they are.

    Raises InvalidInput for an unknown distance or column, and NotFound if the track has no distances.
    """
    resolved, track = resolve_question(question, rules), TRACKS[rules.track]
    # ``resolve_question`` has filled in both defaults.
    assert resolved.distance is not None and resolved.groups is not None  # noqa: S101, PT018
    exchangeable = drop_identifying_columns(track.build_frames(original)[0], resolved.groups)
    identifying = tuple(name for name in resolved.groups if name not in exchangeable)
    is_default = question.groups is None
    groups = exchangeable if is_default else resolved.groups
    played_rules = select_rules(rules, resolved.distance)
    played_original = sample_individuals(rules, original)
    planned = plan_releases(played_rules, played_original, groups)
    steps = _ADVICE_STEPS + len(planned)
    advice = advise(
        original,
        track.distances[resolved.distance],
        track.distances.group_individuals(original, groups),
        identifying=() if is_default else identifying,
        bits=resolved.bits,
        draws=resolved.draws,
        progress=lambda step, _, name: progress(step, steps, name),
    )
    contest = play_contest(
        played_rules,
        played_original,
        planned,
        is_sample=played_original is not original,
        recommended=advice.threshold,
        progress=lambda step, _, name: progress(_ADVICE_STEPS + step, steps, name),
    )
    contest = replace(contest, warnings=(*contest.warnings, *_warn_of_threshold(contest.threshold, advice)))
    return AdvisorReport(advice, contest, identifying if is_default else ())


def _warn_of_threshold(threshold: float | None, advice: ThresholdAdvice) -> Iterator[CodedMessage]:
    """Yield that the threshold in use lets cheats pass, if a smaller one would not."""
    if threshold is not None and advice.threshold is not None and threshold >= advice.high:
        message = Message(
            "the threshold in use, {threshold}, does not stop every cheat; one below {high:.4f} does",
            threshold=threshold,
            high=advice.high,
        )
        yield CodedMessage("threshold_too_high", message)

"""Jobs about uploads of teams: releases with their secrets, and guesses."""

import secrets
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from anoncup.lazy import lazy, lazy_in
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner.jobs import Content, Job, SentFiles
from anoncup.runner.loading import load_original, load_rules
from anoncup.runner.protocol import MAX_FILES_BYTES
from anoncup.runner.results import Count, Remarks, Sizes
from anoncup.tables.files import Remark
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import AnyContext, ReleaseContext, TeamData
from anoncup.tracks.parts import HasRows
from anoncup.tracks.uploads import ParsedUpload, check_partial_upload, parse_upload

if TYPE_CHECKING:
    from numpy.random import default_rng

    from anoncup.evaluation.evaluate import check_secret, explain_too_few_rows
else:
    default_rng = lazy("numpy.random.default_rng")
    check_secret = lazy("anoncup.evaluation.evaluate.check_secret")
    explain_too_few_rows = lazy("anoncup.evaluation.evaluate.explain_too_few_rows")

NO_ANSWER = Remark("no_answer", Message("no line is answered, so the guess finds nobody"))
_here = lazy_in(__name__)


@dataclass(frozen=True, slots=True)
class ParsedRelease:
    """A release that was read; ``files``: the shuffled tables, empty if nothing is shuffled.

    ``secret``: unencrypted, kept in memory only.
    """

    files: dict[str, bytes]
    sizes: Sizes
    secret: bytes
    remarks: Remarks


class ReadReleaseJob(Job[ParsedRelease]):
    """Read a release and its secret, or the answer that the service has allocated to the team.

    If the competition shuffles targets, a random order is applied to both, so that the same table is scored,
    attacked and published.
    """

    handler = _here("read_release")
    max_result_bytes = MAX_FILES_BYTES

    files: SentFiles
    secret: bytes
    team: TeamData

    def check_result(self, result: ParsedRelease) -> None:
        if "rows" not in result.sizes or not result.files.keys() <= self.files.keys():
            raise ValueError("a release without rows, or with other files")


def read_release(job: ReadReleaseJob, _: object) -> ParsedRelease:
    rules = load_rules(job.competition_file)
    track = TRACKS[rules.track]
    parsed = parse_upload(track, rules, load_original(job), job.files, job.secret, team=job.team)
    release, answer, shuffled = parsed.release, parsed.answer, {}
    if rules.publication.shuffle_targets:
        release, answer = track.shuffle(release, answer, rng=default_rng(secrets.randbits(128)))
        shuffled = track.files_of(release)
    return ParsedRelease(shuffled, dict(parsed.sizes), track.answer_spec.write(answer), tuple(parsed.remarks))


class CheckReleaseJob(Job[tuple[Count, Remarks]]):
    """Return the number of rows of a release and the remarks on it.

    If files are missing, the others are checked as far as possible, and the number of rows is 0.
    """

    handler = _here("check_release")

    files: SentFiles
    secret: bytes | None
    team: TeamData


def check_release(job: CheckReleaseJob, _: object) -> tuple[int, tuple[Remark, ...]]:
    rules, original = load_rules(job.competition_file), load_original(job)
    track = TRACKS[rules.track]
    if job.secret is None or not job.files.keys() >= set(track.release_file_names):
        is_sent = job.secret is not None and not track.allocates_answer
        received = {**job.files, SECRET_FILE: job.secret or b""} if is_sent else job.files
        check_partial_upload(track, rules, original, received, job.team)
        return 0, ()
    parsed = parse_upload(track, rules, original, job.files, job.secret, team=job.team)
    row_warning = explain_too_few_rows(rules, parsed.sizes)
    warnings = [Remark("too_few_rows", row_warning)] if row_warning else []
    return parsed.sizes["rows"], (*parsed.remarks, *warnings, *_list_secret_warnings(rules, original, parsed))


def _list_secret_warnings(rules: Rules, original: HasRows, parsed: ParsedUpload) -> tuple[Remark, ...]:
    """Return warnings that the secret may belong to another release. The verdict will contain them, too.

    If the check runs out of memory, there are no warnings: a real upload needs less memory and would be
    accepted.
    """
    try:
        return check_secret(rules, original, parsed.release, parsed.answer)
    except MemoryError:
        return ()


@dataclass(frozen=True, slots=True)
class ParsedGuess:
    """A guess that was read: normalized content and the number of lines with an answer."""

    content: bytes
    answered: Count
    remarks: Remarks


class ReadGuessJob(Job[ParsedGuess]):
    """Read the answer to a question."""

    handler = _here("read_guess")
    max_result_bytes = MAX_FILES_BYTES

    guess: Content
    guesser: TeamData
    question: str
    sizes: dict[str, int]


def read_guess(job: ReadGuessJob, _: object) -> ParsedGuess:
    rules = load_rules(job.competition_file)
    question = TRACKS[rules.track].require_question(rules, job.question)
    context: AnyContext = ReleaseContext(rules, job.sizes, partial(load_original, job), guesser=job.guesser)
    guess = question.read(job.guess, context)
    answered_count = question.count_answered(guess)
    remarks = question.find_remarks(guess) if answered_count else [NO_ANSWER]
    return ParsedGuess(question.write(guess), answered_count, tuple(remarks))

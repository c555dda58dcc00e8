"""An organizer's own contest, played by sample teams in the demo."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from anoncup.cli.local_files import check_sizes, load_contest
from anoncup.cli.options import assign_originals, read_text
from anoncup.competition.parser import CompetitionFile
from anoncup.errors import InvalidInput
from anoncup.evaluation.scales import compute_usable_scales
from anoncup.rules.model import Rules
from anoncup.rules.rounds import replace_round_phases
from anoncup.tracks.model import AnyTrack
from app.competitions.competitions import read_hostable_file
from app.operations.demo_contest import DemoEntry, PlayedContest, plan_phases

_MAX_TEAMS = 10
_ROUND_LENGTH = timedelta(days=61)


def load(competition: Path, original: Sequence[str]) -> PlayedContest:
    """Read the contest; raise InvalidCompetition, InvalidInput or InvalidUpload if it cannot be played.

    Each sample method of the track is a team. Of several rounds the first one is played.
    """
    text = read_text(competition)
    rounds = read_hostable_file(text).rounds
    contest = load_contest(competition, list(original), next(iter(rounds)) or None)
    paths = assign_originals(contest.track, original)
    check_sizes(contest, paths.values())
    compute_usable_scales(contest.rules, contest.track, contest.original)
    _require_no_organizer_files(contest.track, contest.rules)
    has_attack_phase = not contest.rules.phases or contest.rules.phase("reidentification") is not None
    return PlayedContest(
        slug=contest.rules.slug,
        file=_open_now(text, has_attack_phase=has_attack_phase),
        rules=contest.rules,
        original=contest.original,
        contents={name: path.read_bytes() for name, path in paths.items()},
        entries=[
            DemoEntry(method, ((method, {}),), member=f"{method} in {contest.rules.slug}")
            for method in list(contest.track.methods)[:_MAX_TEAMS]
        ],
        has_attack_phase=has_attack_phase,
        is_own=True,
    )


def _require_no_organizer_files(track: AnyTrack, rules: Rules) -> None:
    files = track.allocation.select_organizer_files(rules) if track.allocation else ()
    if files:
        raise InvalidInput(
            "the demo plays no contest with files that only organizers have: {names}",
            code="files",
            names=tuple(f"{file.name}.csv" for file in files),
        )


def _open_now(text: str, *, has_attack_phase: bool) -> str:
    """Return the file with phases that begin now, one round after the other."""
    now = datetime.now(UTC).replace(microsecond=0)
    for index, name in enumerate(CompetitionFile(text).rounds):
        phases = plan_phases(now + index * _ROUND_LENGTH, days_between=0)
        text = replace_round_phases(text, name, phases if has_attack_phase else phases[:1])
    return text

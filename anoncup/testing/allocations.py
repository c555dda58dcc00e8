"""Contract tests for allocations: the files that a track makes by lot for each team."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.random import Generator

from anoncup.errors import InvalidUpload
from anoncup.rules.model import Rules
from anoncup.testing.parts import SEED, BrokenLaw, require
from anoncup.tracks.capabilities import Allocation, AllocationContext
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows

TEAMS = tuple(f"team {number}" for number in range(20))
"""There are enough teams that at least one gets different files from the first team."""


def check_allocation(
    track: AnyTrack,
    rules: Rules,
    original: Mapping[str, bytes],
    organizer_files: Mapping[str, bytes] | None = None,
    teams: Sequence[str] = TEAMS,
) -> None:
    """Check the laws of an allocation; raise BrokenLaw if one does not hold.

    - The files depend only on the generators, which are requested only for the purposes that the track names,
      and not at all if it draws no lots.
    - Teams get different files.
    - An allocated answer can be read. Files for all teams can be read together with the original.
    - The organizers' files are checked, and error messages do not repeat their content.

    ``original`` and ``organizer_files`` map file names to contents. ``teams`` are the names of at least
    two teams, those of the organizers' files if they assign the files.
    """
    allocation, organizer_contents = track.allocation, organizer_files or {}
    if allocation is None:
        raise BrokenLaw(f"{track.name}: it draws nothing")
    expected_names = {file.name for file in allocation.select_organizer_files(rules)}
    require(
        set(organizer_contents) == expected_names,
        track.name,
        f"its competition asks for {sorted(expected_names)} of its organizers",
    )
    parsed_original, _ = track.parse_original(dict(original), rules)
    purposes: set[str] = set()

    def make_files(team: str) -> dict[str, bytes]:
        """Make the files of a team, and check for which purposes generators are requested."""

        def create_generator(purpose: str) -> Generator:
            purposes.add(purpose)
            return derive_generator(SEED, purpose, team)

        context = AllocationContext(rules, organizer_contents, create_generator, team)
        contents = allocation.make_files(parsed_original, context)
        require(
            purposes <= set(allocation.generator_purposes),
            track.name,
            f"it draws for {allocation.generator_purposes} only",
        )
        return _select_files(allocation, contents)

    files = make_files(teams[0])
    for _ in range(2):
        require(make_files(teams[0]) == files, track.name, "the same generators draw the same files")
    require(
        any(make_files(team) != files for team in teams[1:]), track.name, "other generators draw other files"
    )
    require(allocation.draws_lots or not purposes, track.name, "it draws no lots")
    _check_organizer_files(track, allocation, rules, parsed_original, organizer_contents)
    if track.allocates_answer:
        _check_allocated_answer(track, rules, parsed_original, files)
    if not allocation.per_team:
        _check_shared_files(track, rules, original, files)


def _select_files(allocation: Allocation[Any], contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the declared files of the allocation; all of them must be among ``contents``."""
    missing = [file.name for file in allocation.files if file.name not in contents]
    require(not missing, "draw", f"it makes {missing} too")
    return {file.name: contents[file.name] for file in allocation.files}


def _check_allocated_answer(
    track: AnyTrack, rules: Rules, parsed_original: HasRows, files: Mapping[str, bytes]
) -> None:
    content = files[track.answer_spec.file.name]
    answer = track.read_allocated_answer(content, parsed_original, rules)
    require(
        track.answer_spec.write(answer) == content, track.name, "an answer that is drawn is read as it is"
    )


def _check_shared_files(
    track: AnyTrack, rules: Rules, original: Mapping[str, bytes], files: Mapping[str, bytes]
) -> None:
    optional = {file.name for file in track.original_files if not file.required}
    require(set(files) <= optional, track.name, f"{sorted(files)} may be left out of the original")
    track.parse_original({**original, **files}, rules)


def _check_organizer_files(
    track: AnyTrack,
    allocation: Allocation[Any],
    rules: Rules,
    parsed_original: HasRows,
    organizer_contents: Mapping[str, bytes],
) -> None:
    check: Callable[[str, bytes, Any, Rules], None] | None = allocation.check_organizer_file
    for name, content in organizer_contents.items():
        require(check is not None, track.name, f"what organizers hold as {name} is checked")
        assert check is not None  # noqa: S101  # required above
        check(name, content, parsed_original, rules)
        invalid_content = content + b"told-to-nobody,and,more\n"
        try:
            check(name, invalid_content, parsed_original, rules)
        except InvalidUpload as error:
            text = "".join(f"{problem.message}{problem.value}" for problem in error.problems)
            require("told-to-nobody" not in text, track.name, f"what {name} holds is not repeated")
        else:
            raise BrokenLaw(f"{track.name}: {name} with a row too many is refused")

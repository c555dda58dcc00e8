"""What holds for what a track draws: held to here, and by whoever writes a track of his own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from numpy.random import Generator

from anoncup.errors import InvalidUpload
from anoncup.rules.model import Rules
from anoncup.testing.parts import BrokenLaw, require
from anoncup.tracks.generators import generator_for
from anoncup.tracks.model import About, Draw, Tables, Track

SEED = b"laws"
TEAMS = tuple(f"team {number}" for number in range(20))
"""One of them is given other files than the first, unless there are none."""


@dataclass(slots=True)
class Drawer:
    """The generators of a team, which remembers what was asked for."""

    team: str
    asked: set[str] = field(default_factory=set)

    def __call__(self, purpose: str) -> Generator:
        self.asked.add(purpose)
        return generator_for(SEED, purpose, self.team)


def check_draw(
    track: Track, rules: Rules, original: Mapping[str, bytes], truth: Mapping[str, bytes] | None = None
) -> None:
    """What is drawn follows from the generators alone, of the purposes that the track names; teams' files
    differ; an answer that is drawn is read; what is drawn for all is read with the original; what organizers
    hold is checked, and refused without a word of it. ``original``, ``truth``: contents of the files."""
    draw, held = track.draw, truth or {}
    if draw is None:
        raise BrokenLaw(f"{track.name}: it draws nothing")
    wanted = {file.name for file in draw.truth_of(rules)}
    require(set(held) == wanted, track.name, f"its competition asks for {sorted(wanted)} of its organizers")
    tables, _ = track.parse_original(dict(original), rules)
    drawer = Drawer(TEAMS[0])
    made = draw.make(tables, held, rules, drawer)
    require(drawer.asked <= set(draw.drawn_for), track.name, f"it draws for {draw.drawn_for} only")
    files = named(draw, made)
    for again in (named(draw, draw.make(tables, held, rules, Drawer(TEAMS[0]))) for _ in "12"):
        require(again == files, track.name, "the same generators draw the same files")
    others = [named(draw, draw.make(tables, held, rules, Drawer(team))) for team in TEAMS[1:]]
    require(any(other != files for other in others), track.name, "other generators draw other files")
    check_truth(track, draw, rules, tables, held)
    if track.draws_answer:
        check_answer(track, rules, tables, files)
    if not draw.each_team:
        check_for_all(track, rules, original, files)


def named(draw: Draw, made: Mapping[str, bytes]) -> dict[str, bytes]:
    """Of what was made, the files that are given out."""
    missing = [file.name for file in draw.files if file.name not in made]
    require(not missing, "draw", f"it makes {missing} too")
    return {file.name: made[file.name] for file in draw.files}


def check_answer(track: Track, rules: Rules, tables: Tables, files: Mapping[str, bytes]) -> None:
    content = files[track.answers.file.name]
    answer = track.answers.read(content, About(rules, track.sizes(tables, tables), lambda: tables))
    require(track.answers.write(answer) == content, track.name, "an answer that is drawn is read as it is")


def check_for_all(
    track: Track, rules: Rules, original: Mapping[str, bytes], files: Mapping[str, bytes]
) -> None:
    optional = {file.name for file in track.original if not file.required}
    require(set(files) <= optional, track.name, f"{sorted(files)} may be left out of the original")
    track.parse_original({**original, **files}, rules)


def check_truth(track: Track, draw: Draw, rules: Rules, tables: Tables, held: Mapping[str, bytes]) -> None:
    check: Callable[[str, bytes, Tables, Rules], None] | None = draw.check_truth
    for name, content in held.items():
        require(check is not None, track.name, f"what organizers hold as {name} is checked")
        assert check is not None  # noqa: S101  # the law above
        check(name, content, tables, rules)
        wrong = content + b"told-to-nobody,and,more\n"
        try:
            check(name, wrong, tables, rules)
        except InvalidUpload as refused:
            said = "".join(f"{one.message}{one.value}" for one in refused.problems)
            require("told-to-nobody" not in said, track.name, f"what {name} holds is not repeated")
        else:
            raise BrokenLaw(f"{track.name}: {name} with a row too many is refused")

"""Parts that installed packages bring: entry points of ``anoncup.plugins``, each naming a ``Plugin``.

A package whose entry point cannot be loaded, is made for another boundary, or brings something that does not
fit or that there is already, is left out as a whole, and says why; everything else goes on without it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any
from xml.etree import ElementTree

from anoncup.tracks.membership import MEMBERSHIP
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.model import Track
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import API, Formulas, Plugin
from anoncup.tracks.transactions import TRANSACTIONS

GROUP = "anoncup.plugins"

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
KINDS: Mapping[str, type[Measure | Attacker | Method]] = {
    "measures": Measure,
    "attackers": Attacker,
    "methods": Method,
}


class Unfit(Exception):  # the name is what happened
    """Why nothing of a package is taken."""


@dataclass(frozen=True, slots=True)
class Package:
    """A distribution's entry point. ``parts``: what it brought, as ``microdata.measures.NAME`` or
    ``tracks.NAME``; ``broken``: why that is nothing, empty if it works."""

    name: str
    version: str
    entry: str
    parts: tuple[str, ...] = ()
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Installed:
    """All tracks with what packages add to them, who brought what, and the formulas of what was brought."""

    tracks: dict[str, Track]
    packages: tuple[Package, ...] = ()
    formulas: Formulas = field(default_factory=dict)

    def bringer(self, part: str) -> Package | None:
        """Who brought a part, named as in ``Package.parts``; None of our own."""
        return next((one for one in self.packages if part in one.parts), None)


def discovered(tracks: Mapping[str, Track]) -> Installed:
    """These tracks with all that this installation's packages bring."""
    entries = sorted(entry_points(group=GROUP), key=lambda one: (described(one).name, one.name))
    return joined(tracks, ((described(entry), entry) for entry in entries))


def joined(tracks: Mapping[str, Track], entries: Iterable[tuple[Package, EntryPoint]]) -> Installed:
    """Of two that bring the same the first is taken; whoever brings tracks comes before who adds to them."""
    packages: list[Package] = []
    loaded: list[tuple[Package, Plugin]] = []
    for package, entry in entries:
        try:
            loaded.append((package, plugin_of(entry)))
        except Unfit as problem:
            packages.append(replace(package, broken=str(problem)))
    known = dict(tracks)
    formulas: dict[str, Mapping[str, str]] = {}
    for package, plugin in sorted(loaded, key=lambda one: not one[1].tracks):
        try:
            known = with_parts(known, plugin)
        except Exception as problem:  # what a stranger's object raises when it is looked at
            packages.append(replace(package, broken=reason(problem)))
            continue
        packages.append(replace(package, parts=parts_of(plugin)))
        formulas.update(
            {track: {**formulas.get(track, {}), **more} for track, more in plugin.formulas.items()}
        )
    return Installed(known, tuple(sorted(packages, key=lambda one: (one.name, one.entry))), formulas)


def described(entry: EntryPoint) -> Package:
    if entry.dist is None:
        return Package(entry.name, "", entry.value)
    return Package(re.sub(r"[-_.]+", "-", entry.dist.name).lower(), entry.dist.version, entry.value)


def plugin_of(entry: EntryPoint) -> Plugin:
    """What an entry point names; Unfit, whatever its code raises."""
    try:
        found = entry.load()
    except (Exception, SystemExit) as problem:
        raise Unfit(reason(problem)) from problem
    if not isinstance(found, Plugin):
        raise Unfit(f"{entry.value} is no Plugin")
    if found.api != API:
        raise Unfit(f"it is made for api {found.api}; this is api {API}")
    return found


def reason(problem: BaseException) -> str:
    return str(problem) if isinstance(problem, Unfit) else f"{type(problem).__name__}: {problem}"


def parts_of(plugin: Plugin) -> tuple[str, ...]:
    own = [f"tracks.{name}" for name in plugin.tracks]
    more = [
        f"{track}.{kind}.{name}"
        for kind in KINDS
        for track, named in getattr(plugin, kind).items()
        for name in named
    ]
    return (*own, *more)


def with_parts(tracks: Mapping[str, Track], plugin: Plugin) -> dict[str, Track]:
    """The tracks with what the plug-in adds; Unfit if any of it does not fit. Those given do not change."""
    found = dict(tracks)
    for name, track in plugin.tracks.items():
        check(name, track, Track, found)
        found[name] = track
    for kind, wanted in KINDS.items():
        for name, parts in getattr(plugin, kind).items():
            found[name] = with_more(track_of(found, name), kind, wanted, parts)
    for name, formulas in plugin.formulas.items():
        for measure, formula in formulas.items():
            check_formula(track_of(found, name), measure, formula)
    return found


def with_more(
    track: Track, kind: str, wanted: type[Measure | Attacker | Method], parts: Mapping[str, Any]
) -> Track:
    before = getattr(track, kind)
    for name, part in parts.items():
        # A measure and an attacker stand on one page, under their names.
        taken = before if kind == "methods" else {**track.measures, **track.attackers}
        check(name, part, wanted, taken)
        for question in part.questions if isinstance(part, Attacker) else ():
            if question not in track.questions:
                raise Unfit(f"{name} answers {question}, which {track.name} does not ask")
    if kind == "attackers":  # a contest that does not name it must not depend on what is installed
        parts = {name: replace(part, by_default=False) for name, part in parts.items()}
    more: dict[str, Any] = {kind: {**before, **parts}}
    return replace(track, **more)


def track_of(tracks: Mapping[str, Track], name: str) -> Track:
    if name not in tracks:
        raise Unfit(f"there is no track {name}")
    return tracks[name]


def check(
    name: str, part: Any, wanted: type[Track | Measure | Attacker | Method], taken: Mapping[str, Any]
) -> None:
    if not isinstance(part, wanted):
        raise Unfit(f"{name} is no {wanted.__name__}")
    if not NAME.fullmatch(name) or part.name != name:
        raise Unfit(f"{name} is called {part.name}: a name is one word of small letters, the same in both")
    if name in taken:
        raise Unfit(f"there is {name} already")


def check_formula(track: Track, measure: str, formula: str) -> None:
    if measure not in track.measures:
        raise Unfit(f"a formula of {measure}, which is no measure of {track.name}")
    try:
        root = ElementTree.fromstring(formula).tag  # noqa: S314  # of an installed package, whose code runs anyway
    except ElementTree.ParseError:
        root = ""
    if root != "math":
        raise Unfit(f"the formula of {measure} is no math element")


BUILT_IN = {
    "microdata": MICRODATA,
    "transactions": TRANSACTIONS,
    "monthly": MONTHLY,
    "membership": MEMBERSHIP,
}
INSTALLED = discovered(BUILT_IN)
TRACKS: dict[str, Track] = INSTALLED.tracks

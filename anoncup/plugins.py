"""Plug-ins: packages that add measures, attackers, methods, tracks or ranking functions.

Each entry point of the group ``anoncup.plugins`` names a ``Plugin``. A package is skipped as a whole if its
entry point cannot be loaded, is made for another API version, or adds a part that is invalid or already
exists. The reason is recorded, and the other packages still work.

Packages with an interpreter of their own are found by the descriptions in the folder of environments.
"""

import json
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

from anoncup import environments
from anoncup.catalogues import find_package_catalogues
from anoncup.environments import DESCRIPTION_FILE, find_environments_folder
from anoncup.messages import replace_control_characters
from anoncup.tracks.descriptions import Description, build_plugin, describe, list_own_texts
from anoncup.tracks.membership import MEMBERSHIP
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.model import AnyTrack, Track
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, AnyMethod, Attacker, Measure, Method, Registry
from anoncup.tracks.plugin import API_VERSION, Formulas, Plugin
from anoncup.tracks.ranking_board import RankingFunction
from anoncup.tracks.transactions import TRANSACTIONS

MAX_LINE_LENGTH = 300
_ENTRY_POINT_GROUP = "anoncup.plugins"

_PART_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_TAG_PATTERN = re.compile(r"<\s*[A-Za-z/!?]")
_PART_TYPES: Mapping[str, type[AnyMeasure | AnyAttacker | AnyMethod]] = {
    "measures": Measure,
    "attackers": Attacker,
    "methods": Method,
}


class InvalidPlugin(Exception):
    """The reason why a package is skipped."""


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package with a plug-in.

    ``entry`` is the value of its entry point. ``parts`` are the parts that it adds, such as
    ``microdata.measures.NAME``, ``tracks.NAME`` or ``ranking_functions.NAME``. ``broken`` is the reason why
    the package was skipped, or empty. ``environment`` is the name of the environment that it runs in, empty
    for the own interpreter, and ``versions`` are those of Python, numpy and pandas there.
    """

    name: str
    version: str
    entry: str
    parts: tuple[str, ...] = ()
    broken: str = ""
    environment: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)


Candidate = tuple[Package, Callable[[], Plugin]]
"""A package, and the function that loads its plug-in or raises InvalidPlugin."""


@dataclass(slots=True)
class InstalledParts:
    """All tracks including the parts of plug-ins, the packages, their ranking functions and formulas.

    ``package_texts`` are the keys of the texts of packages' parts by track; built-in texts with the same keys
    describe other parts.
    """

    tracks: dict[str, AnyTrack]
    packages: tuple[Package, ...] = ()
    formulas: Formulas = field(default_factory=dict)
    package_texts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ranking_functions: Mapping[str, RankingFunction] = field(default_factory=dict)

    def replace(self, parts: "InstalledParts") -> None:
        """Take other parts. The mapping of tracks stays the same object, which others refer to."""
        self.tracks.clear()
        self.tracks.update(parts.tracks)
        for part in fields(self):
            if part.name != "tracks":
                setattr(self, part.name, getattr(parts, part.name))

    def find_provider(self, part: str) -> Package | None:
        """Return the package that provides a part, named as in ``Package.parts``; None if it is built in."""
        return next((package for package in self.packages if part in package.parts), None)


def discover_plugins(tracks: Mapping[str, AnyTrack], data_folder: Path | None = None) -> InstalledParts:
    """Return the tracks extended by all installed plug-ins, also those in the environments of a service."""
    folder = find_environments_folder(data_folder)
    return _merge_plugins(tracks, (*list_entries(), *list_environments(folder)))


def load_later(entries: Iterable[Candidate]) -> None:
    """Load plug-ins in a process that has not loaded any, see ``environments.defer_packages``."""
    INSTALLED.replace(_merge_plugins(BUILT_IN, entries))


def discover_environments(folder: Path) -> InstalledParts:
    """Return the built-in tracks extended by the plug-ins in the environments below a folder."""
    return _merge_plugins(BUILT_IN, list_environments(folder))


def list_entries() -> Iterator[Candidate]:
    """Yield the plug-ins that are installed in this interpreter, without loading them."""
    entries = sorted(
        entry_points(group=_ENTRY_POINT_GROUP),
        key=lambda entry_point: (_identify_package(entry_point).name, entry_point.name),
    )
    for entry in entries:
        yield _identify_package(entry), partial(_load_plugin, entry)


def list_environments(folder: Path) -> Iterator[Candidate]:
    """Yield the plug-ins that have an interpreter of their own, without running it."""
    for file in sorted(folder.glob(f"*/{DESCRIPTION_FILE}")):
        name = file.parent.name
        try:
            content = json.loads(file.read_text("utf-8"))
            for item in content["plugins"]:
                package = Package(
                    item["name"],
                    item["version"],
                    item["entry"],
                    environment=name,
                    versions=content["versions"],
                )
                yield package, partial(_load_description, item, content["library"], name)
        except (OSError, ValueError, LookupError, TypeError) as problem:
            yield Package(name, "", "", environment=name), partial(_refuse, _describe_failure(problem))


def find_installed_version(package: Package) -> str | None:
    """Return the version that is installed now; None if the package has been removed meanwhile."""
    if not package.version:  # its entry point belongs to no distribution
        return ""
    try:
        if not package.environment:
            return version(package.name)
        file = find_environments_folder() / package.environment / DESCRIPTION_FILE
        plugins = json.loads(file.read_text("utf-8"))["plugins"]
        return str(next(item["version"] for item in plugins if item["name"] == package.name))
    except (PackageNotFoundError, OSError, ValueError, LookupError, TypeError, StopIteration):
        return None


def have_packages_changed() -> bool:
    """Return whether this interpreter has other packages with plug-ins than when this process started."""
    known = {(package.name, package.version) for package in INSTALLED.packages if not package.environment}
    return known != {(package.name, package.version) for package, _ in list_entries()}


def _load_description(item: Mapping[str, Any], library: str, environment: str) -> Plugin:
    """Return the plug-in of an environment; raise InvalidPlugin if it cannot be used."""
    if item["broken"]:
        raise InvalidPlugin(item["broken"])
    if library != version("anoncup"):
        raise InvalidPlugin(
            f"its environment has version {library} of anoncup; add it again with anoncup packages add"
        )
    plugin = build_plugin(item["plugin"], environment)
    if {*plugin.measures, *plugin.attackers, *plugin.methods} - plugin.tracks.keys():
        raise InvalidPlugin("it extends a track of others: install it into the service's own interpreter")
    return plugin


def _refuse(reason: str) -> Plugin:
    raise InvalidPlugin(reason)


def describe_interpreter() -> Description:
    """Return the plug-ins that are installed in this interpreter, for one that does not import them."""
    names = ("numpy", "pandas")
    return {
        "library": version("anoncup"),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in names}},
        "plugins": [_describe_plugin(package, load) for package, load in list_entries()],
        "catalogues": [[domain, str(folder)] for domain, folder in find_package_catalogues()],
    }


def _describe_plugin(package: Package, load: Callable[[], Plugin]) -> Description:
    identity = {"name": package.name, "version": package.version, "entry": package.entry}
    try:
        plugin = load()
        own_texts = list_own_texts(plugin, BUILT_IN.values())
        return identity | {"broken": "", "plugin": describe(replace(plugin, own_texts=own_texts))}
    except Exception as problem:  # Attributes of a plug-in's objects may raise anything.
        return identity | {"broken": _describe_failure(problem)}


def _merge_plugins(tracks: Mapping[str, AnyTrack], candidates: Iterable[Candidate]) -> InstalledParts:
    """Add plug-ins to the tracks, first those that define tracks, then those that extend tracks.

    If two plug-ins add the same part, the second one is skipped.
    """
    packages: list[Package] = []
    loaded: list[tuple[Package, Plugin]] = []
    for package, load in candidates:
        try:
            loaded.append((package, load()))
        except Exception as problem:  # A description may have any content.
            packages.append(replace(package, broken=_describe_failure(problem)))
    merged = dict(tracks)
    functions: dict[str, RankingFunction] = {}
    formulas: dict[str, Mapping[str, str]] = {}
    texts: dict[str, frozenset[str]] = {}
    for package, plugin in sorted(loaded, key=lambda item: not item[1].tracks):
        try:
            for name, function in plugin.ranking_functions.items():
                _check_part(name, function, RankingFunction, functions)
            merged = add_plugin(merged, plugin)
        except Exception as problem:  # Attributes of a plug-in's objects may raise anything.
            packages.append(replace(package, broken=_describe_failure(problem)))
            continue
        packages.append(replace(package, parts=_list_parts(plugin)))
        functions.update(plugin.ranking_functions)
        formulas.update(
            {track: {**formulas.get(track, {}), **added} for track, added in plugin.formulas.items()}
        )
        own_texts = list_own_texts(plugin, tracks.values()) if plugin.own_texts is None else plugin.own_texts
        texts.update({track: texts.get(track, frozenset()) | keys for track, keys in own_texts.items()})
    packages.sort(key=lambda item: (item.name, item.entry))
    return InstalledParts(merged, tuple(packages), formulas, texts, functions)


def _identify_package(entry: EntryPoint) -> Package:
    if entry.dist is None:
        return Package(entry.name, "", entry.value)
    return Package(re.sub(r"[-_.]+", "-", entry.dist.name).lower(), entry.dist.version, entry.value)


def _load_plugin(entry: EntryPoint) -> Plugin:
    """Load an entry point; any exception in its code becomes InvalidPlugin."""
    try:
        with redirect_stdout(sys.stderr):  # the output of commands may be read by programs
            plugin = entry.load()
    except (Exception, SystemExit) as problem:
        raise InvalidPlugin(_describe_failure(problem)) from problem
    if not isinstance(plugin, Plugin):
        raise InvalidPlugin(f"{entry.value} is no Plugin")
    if plugin.api != API_VERSION:
        raise InvalidPlugin(f"it is made for api {plugin.api}; this is api {API_VERSION}")
    return plugin


def _describe_failure(problem: BaseException) -> str:
    """Return why a plug-in cannot be used, as a line of limited length: a hostile one has any text."""
    reason = str(problem) if isinstance(problem, InvalidPlugin) else f"{type(problem).__name__}: {problem}"
    return replace_control_characters(reason[:MAX_LINE_LENGTH])


def _list_parts(plugin: Plugin) -> tuple[str, ...]:
    track_names = [f"tracks.{name}" for name in plugin.tracks]
    part_names = [
        f"{track}.{kind}.{name}"
        for kind in _PART_TYPES
        for track, added in getattr(plugin, kind).items()
        for name in added
    ]
    return (*track_names, *part_names, *(f"ranking_functions.{name}" for name in plugin.ranking_functions))


def add_plugin(tracks: Mapping[str, AnyTrack], plugin: Plugin) -> dict[str, AnyTrack]:
    """Return the tracks extended by a plug-in; raise InvalidPlugin if any part is invalid.

    The given tracks are not modified.
    """
    extended = dict(tracks)
    for name, track in plugin.tracks.items():
        _check_part(name, track, Track, extended)
        extended[name] = track
    for kind, part_type in _PART_TYPES.items():
        for name, parts in getattr(plugin, kind).items():
            extended[name] = _add_parts(_require_track(extended, name), kind, part_type, parts)
    for name, formulas in plugin.formulas.items():
        for measure, formula in formulas.items():
            _check_formula(_require_track(extended, name), measure, formula)
    return extended


def _add_parts(
    track: AnyTrack,
    kind: str,
    part_type: type[AnyMeasure | AnyAttacker | AnyMethod],
    parts: Mapping[str, Any],
) -> AnyTrack:
    registered = getattr(track, kind)
    for name, part in parts.items():
        # Measures and attackers share one namespace, because pages show them together.
        reserved = registered if kind == "methods" else {**track.measures, **track.attackers}
        _check_part(name, part, part_type, reserved)
        for question in part.questions if isinstance(part, Attacker) else ():
            if question not in track.questions:
                raise InvalidPlugin(f"{name} answers {question}, which {track.name} does not ask")
    if kind == "attackers":  # The scores of a contest must not depend on what is installed.
        parts = {name: replace(part, counts_by_default=False) for name, part in parts.items()}
    changes: dict[str, Any] = {kind: {**registered, **parts}}
    return replace(track, **changes)


def _require_track(tracks: Mapping[str, AnyTrack], name: str) -> AnyTrack:
    if name not in tracks:
        raise InvalidPlugin(f"there is no track {name}")
    return tracks[name]


def _check_part(
    name: str,
    part: Any,
    part_type: type[AnyTrack | AnyMeasure | AnyAttacker | AnyMethod | RankingFunction],
    reserved: Mapping[str, Any],
) -> None:
    if not isinstance(part, part_type):
        raise InvalidPlugin(f"{name} is no {part_type.__name__}")
    if not _PART_NAME.fullmatch(name) or part.name != name:
        raise InvalidPlugin(
            f"{name} is called {part.name}: a name is one word of small letters, the same in both"
        )
    if name in reserved:
        raise InvalidPlugin(f"there is {name} already, perhaps in the same package")


def _check_formula(track: AnyTrack, measure: str, formula: str) -> None:
    if measure not in track.measures:
        raise InvalidPlugin(f"a formula of {measure}, which is no measure of {track.name}")
    if not formula.strip() or _TAG_PATTERN.search(formula):
        raise InvalidPlugin(f"the formula of {measure} is not LaTeX")


BUILT_IN: Mapping[str, AnyTrack] = {
    "microdata": MICRODATA,
    "transactions": TRANSACTIONS,
    "monthly": MONTHLY,
    "membership": MEMBERSHIP,
}
INSTALLED = InstalledParts(dict(BUILT_IN)) if environments.is_deferred else discover_plugins(BUILT_IN)
TRACKS = INSTALLED.tracks = Registry(INSTALLED.tracks)

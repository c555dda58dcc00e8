"""Parts that count towards the scores, by name and version: the table ``[scored_by]`` of a competition file.

Without that table, all installed parts that the settings allow count. With it, exactly the listed parts
count; parts installed later are only reported.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from anoncup.errors import InvalidCompetition
from anoncup.plugins import INSTALLED, TRACKS, Package
from anoncup.rules.model import Rules
from anoncup.rules.toml_values import TomlTable, read_text
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Distance, Measure

Versions = Mapping[str, str]
"""Versions by part: ``"measures.mean_mae"``, ``"attackers.…"``, ``"distances.…"``, ``"packages.…"``."""

_Part = Measure | Attacker | Distance | Package


def is_counted_attacker(rules: Rules, attacker: str) -> bool:
    """Return whether the rate of an attacker counts towards E."""
    if rules.scored_by:
        return f"attackers.{attacker}" in rules.scored_by
    return is_counted_by_settings(rules, attacker)


def is_counted_part(rules: Rules, part: str) -> bool:
    """Return whether ``measures.NAME`` has a weight in U, or ``attackers.NAME`` counts towards E."""
    kind, _, name = part.partition(".")
    return rules.weight(name) > 0 if kind == "measures" else is_counted_attacker(rules, name)


def is_counted_by_settings(rules: Rules, attacker: str) -> bool:
    """Return whether an attacker counts by the settings alone. Attackers not installed do not count."""
    registered = TRACKS[rules.track].attackers.get(attacker)
    if registered is None or not registered.may_count:
        return False
    settings = rules.attackers.get(attacker)
    return settings.counts if settings else registered.counts_by_default


def collect_counted_versions(rules: Rules) -> dict[str, str]:
    """Return all parts that count by the settings, with their installed versions.

    These are the measures with a weight, the attackers that count towards E, the distance if there is a
    threshold, and the packages that provide any of these or the track.
    """
    track = TRACKS[rules.track]
    measures = [name for name in track.measures if name in rules.weights]
    attackers = [name for name in track.attackers if is_counted_by_settings(rules, name)]
    excessive = rules.excessive
    distances = [excessive.distance] if excessive and excessive.threshold is not None else []
    versions = {
        **{f"measures.{name}": str(track.measures[name].version) for name in measures},
        **{f"attackers.{name}": str(track.attackers[name].version) for name in attackers},
        **{f"distances.{name}": str(track.distances[name].version) for name in distances},
    }
    return {**versions, **_collect_package_versions(rules.track, versions)}


def _collect_package_versions(track: str, parts: Iterable[str]) -> Versions:
    """Return the versions of the packages that provide the track and these parts of it."""
    packages = map(INSTALLED.find_provider, (f"tracks.{track}", *(f"{track}.{part}" for part in parts)))
    return {f"packages.{package.name}": package.version for package in packages if package}


def read_scored_by(table: TomlTable) -> dict[str, str]:
    return {name: cast(str, table.take(name, read_text)) for name in list(table.raw)}


def is_unsupported(rules: Rules) -> bool:
    """Return whether this installation cannot score as the table requires."""
    try:
        check_scored_by(rules)
    except InvalidCompetition:
        return True
    return False


def check_scored_by(rules: Rules) -> None:
    """Check the table against the installed versions and the other settings of the file.

    Raise InvalidCompetition if a listed part is not installed in its version, or if the settings let other
    parts count.
    """
    if not rules.scored_by:
        return
    track = TRACKS[rules.track]
    for name, version in rules.scored_by.items():
        _check_part_version(name, version, _find_installed_part(track, name))
    counted_by_settings = collect_counted_versions(rules)
    for name in sorted(counted_by_settings.keys() ^ rules.scored_by.keys()):
        if name in rules.scored_by or not name.startswith(("attackers.", "packages.")):
            raise InvalidCompetition(
                "{key}: whether {name} counts differs between this table and the rest of the "
                "competition file",
                code="scored_by_differs",
                key="scored_by",
                name=name,
            )


def _check_part_version(name: str, version: str, part: _Part | None) -> None:
    if part is None:
        raise InvalidCompetition(
            "{key}: {name} is not installed", code="part_missing", key="scored_by", name=name
        )
    if str(part.version) != version:
        raise InvalidCompetition(
            "{key}: {name} counts in version {version}; version {installed} is installed",
            code="part_version",
            key="scored_by",
            name=name,
            version=version,
            installed=part.version,
        )


def _find_installed_part(track: Track, name: str) -> _Part | None:
    kind, _, part = name.partition(".")
    registries: Mapping[str, Mapping[str, _Part]] = {
        "measures": track.measures,
        "attackers": track.attackers,
        "distances": track.distances,
        "packages": {package.name: package for package in INSTALLED.packages if not package.broken},
    }
    return registries.get(kind, {}).get(part)

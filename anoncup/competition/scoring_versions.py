"""The table ``[scored_by]`` of a competition file: the parts that count towards the scores, with versions.

Parts are measures, attackers, distances, ranking functions and packages. Without the table, every installed
part counts that the other settings of the file allow. With it, exactly the listed parts count, in these
versions; parts that are installed later are only reported.
"""

from collections.abc import Iterable, Mapping

from anoncup.errors import InvalidCompetition
from anoncup.plugins import INSTALLED, TRACKS, Package
from anoncup.rules.model import Rules
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyDistance, AnyMeasure
from anoncup.tracks.ranking_board import RankingFunction

Versions = Mapping[str, str]
"""Versions by part: ``"measures.mean_mae"``, ``"attackers.…"``, ``"distances.…"``, ``"packages.…"``,
``"ranking_functions.…"``."""

_Part = AnyMeasure | AnyAttacker | AnyDistance | RankingFunction | Package


def counts_towards_security(rules: Rules, attacker: str) -> bool:
    """Return whether an attacker counts towards E."""
    if rules.scored_by:
        return f"attackers.{attacker}" in rules.scored_by
    return _is_selected(rules, attacker)


def counts_towards_score(rules: Rules, part: str) -> bool:
    """Return whether U or a formula uses ``measures.NAME``, or E uses ``attackers.NAME``."""
    kind, _, name = part.partition(".")
    return _is_measure_used(rules, name) if kind == "measures" else counts_towards_security(rules, name)


def _is_measure_used(rules: Rules, measure: str) -> bool:
    return rules.weight(measure) > 0 or measure in rules.ranking.collect_value_names()


def _is_selected(rules: Rules, attacker: str) -> bool:
    """Return whether an attacker counts according to the settings, without regard to ``[scored_by]``.

    Attackers that are not installed do not count.
    """
    installed_attacker = TRACKS[rules.track].attackers.get(attacker)
    if installed_attacker is None or not installed_attacker.may_count:
        return False
    settings = rules.attackers.get(attacker)
    return settings.counts if settings else installed_attacker.counts_by_default


def collect_scoring_versions(rules: Rules) -> dict[str, str]:
    """Return the content of ``[scored_by]`` that fits the other settings and the installed versions.

    It lists the measures with a weight or in a formula, the attackers that count towards E, the distance if
    there is a threshold, the ranking functions, and the packages that provide the track or any such part.
    """
    track = TRACKS[rules.track]
    measures = [name for name in track.measures if _is_measure_used(rules, name)]
    attackers = [name for name in track.attackers if _is_selected(rules, name)]
    excessive = rules.excessive
    distances = [excessive.distance] if excessive and excessive.threshold is not None else []
    functions = {name.partition(":")[2] for name in rules.ranking.list_functions()}
    versions = {
        **{f"measures.{name}": str(track.measures[name].version) for name in measures},
        **{f"attackers.{name}": str(track.attackers[name].version) for name in attackers},
        **{f"distances.{name}": str(track.distances[name].version) for name in distances},
        **{
            f"ranking_functions.{name}": str(function.version)
            for name, function in INSTALLED.ranking_functions.items()
            if name in functions
        },
    }
    return {**versions, **_collect_package_versions(rules.track, versions)}


def _collect_package_versions(track: str, parts: Iterable[str]) -> Versions:
    """Return the versions of the packages that provide the track and these parts of it."""
    names = [part if part.startswith("ranking_functions.") else f"{track}.{part}" for part in parts]
    packages = map(INSTALLED.find_provider, (f"tracks.{track}", *names))
    return {f"packages.{package.name}": package.version for package in packages if package}


def check_scored_by(rules: Rules) -> None:
    """Check the table against the installed versions and the other settings of the file.

    Raises InvalidCompetition if a listed part is not installed in the listed version, or if the other
    settings contradict the table.
    """
    if not rules.scored_by:
        return
    track = TRACKS[rules.track]
    # Packages come first, because the version of a part differs if that of its package does.
    for name, version in sorted(
        rules.scored_by.items(), key=lambda item: not item[0].startswith("packages.")
    ):
        check_part_version(name, version, _find_installed_part(track, name))
    selected_versions = collect_scoring_versions(rules)
    for name in sorted(selected_versions.keys() ^ rules.scored_by.keys()):
        if name in rules.scored_by or not name.startswith(("attackers.", "packages.")):
            raise InvalidCompetition(
                "{key}: whether {name} counts differs between this table and the rest of the "
                "competition file",
                code="scored_by_differs",
                key="scored_by",
                name=name,
            )


def check_part_version(name: str, version: str, part: _Part | None) -> None:
    """Raise InvalidCompetition unless the installed part has the version; None if it is not installed."""
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


def _find_installed_part(track: AnyTrack, name: str) -> _Part | None:
    kind, _, part = name.partition(".")
    registries: Mapping[str, Mapping[str, _Part]] = {
        "measures": track.measures,
        "attackers": track.attackers,
        "distances": track.distances,
        "ranking_functions": INSTALLED.ranking_functions,
        "packages": {package.name: package for package in INSTALLED.packages if not package.broken},
    }
    return registries.get(kind, {}).get(part)

"""What counts in a competition, by name and version: ``[scored_by]`` of its file.

Without that table everything counts that the file lets count and that is installed. With it exactly what it
names counts, whatever is installed since: a part that came later is reported only.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from anoncup.errors import InvalidCompetition
from anoncup.plugins import INSTALLED, TRACKS, Package
from anoncup.rules.model import Rules
from anoncup.rules.toml_values import Table, text_value
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Distance, Measure

Versions = Mapping[str, str]
"""``"measures.mean_mae"`` to ``"1"``; so ``attackers.…``, ``distances.…``, and their ``packages.…``."""

Part = Measure | Attacker | Distance | Package


def attacker_counts(rules: Rules, attacker: str) -> bool:
    """Whether an attacker's rate may be E."""
    if rules.scored_by:
        return f"attackers.{attacker}" in rules.scored_by
    return settings_let_count(rules, attacker)


def part_counts(rules: Rules, part: str) -> bool:
    """Whether ``measures.NAME`` weighs in U, or ``attackers.NAME`` may be E."""
    kind, _, name = part.partition(".")
    return rules.weight(name) > 0 if kind == "measures" else attacker_counts(rules, name)


def settings_let_count(rules: Rules, attacker: str) -> bool:
    """Whether it counts by the file's settings alone; one that is not installed does not."""
    known = TRACKS[rules.track].attackers.get(attacker)
    if known is None or not known.may_count:
        return False
    named = rules.attackers.get(attacker)
    return named.counts if named else known.by_default


def what_counts(rules: Rules) -> dict[str, str]:
    """All that counts by the file's settings, with the versions that are installed.

    The measures with a weight, the attackers that count in E, the distance if there is a threshold, and the
    packages that brought any of these, or the track.
    """
    track = TRACKS[rules.track]
    measures = [name for name in track.measures if name in rules.weights]
    attackers = [name for name in track.attackers if settings_let_count(rules, name)]
    rule = rules.excessive
    distances = [rule.distance] if rule and rule.threshold is not None else []
    counting = {
        **{f"measures.{name}": str(track.measures[name].version) for name in measures},
        **{f"attackers.{name}": str(track.attackers[name].version) for name in attackers},
        **{f"distances.{name}": str(track.distances[name].version) for name in distances},
    }
    return {**counting, **brought(rules.track, counting)}


def brought(track: str, parts: Iterable[str]) -> Versions:
    """The packages that the track and these parts of it come from."""
    found = map(INSTALLED.bringer, (f"tracks.{track}", *(f"{track}.{part}" for part in parts)))
    return {f"packages.{one.name}": one.version for one in found if one}


def read_scored_by(table: Table) -> dict[str, str]:
    return {name: cast(str, table.take(name, text_value)) for name in list(table.raw)}


def lacks(rules: Rules) -> bool:
    """Whether this installation cannot score as the table asks."""
    try:
        check_scored_by(rules)
    except InvalidCompetition:
        return True
    return False


def check_scored_by(rules: Rules) -> None:
    """InvalidCompetition if what the table names is not installed in that version, or if the file's own
    settings let something else count.
    """
    if not rules.scored_by:
        return
    track = TRACKS[rules.track]
    for name, version in rules.scored_by.items():
        require_part(name, version, installed(track, name))
    settled = what_counts(rules)
    for name in sorted(settled.keys() ^ rules.scored_by.keys()):
        if name in rules.scored_by or not name.startswith(("attackers.", "packages.")):
            raise InvalidCompetition(
                "{key}: whether {name} counts differs between this table and the rest of the "
                "competition file",
                code="scored_by_differs",
                key="scored_by",
                name=name,
            )


def require_part(name: str, version: str, part: Part | None) -> None:
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


def installed(track: Track, name: str) -> Part | None:
    kind, _, part = name.partition(".")
    known: Mapping[str, Mapping[str, Part]] = {
        "measures": track.measures,
        "attackers": track.attackers,
        "distances": track.distances,
        "packages": {one.name: one for one in INSTALLED.packages if not one.broken},
    }
    return known.get(kind, {}).get(part)

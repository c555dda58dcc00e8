"""Numbers that may stand on one board: all of what counts in the versions that ``[scored_by]`` names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import overall, security
from app.services.boards.verdicts import Numbers


def comparable(numbers: Mapping[UUID, Numbers], scored_by: Versions) -> dict[UUID, Numbers]:
    """Those that can be compared, each with what counts alone in E, and every other part in one version.

    Nothing is left out where it was never written down what counts.
    """
    if not scored_by:
        return dict(numbers)
    counted = {key: found for key, one in numbers.items() if (found := by_rules(one, scored_by)) is not None}
    shown = newest(one.versions for one in counted.values())
    return {key: in_versions(one, shown) for key, one in counted.items()}


def by_rules(numbers: Numbers, scored_by: Versions) -> Numbers | None:
    """The numbers by what counts; None if a part of it is missing, or was of another version.

    Verdicts of contests that were under way before it was written down may have let more count in E.
    """
    if any(numbers.versions.get(name) != version for name, version in measured(scored_by)):
        return None
    risks = numbers.attackers.items()
    found = security(risk for name, risk in risks if f"attackers.{name}" in scored_by)
    if found == numbers.security:
        return numbers
    return replace(numbers, security=found, overall=overall(numbers.utility, found))


def measured(scored_by: Versions) -> list[tuple[str, str]]:
    """What a verdict tells the version of: not that of the distance, nor of packages."""
    untold = ("distances.", "packages.")
    return [(name, version) for name, version in scored_by.items() if not name.startswith(untold)]


def newest(found: Iterable[Versions]) -> Versions:
    """The latest version of each part; what counts has but one."""
    latest: dict[str, str] = {}
    for versions in {id(each): each for each in found}.values():
        for name, version in versions.items():
            if name not in latest or int(version) > int(latest[name]):
                latest[name] = version
    return latest


def in_versions(numbers: Numbers, shown: Versions) -> Numbers:
    """Without what an older version of a part that is only reported gave."""
    other = {name for name, version in numbers.versions.items() if shown[name] != version}
    if not other:
        return numbers
    return replace(
        numbers,
        measures=without(other, "measures", numbers.measures),
        attackers=without(other, "attackers", numbers.attackers),
        correct=without(other, "attackers", numbers.correct),
    )


def without(other: set[str], kind: str, values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if f"{kind}.{name}" not in other}

"""The packages that a competition needs: as installed when this process started, and as they are now."""

from collections.abc import Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from anoncup.competition.scoring_versions import (
    check_part_version,
    check_scored_by,
    collect_scoring_versions,
)
from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.plugins import INSTALLED, Package, find_installed_version
from anoncup.rules.model import Rules


def require_package(path: str, name: str, requirement: str, packages: Sequence[Package]) -> None:
    """Raise InvalidCompetition unless one of the packages is the required one; ``path`` names the key."""
    candidates = [package for package in packages if package.name == canonicalize_name(name)]
    if not candidates:
        raise InvalidCompetition(
            "{key}: the package {name} is not installed", code="package_missing", key=path, name=name
        )
    if all(package.broken for package in candidates):
        raise InvalidCompetition(
            "{key}: the package {name} is installed, but does not work: {reason}",
            code="package_broken",
            key=path,
            name=name,
            reason=candidates[0].broken,
        )
    if not _is_satisfied(candidates[0].version, requirement):
        raise InvalidCompetition(
            "{key}: version {wanted} of the package {name} is needed; {installed} is installed",
            code="package_version",
            key=path,
            name=name,
            wanted=requirement,
            installed=candidates[0].version,
        )


def _is_satisfied(version: str, requirement: str) -> bool:
    """Return whether an installed version, possibly a pre-release, satisfies a specifier."""
    try:
        return SpecifierSet(requirement).contains(version, prereleases=True)
    except InvalidVersion:
        return False


def check_current_packages(rules: Rules) -> None:
    """Check that the competition's packages are still installed in the versions that this process has read.

    They may be upgraded or removed meanwhile. Raises InvalidCompetition, with the text that the file has
    after a restart if it names the version.
    """
    packages = list_packages(rules)
    versions = [find_installed_version(package) for package in packages]
    current_packages = [
        replace(package, version=version)
        for package, version in zip(packages, versions, strict=True)
        if version is not None
    ]
    for name, requirement in rules.requires.items():
        require_package(f"requires.{name}", name, requirement, current_packages)
    current_by_name = {f"packages.{package.name}": package for package in current_packages}
    for name, version in rules.scored_by.items():
        if name.startswith("packages."):
            check_part_version(name, version, current_by_name.get(name))
    for package in packages:
        check_unchanged(package)


def list_packages(rules: Rules) -> list[Package]:
    """Return the packages that the file names, or that provide the track or a part that counts."""
    scored_names = {*rules.scored_by, *collect_scoring_versions(rules)}
    names = {
        *map(canonicalize_name, rules.requires),
        *(name.removeprefix("packages.") for name in scored_names),
    }
    return [package for package in INSTALLED.packages if package.name in names]


def check_unchanged(package: Package) -> None:
    """Raise InvalidCompetition if another version of a package is installed than this process has read."""
    version = find_installed_version(package)
    if version is None:
        require_package(f"requires.{package.name}", package.name, "", ())
    if version != package.version:
        raise InvalidCompetition(
            "version {version} of the package {name} was installed when the service started, and {installed} "
            "is now: the service must be restarted",
            code="package_version",
            name=package.name,
            version=package.version,
            installed=version,
        )


def find_package_change(package: Package) -> Message | None:
    """Return how the installed package differs from the one that this process has read, if it does."""
    try:
        check_unchanged(package)
    except InvalidCompetition as problem:
        return problem.message
    return None


def find_changed_package(rules: Rules) -> Message | None:
    """Return why work of the competition waits, if its packages were upgraded or removed meanwhile."""
    if not any(map(find_package_change, list_packages(rules))):
        return None
    try:
        check_current_packages(rules)
    except InvalidCompetition as problem:
        return problem.message
    return None


def is_unsupported(rules: Rules) -> bool:
    """Return whether this installation lacks a part or version that ``[scored_by]`` requires."""
    try:
        check_scored_by(rules)
        check_current_packages(rules)
    except InvalidCompetition:
        return True
    return False

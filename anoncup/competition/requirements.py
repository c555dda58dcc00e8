"""Required packages of a competition: the table ``[requires]`` of its file."""

from collections.abc import Sequence
from typing import cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.plugins import INSTALLED, Package
from anoncup.rules.toml_values import TomlTable, build_value_error, read_text


def read_requires(table: TomlTable) -> dict[str, str]:
    """Return the required versions by package; raise InvalidCompetition if they are not installed."""
    requirements = {name: cast(str, table.take(name, _read_specifier)) for name in list(table.raw)}
    for name, requirement in requirements.items():
        _require_package(table.path_of(name), name, requirement, INSTALLED.packages)
    return requirements


def _read_specifier(value: object, path: str) -> str:
    """Read a version specifier (PEP 440)."""
    text = read_text(value, path)
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise build_value_error(path, Message("versions such as >=0.3 or ==1.2.*")) from None
    return text


def _require_package(path: str, name: str, requirement: str, packages: Sequence[Package]) -> None:
    candidates = [package for package in packages if package.name == canonicalize_name(name)]
    if not candidates:
        raise InvalidCompetition(
            "{key}: the package {name} is not installed", code="package_missing", key=path, name=name
        )
    if all(package.broken for package in candidates):
        raise InvalidCompetition(
            "{key}: the package {name} is installed, but does not work",
            code="package_broken",
            key=path,
            name=name,
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

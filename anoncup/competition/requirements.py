"""What a competition needs of installed packages: ``[requires]`` of its file."""

from collections.abc import Sequence
from typing import cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.plugins import INSTALLED, Package
from anoncup.rules.toml_values import Table, text_value, wrong


def read_requires(table: Table) -> dict[str, str]:
    """Versions by package, as the file says them; InvalidCompetition if one is not installed like that."""
    found = {name: cast(str, table.take(name, specifier)) for name in list(table.raw)}
    for name, wanted in found.items():
        require_package(table.at(name), name, wanted, INSTALLED.packages)
    return found


def specifier(value: object, path: str) -> str:
    """Versions as PEP 440 says them."""
    said = text_value(value, path)
    try:
        SpecifierSet(said)
    except InvalidSpecifier:
        raise wrong(path, Message("versions such as >=0.3 or ==1.2.*")) from None
    return said


def require_package(path: str, name: str, wanted: str, packages: Sequence[Package]) -> None:
    known = [one for one in packages if one.name == canonicalize_name(name)]
    if not known:
        raise InvalidCompetition(
            "{key}: the package {name} is not installed", code="package_missing", key=path, name=name
        )
    if all(one.broken for one in known):
        raise InvalidCompetition(
            "{key}: the package {name} is installed, but does not work",
            code="package_broken",
            key=path,
            name=name,
        )
    if not fits(known[0].version, wanted):
        raise InvalidCompetition(
            "{key}: version {wanted} of the package {name} is needed; {installed} is installed",
            code="package_version",
            key=path,
            name=name,
            wanted=wanted,
            installed=known[0].version,
        )


def fits(version: str, wanted: str) -> bool:
    """Whoever installed a version before its release meant to."""
    try:
        return SpecifierSet(wanted).contains(version, prereleases=True)
    except InvalidVersion:
        return False

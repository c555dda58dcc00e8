"""The table of licences names every package that the service installs."""

import pytest

from tests.support import licences
from tests.support.licences import (
    LOCK,
    UnknownLicence,
    build_table,
    find_licence,
    list_packages,
    require_allowed,
)


def test_every_package_of_the_service_has_an_allowed_licence() -> None:
    lock = LOCK.read_text("utf-8")
    packages = list_packages(lock)
    assert len(packages) == sum(not line.startswith(" ") for line in lock.splitlines())
    rows = [line.strip("| ").split(" | ") for line in build_table(packages).splitlines()[2:]]
    assert [(name, version) for name, version, _ in rows] == packages
    # An SPDX expression, a classifier and a text.
    expected = {"psycopg": "LGPL-3.0-only", "jinja2": "BSD License", "celery": "BSD-3-Clause"}
    assert expected.items() <= {name: licence for name, _, licence in rows}.items()


def test_known_licences_are_needed() -> None:
    assert set(licences.KNOWN_LICENCES) <= {name for name, _ in list_packages(LOCK.read_text("utf-8"))}


@pytest.mark.parametrize("licence", ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "Free for a day"])
def test_missing_and_other_licences_are_refused(licence: str) -> None:
    with pytest.raises(UnknownLicence, match=r"^package: "):
        require_allowed("package", licence)


@pytest.mark.parametrize("licence", ["MIT", "MIT AND BSD-3-Clause", "GPL-3.0-only OR MIT"])
def test_allowed_licences_are_accepted(licence: str) -> None:
    require_allowed("package", licence)


def test_package_that_is_not_installed_has_no_licence() -> None:
    assert find_licence("no-such-package") == ""

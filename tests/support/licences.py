"""Lists the licences of the packages that the service installs: ``python -m tests.support.licences``.

Licences are read from installed packages. One that is missing or not in ``ALLOWED`` is an error.
"""

import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

LOCK = Path(__file__).parents[2] / "requirements-server.lock"
ALLOWED = {
    *(
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0"),
        *("PSF-2.0", "Zlib"),
    ),
    "Apache-2.0 WITH LLVM-exception",
    "CNRI-Python",  # parts of regex
    "LGPL-3.0-only",  # psycopg: a library that everybody can replace
    "Mozilla Public License 2.0 (MPL 2.0)",  # certifi: certificates that nobody changes
    # What older packages declare in place of an SPDX identifier:
    *("3-Clause BSD License", "Apache Software License", "BSD", "BSD License", "MIT License"),
}
KNOWN_LICENCES = {
    # On other systems or other versions of Python only.
    "async-timeout": "Apache-2.0",
    "colorama": "BSD-3-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",
    # The metadata contain the text of the licence, and its name in a classifier with other words.
    "shellingham": "ISC",
}
_CLASSIFIER = re.compile(r"License :: OSI Approved :: (.+)")


class UnknownLicence(Exception):
    """A package declares no licence, or one that nobody has allowed."""


def list_packages(lock: str) -> list[tuple[str, str]]:
    """Return name and version of each package in a lock file."""
    return re.findall(r"^([a-z0-9][\w.-]*)==(\S+)", lock, re.MULTILINE)


def find_licence(name: str) -> str:
    """Return the licence of a package as an SPDX expression or in the words of its metadata."""
    if name in KNOWN_LICENCES:
        return KNOWN_LICENCES[name]
    try:
        fields = metadata(name)
    except PackageNotFoundError:
        return ""
    expressions, texts = (fields.get_all(field) or [] for field in ("License-Expression", "License"))
    classifiers = map(_CLASSIFIER.fullmatch, fields.get_all("Classifier") or [])
    names = " OR ".join(match[1] for match in classifiers if match)
    return next(filter(None, (*expressions, names, *texts)), "")


def require_allowed(name: str, licence: str) -> None:
    """Raise UnknownLicence unless each part of the expression, or one of its alternatives, is allowed."""
    alternatives = (re.split(r" AND ", alternative) for alternative in licence.split(" OR "))
    if not any(ALLOWED.issuperset(parts) for parts in alternatives):
        raise UnknownLicence(
            f"{name}: {licence or 'no licence'}; add it to {__name__} or replace the package"
        )


def build_table(packages: Iterable[tuple[str, str]]) -> str:
    """Return the licences as a table in Markdown."""
    lines = ["| package | version | licence |", "|---|---|---|"]
    for name, version in packages:
        licence = find_licence(name)
        require_allowed(name, licence)
        lines.append(f"| {name} | {version} | {licence} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.stdout.write(build_table(list_packages(LOCK.read_text("utf-8"))))

"""Licences of the dependencies, files that the documents name, and version and completion of the command."""

import re
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OWN_PACKAGES = {"anoncup", "app", "workers", "migrations"}
DOCUMENTS = [
    "NOTICE",
    *(str(path.relative_to(ROOT)) for folder in ("", "docs") for path in (ROOT / folder).glob("*.md")),
]
PERMISSIVE_LICENCES = re.compile(r"MIT|BSD|Apache|ISC|PSF|0BSD|Zlib|CC0")
WEAK_COPYLEFT_PACKAGES = {"certifi", "psycopg", "psycopg-binary"}
"""Under the MPL or the LGPL, used unmodified as NOTICE states."""
PATH_PATTERN = re.compile(
    r"(?<![\w/….])((?:app|anoncup|workers|migrations|tests|docs|deploy|examples)/[\w./*-]*\w)"
)


def join_licences(name: str) -> str:
    metadata = distribution(name).metadata
    classifiers = [line for line in metadata.get_all("Classifier") or [] if line.startswith("License")]
    return " ".join(
        [
            metadata["License-Expression"] or "",
            (metadata["License"] or "")[:60],
            *classifiers,
            *find_mit_texts(name),
        ]
    )


def find_mit_texts(name: str) -> list[str]:
    """Return "MIT" for every licence file of a package that has the text of the MIT licence."""
    package = distribution(name)
    files = package.metadata.get_all("License-File") or []
    texts = [package.read_text(f"licenses/{file}") or "" for file in files]
    return ["MIT" for text in texts if "Permission is hereby granted, free of charge" in text]


def list_locked_packages() -> set[str]:
    """Return the locked packages that are installed on this platform."""
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    names = {match[1] for line in lines if (match := re.match(r"([a-z0-9][\w.-]*)(?:\[.*\])?==", line))}
    return names & {
        re.sub(r"[-_.]+", "-", name).lower()
        for distributions in packages_distributions().values()
        for name in distributions
    }


def test_dependencies_have_compatible_licences() -> None:
    assert len(list_locked_packages()) > 60
    assert {
        name for name in list_locked_packages() if not PERMISSIVE_LICENCES.search(join_licences(name))
    } == WEAK_COPYLEFT_PACKAGES
    assert "certifi (MPL-2.0)" in (ROOT / "NOTICE").read_text("utf-8")
    assert "psycopg (LGPL-3.0-only)" in (ROOT / "NOTICE").read_text("utf-8")


def test_our_package_names_are_not_used_by_other_distributions() -> None:
    providers = packages_distributions()
    assert all(set(providers.get(name, ())) <= {"anoncup"} for name in OWN_PACKAGES)


def test_notice_names_every_licence_of_a_vendored_file() -> None:
    licence_files = {str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*LICENSE.txt")}
    assert licence_files
    assert all(path in (ROOT / "NOTICE").read_text("utf-8") for path in licence_files)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_named_in_documents_exist(document: str) -> None:
    paths = set(PATH_PATTERN.findall((ROOT / document).read_text("utf-8")))
    assert {name for name in paths if not list(ROOT.glob(name)) and not list(ROOT.glob(f"{name}-*"))} == set()


def test_command_prints_its_version() -> None:
    assert run_anoncup("--version") == f"anoncup {version('anoncup')}\n"


@pytest.mark.parametrize(
    ("typed_text", "completions"), [("orga", ["organize"]), ("keys r", ["rotate", "restore"])]
)
def test_shell_completes_commands(typed_text: str, completions: list[str]) -> None:
    words = f"anoncup {typed_text}"
    completion_variables = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        "_ANONCUP_COMPLETE": "complete_bash",
    }
    assert run_anoncup(**completion_variables).split() == completions


def run_anoncup(*arguments: str, **environment: str) -> str:
    command = [str(Path(sys.executable).parent / "anoncup"), *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, encoding="utf-8").stdout

"""Licences of the dependencies, files that the documents name, and the command's first words."""

import re
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {"anoncup", "app", "workers", "migrations"}
PAPERS = [
    "NOTICE",
    *(str(path.relative_to(ROOT)) for each in ("", "docs") for path in (ROOT / each).glob("*.md")),
]
PERMISSIVE = re.compile(r"MIT|BSD|Apache|ISC|PSF|0BSD|Zlib|CC0")
WEAK = {"psycopg", "psycopg-binary"}
"""Under the LGPL: used as they are. What may be used so is said in NOTICE."""
PLACE = re.compile(r"(?<![\w/….])((?:app|anoncup|workers|migrations|tests|docs|deploy|examples)/[\w./*-]*\w)")


def licences_of(name: str) -> str:
    said = distribution(name).metadata
    classified = [line for line in said.get_all("Classifier") or [] if line.startswith("License")]
    return " ".join(
        [said["License-Expression"] or "", (said["License"] or "")[:60], *classified, *texts_of(name)]
    )


def texts_of(name: str) -> list[str]:
    """The licences whose text lies in a package, though it does not say their names."""
    found = distribution(name)
    files = found.metadata.get_all("License-File") or []
    texts = [found.read_text(f"licenses/{file}") or "" for file in files]
    return ["MIT" for text in texts if "Permission is hereby granted, free of charge" in text]


def locked() -> set[str]:
    """What runs besides this package, on this platform."""
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    names = {match[1] for line in lines if (match := re.match(r"([a-z0-9][\w.-]*)(?:\[.*\])?==", line))}
    return names & {
        re.sub(r"[-_.]+", "-", name).lower() for each in packages_distributions().values() for name in each
    }


def test_every_package_that_runs_may_be_used_beside_this_licence() -> None:
    assert len(locked()) > 60
    assert {name for name in locked() if not PERMISSIVE.search(licences_of(name))} == WEAK
    assert "psycopg (LGPL-3.0-only)" in (ROOT / "NOTICE").read_text("utf-8")


def test_no_other_package_brings_one_of_our_names() -> None:
    brought = packages_distributions()
    assert all(set(brought.get(name, ())) <= {"anoncup"} for name in PACKAGES)


def test_the_notice_names_every_licence_of_a_vendored_file() -> None:
    vendored = {str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*LICENSE.txt")}
    assert vendored
    assert all(path in (ROOT / "NOTICE").read_text("utf-8") for path in vendored)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_file_that_a_paper_names_is_there(paper: str) -> None:
    named = set(PLACE.findall((ROOT / paper).read_text("utf-8")))
    assert {name for name in named if not list(ROOT.glob(name)) and not list(ROOT.glob(f"{name}-*"))} == set()


def test_the_command_says_its_version() -> None:
    assert said("--version") == f"anoncup {version('anoncup')}\n"


@pytest.mark.parametrize(("typed", "offered"), [("orga", ["organize"]), ("keys r", ["rotate", "restore"])])
def test_a_shell_completes_commands(typed: str, offered: list[str]) -> None:
    words = f"anoncup {typed}"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_ANONCUP_COMPLETE": "complete_bash"}
    assert said(**asked).split() == offered


def said(*words: str, **environment: str) -> str:
    command = [str(Path(sys.executable).parent / "anoncup"), *words]
    return subprocess.run(command, env=environment, check=True, capture_output=True, encoding="utf-8").stdout

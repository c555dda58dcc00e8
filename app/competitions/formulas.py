"""The formulas of measures, distances and scores as MathML.

They are written in LaTeX: those of built-in tracks in ``formulas.toml`` of their folders.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from anoncup import tracks
from anoncup.plugins import BUILT_IN, INSTALLED
from app.core.pages.mathematics import typeset

_TRACKS_FOLDER = Path(tracks.__file__).parent


@cache
def load_formulas(track: str) -> Mapping[str, Mapping[str, str]]:
    """Return the formulas of a built-in track in LaTeX, by kind and name."""
    return _read_toml(_TRACKS_FOLDER / track / "formulas.toml") if track in BUILT_IN else {}


@cache
def load_score_formulas() -> Mapping[str, Markup]:
    """Return the formulas of the scores, and of the distances that the rule against excess uses."""
    formulas = _read_toml(Path(__file__).with_name("score_formulas.toml"))
    return {name: typeset(latex) for name, latex in formulas.items()}


def _read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def find_measure_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a measure, which is built in or from an installed package, or None."""
    built_in_formula = load_formulas(track).get("measures", {}).get(name)
    latex = built_in_formula or INSTALLED.formulas.get(track, {}).get(name)
    return typeset(latex) if latex else None


def find_distance_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a distance of a built-in track, or None."""
    latex = load_formulas(track).get("distances", {}).get(name)
    return typeset(latex) if latex else None

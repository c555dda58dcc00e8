"""Description of an installed package that adds tracks, measures, attackers or methods."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure, Method

API_VERSION = 0
"""Version of the plug-in interface; it increases when existing packages must be adapted."""
Formulas = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Plugin:
    """The tracks and parts that a package adds.

    ``api`` is the version of the plug-in interface that the package was written for, as a literal number.
    ``tracks`` are keyed by name; ``measures``, ``attackers``, ``methods`` and ``formulas`` by the name of a
    track, then by their own name. A formula is LaTeX for a measure. Texts come from the
    package's message catalogues, which are registered under the entry point group ``anoncup.locale``.
    """

    api: int
    tracks: Mapping[str, Track] = field(default_factory=dict)
    measures: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    attackers: Mapping[str, Mapping[str, Attacker]] = field(default_factory=dict)
    methods: Mapping[str, Mapping[str, Method]] = field(default_factory=dict)
    formulas: Formulas = field(default_factory=dict)

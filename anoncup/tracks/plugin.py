"""Description of an installed package that adds tracks, parts of tracks or ranking functions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, AnyMethod
from anoncup.tracks.ranking_board import RankingFunction

API_VERSION = 0
"""Version of the plug-in interface.

0 may change at any time before 1; from then on, the version increases when existing packages must be adapted.
"""
Formulas = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Plugin:
    """The tracks and parts that a package adds.

    ``api`` is the version of the plug-in interface that the package was written for, as a literal number.
    ``tracks`` and ``ranking_functions`` are keyed by name; ``measures``, ``attackers``, ``methods`` and
    ``formulas`` by the name of a track, then by their own name. A formula is LaTeX for a measure. Texts come
    from the message catalogues of the package (entry point group ``anoncup.locale``).
    ``own_texts`` is filled in for packages that have an interpreter of their own
    (``anoncup.tracks.descriptions``).
    """

    api: int
    tracks: Mapping[str, AnyTrack] = field(default_factory=dict)
    measures: Mapping[str, Mapping[str, AnyMeasure]] = field(default_factory=dict)
    attackers: Mapping[str, Mapping[str, AnyAttacker]] = field(default_factory=dict)
    methods: Mapping[str, Mapping[str, AnyMethod]] = field(default_factory=dict)
    formulas: Formulas = field(default_factory=dict)
    ranking_functions: Mapping[str, RankingFunction] = field(default_factory=dict)
    own_texts: Mapping[str, frozenset[str]] | None = None

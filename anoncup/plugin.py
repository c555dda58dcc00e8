"""What a package imports that brings tracks, measures, attackers or methods: re-exports of ``app.scoring``.

Importing this loads no numbers, and neither should the module that an entry point of the group
``anoncup.plugins`` names: its ``Plugin`` describes, and ``deferred_in(__name__)`` names the functions that
compute, which are imported when they are called first.
"""

from app.deferred import deferred_in
from app.errors import InvalidCompetition, InvalidInput, InvalidUpload, Problem
from app.messages import Message
from app.scoring.drawn import Draw
from app.scoring.files import FileSpec, Remark, as_lines, headed, some_originals
from app.scoring.link import LINK, SOURCES
from app.scoring.outcomes import Outcome
from app.scoring.parameters import Parameter
from app.scoring.parts import Attacker, Distance, Measure, Method
from app.scoring.plugins import API, Plugin
from app.scoring.registry import About, Answers, Question, Track

__all__ = [
    "API",
    "LINK",
    "SOURCES",
    "About",
    "Answers",
    "Attacker",
    "Distance",
    "Draw",
    "FileSpec",
    "InvalidCompetition",
    "InvalidInput",
    "InvalidUpload",
    "Measure",
    "Message",
    "Method",
    "Outcome",
    "Parameter",
    "Plugin",
    "Problem",
    "Question",
    "Remark",
    "Track",
    "as_lines",
    "deferred_in",
    "headed",
    "some_originals",
]

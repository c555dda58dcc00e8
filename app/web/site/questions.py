"""The questions of a contest, as pages speak of them."""

from collections.abc import Iterable
from itertools import groupby

from anoncup.tracks.model import Question


def alike(questions: Iterable[Question]) -> list[list[Question]]:
    """Those whose guesses are written in the same way stand together."""
    return [list(each) for _, each in groupby(questions, lambda question: question.file)]

"""Group a contest's questions for display."""

from collections.abc import Iterable
from itertools import groupby

from anoncup.tracks.model import Question


def group_by_guess_file(questions: Iterable[Question]) -> list[list[Question]]:
    """Group adjacent questions whose guesses have the same file format."""
    return [list(group) for _, group in groupby(questions, lambda question: question.file)]

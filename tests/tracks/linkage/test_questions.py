"""The linkage question: reading and writing its files, judging guesses, and the risk beyond the baseline."""

from dataclasses import replace

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.plugins import TRACKS
from anoncup.tracks.model import AnyContext, AnyQuestion, AnyTrack, ReleaseContext

SIZES = {"originals": 5, "rows": 3}
CONTEXT: AnyContext = ReleaseContext(
    parse_competition(template(2015)), SIZES, lambda: pytest.fail("sizes say enough")
)
SOURCE = np.array([4, 0, 2])
LINKAGE_TRACKS = {name: track for name, track in TRACKS.items() if "link" in track.questions}
LINK_QUESTIONS = [track.questions["link"] for track in LINKAGE_TRACKS.values()]


@pytest.mark.parametrize("track", LINKAGE_TRACKS.values(), ids=LINKAGE_TRACKS)
def test_answers_round_trip_through_files(track: AnyTrack) -> None:
    answers = track.answer_spec
    assert answers.read(answers.write(SOURCE), CONTEXT).tolist() == SOURCE.tolist()
    answers.check(SOURCE, SIZES)
    for wrong_answer in (SOURCE[:2], SOURCE + 1, SOURCE * 0):
        with pytest.raises(InvalidInput):
            answers.check(wrong_answer, SIZES)
    with pytest.raises(InvalidUpload):
        answers.read(answers.write(SOURCE), replace(CONTEXT, sizes=SIZES | {"rows": 4}))


@pytest.mark.parametrize("question", LINK_QUESTIONS)
@pytest.mark.parametrize(
    ("guess", "correct"), [([4, 0, 2], 3), ([4, 4, 4], 1), ([-1, -1, -1], 0), ([0, 2, 4], 0)]
)
def test_guesses_are_judged_by_counting_correct_rows(
    question: AnyQuestion, guess: list[int], correct: int
) -> None:
    parsed = question.read(question.write(np.array(guess)), CONTEXT)
    assert parsed.tolist() == guess
    assert question.count_answered(parsed) == sum(row >= 0 for row in guess)
    outcome = question.judge(parsed, SOURCE, CONTEXT)
    assert (outcome.value, outcome.correct, outcome.trials) == (correct / 3, correct, 3)
    assert outcome.risk == outcome.value  # no chance is subtracted

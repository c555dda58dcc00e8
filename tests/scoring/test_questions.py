"""Questions and their outcomes: files there and back, perfect guesses, none at all, and what chance gets."""

from dataclasses import replace

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.plugins import TRACKS
from anoncup.tracks.model import About, Question, Track
from anoncup.tracks.outcomes import Outcome

SIZES = {"originals": 5, "rows": 3}
ABOUT = About(parse_competition(template(2015)), SIZES, lambda: pytest.fail("sizes say enough"))
SOURCE = np.array([4, 0, 2])
LINKING = {name: track for name, track in TRACKS.items() if "link" in track.questions}
LINKS = [track.questions["link"] for track in LINKING.values()]


@pytest.mark.parametrize("track", LINKING.values(), ids=LINKING)
def test_an_answer_goes_into_a_file_and_comes_back(track: Track) -> None:
    answers = track.answers
    assert answers.read(answers.write(SOURCE), ABOUT).tolist() == SOURCE.tolist()
    answers.check(SOURCE, SIZES)
    for wrong in (SOURCE[:2], SOURCE + 1, SOURCE * 0):
        with pytest.raises(InvalidInput):
            answers.check(wrong, SIZES)
    with pytest.raises(InvalidUpload):
        answers.read(answers.write(SOURCE), replace(ABOUT, sizes=SIZES | {"rows": 4}))


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(
    ("guess", "correct"), [([4, 0, 2], 3), ([4, 4, 4], 1), ([-1, -1, -1], 0), ([0, 2, 4], 0)]
)
def test_a_guess_is_judged_as_plain_counting_says(link: Question, guess: list[int], correct: int) -> None:
    read = link.read(link.write(np.array(guess)), ABOUT)
    assert read.tolist() == guess
    assert link.answered(read) == sum(one >= 0 for one in guess)
    found = link.judge(read, SOURCE, SIZES)
    assert (found.value, found.correct, found.trials) == (correct / 3, correct, 3)
    assert found.risk == found.value  # nothing is taken off for chance


@pytest.mark.parametrize(
    ("value", "baseline", "risk"),
    [(1.0, 0.5, 1.0), (0.5, 0.5, 0.0), (0.25, 0.5, 0.0), (0.75, 0.5, 0.5), (0.3, 0.0, 0.3), (1.0, 1.0, 0.0)],
)
def test_what_chance_gets_is_no_risk(value: float, baseline: float, risk: float) -> None:
    assert Outcome(value, baseline).risk == risk

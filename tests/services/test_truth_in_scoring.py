"""A built-in attacker is judged by what organizers hold, as a guess of the same content is."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from app.scoring.parts import Attacker
from app.scoring.tracks import TRACKS
from app.scoring.tracks.membership.steps import Target
from app.scoring.tracks.membership.tables import Table, frame, written
from tests.contest import judge_everything
from tests.drawing import evaluated_here
from tests.membership_contest import HIDDEN, PATH, TRACK, Played, opened
from workers import child


def looked_up(target: Target) -> Table:
    """The hidden column of candidates that are in the release as they are; of others its first value."""
    known = target.original.candidates
    released = frame(target.seen.released).apply(tuple, axis=1).tolist()
    hidden = target.released.only(HIDDEN)
    place = {row: number for number, row in enumerate(released)}
    found = [place.get(row) for row in frame(known).apply(tuple, axis=1)]
    codes = [[0 if one is None else int(hidden.codes[one, 0])] for one in found]
    return Table(hidden.schema, np.empty((known.rows, 0)), np.array(codes, dtype=np.int64))


@pytest.fixture
def played(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Played:
    one = Attacker("looked_up", 1, looked_up, question="attribute")
    attackers = {**TRACK.attackers, one.name: one}
    monkeypatch.setitem(TRACKS, "membership", replace(TRACK, attackers=attackers))
    monkeypatch.setattr(child, "evaluate", evaluated_here)
    return opened(client)


def guess_in_full(played: Played, content: bytes) -> dict[str, Any]:
    """What it came to, once everything is told."""
    played.contest.attack()
    sent = played.guess("blue", "red", "attribute", content)
    assert sent.status_code == 202, sent.text
    judge_everything()
    played.contest.close()
    listed = played.arena.get(f"{PATH}/guesses", token=played.arena.team("blue")).json()
    outcome: dict[str, Any] = next(one["outcome"] for one in listed if one["id"] == sent.json()["id"])
    return outcome


def test_an_attacker_and_a_guess_of_the_same_content_come_to_the_same(played: Played) -> None:
    shown = played.arena.submission(played.submissions["red"], "red")
    assert shown["status"] == "SCORED", shown
    rate = shown["result"]["attackers"]["looked_up"]
    release, _ = TRACK.parse_release({"released": played.released["red"]}, played.public, played.rules)
    outcome = guess_in_full(played, written(looked_up(TRACK.target_of(played.public, release))))
    assert rate["rate"] == outcome["value"] > 0.5
    assert (rate["correct"], rate["trials"]) == (outcome["correct"], outcome["trials"])
    assert (rate["interval"], rate["details"]) == (outcome["interval"], outcome["details"])

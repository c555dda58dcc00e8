"""A built-in attacker is judged by the truth that guesses are judged by; an independent program agrees."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from anoncup.plugins import TRACKS
from anoncup.tracks.membership.adapter import Target
from anoncup.tracks.membership.tables import Table, frame, written
from anoncup.tracks.parts import Attacker
from tests.scoring import membership_reference as plain
from tests.scoring.membership_cases import rows_of
from tests.support.allocation_track import evaluated_here
from tests.support.contest import judge_everything
from tests.support.membership_contest import HIDDEN, PATH, TRACK, Played, opened
from workers import child_manager

pytestmark = pytest.mark.full


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
    monkeypatch.setattr(child_manager, "evaluate", evaluated_here)
    return opened(client)


def guess_in_full(played: Played, victim: str, question: str, *contents: bytes) -> list[dict[str, Any]]:
    """Send another team's guesses at a release and return their outcomes, once everything is told."""
    team = "red" if victim == "blue" else "blue"
    played.contest.attack()
    sent = [played.guess(team, victim, question, content) for content in contents]
    assert [one.status_code for one in sent] == [202] * len(contents)
    judge_everything()
    played.contest.close()
    listed = played.arena.get(f"{PATH}/guesses", token=played.arena.team(team)).json()
    outcomes = {one["id"]: one["outcome"] for one in listed}
    return [outcomes[one.json()["id"]] for one in sent]


def members_of(played: Played, team: str) -> list[bool]:
    """Read which candidates a team's own file names."""
    own = csv.DictReader(io.StringIO(played.own(team).decode()))
    places = {int(row["candidate"]) for row in own}
    return [place in places for place in range(1, len(rows_of(played.public.candidates)) + 1)]


ATTACKS: dict[str, Callable[[plain.Rows, plain.Rows], list[float]]] = {
    "closest": plain.closest,
    "closest_ratio": plain.closest_ratio,
    "exact_copy": plain.exact_copy,
}
"""As many as a team has guesses."""


def test_attackers_and_guesses_at_members_come_to_what_an_independent_program_computes(
    played: Played,
) -> None:
    members, candidates = members_of(played, "blue"), rows_of(played.public.candidates)
    assert 2 * sum(members) == len(members)
    release, _ = TRACK.parse_release({"released": played.released["blue"]}, played.public, played.rules)
    released = rows_of(release.only(*played.public.candidates.schema.names))
    scores = {name: attack(candidates, released) for name, attack in ATTACKS.items()}
    expected = {
        name: {
            "tpr": float(plain.tpr(each, members)),
            "auc": float(plain.auc(each, members)),
            "accuracy": float(plain.accuracy(each, members)),
        }
        for name, each in scores.items()
    }
    found = played.arena.submission(played.submissions["blue"], "blue")["result"]["attackers"]
    contents = [("score\n" + "".join(f"{score!r}\n" for score in each)).encode() for each in scores.values()]
    outcomes = guess_in_full(played, "blue", "membership", *contents)
    for (name, values), outcome in zip(expected.items(), outcomes, strict=True):
        assert found[name]["rate"] == values["tpr"] == outcome["value"]
        assert found[name]["details"] == outcome["details"]
        assert {key: found[name]["details"][key] for key in values} == values
        assert (found[name]["baseline"], found[name]["interval"]) == (
            outcome["baseline"],
            outcome["interval"],
        )
    assert len({values["auc"] for values in expected.values()}) > 1
    assert all(0 < values["auc"] < 1 for values in expected.values())


def test_an_attacker_and_a_guess_of_the_same_content_come_to_the_same(played: Played) -> None:
    shown = played.arena.submission(played.submissions["red"], "red")
    assert shown["status"] == "SCORED", shown
    rate = shown["result"]["attackers"]["looked_up"]
    release, _ = TRACK.parse_release({"released": played.released["red"]}, played.public, played.rules)
    said = looked_up(TRACK.target_of(played.public, release))
    (outcome,) = guess_in_full(played, "red", "attribute", written(said))
    assert rate["rate"] == outcome["value"] > 0.5
    assert (rate["correct"], rate["trials"]) == (outcome["correct"], outcome["trials"])
    assert (rate["interval"], rate["details"]) == (outcome["interval"], outcome["details"])
    assert rate["rate"] == float(expected_beyond(played, said))


def expected_beyond(played: Played, said: Table) -> Fraction:
    """Compute the value of a guess at the hidden column by an independent program."""
    among, whole = members_of(played, "red"), played.whole
    names = list(played.public.candidates.schema.names)
    assert whole.background is not None
    categories = next(one.values for one in whole.candidates.only(HIDDEN).schema.categorical)

    def cells(table: Table) -> list[plain.Cell]:
        return [row[0] for row in rows_of(table)]

    def of_members(rows: list[Any]) -> list[Any]:
        return [row for row, member in zip(rows, among, strict=True) if member]

    reference = plain.imputed(
        rows_of(whole.background.only(*names)),
        cells(whole.background.only(HIDDEN)),
        of_members(rows_of(played.public.candidates)),
        categories,
    )
    truth = of_members(cells(whole.candidates.only(HIDDEN)))
    return plain.beyond(of_members(cells(said)), truth, reference, 0.0)

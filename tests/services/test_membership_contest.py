"""A contest of membership from its files to the reveal, through the real service; every number once more."""

import hashlib
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tracks.membership.allocation import assignments
from anoncup.tracks.membership.tables import frame, parse_rows, scores_csv
from tests.scoring import membership_reference as plain
from tests.scoring.membership_cases import rows_of
from tests.support.arena import API
from tests.support.contest import judge_everything
from tests.support.membership_contest import HIDDEN, PATH, ROWS, Played, opened

pytestmark = pytest.mark.full

TRACK = TRACKS["membership"]


@pytest.fixture
def played(client: TestClient) -> Played:
    return opened(client)


def test_members_are_the_teams_own_half_of_the_candidates(played: Played) -> None:
    halves = {team: played.members(team).among for team in ("red", "blue")}
    assert all(half.sum() == ROWS // 2 for half in halves.values())
    assert not np.array_equal(halves["red"], halves["blue"])
    for team, half in halves.items():
        lines = [line.partition(",")[2] for line in played.own(team).decode().splitlines()[1:]]
        assert lines == frame(played.whole.candidates.at(half)).to_csv(index=False).splitlines()[1:]


def test_a_score_is_that_of_the_local_command_and_of_plain_loops(played: Played) -> None:
    for team, content in played.released.items():
        shown = played.arena.submission(played.submissions[team], team)
        assert shown["status"] == "SCORED", shown
        members = played.members(team)
        release, _ = TRACK.parse_release({"released": content}, played.public, played.rules)
        expected = evaluate(played.rules, played.public, release, members).to_json()
        found = shown["result"]
        assert {name: found[name] for name in expected} == json.loads(json.dumps(expected))
        own, rows = rows_of(members.table), rows_of(release)
        for name in TRACK.measures:
            assert found["measures"][name]["value"] == pytest.approx(
                getattr(plain, name)(own, rows), abs=1e-6
            )
        candidates = rows_of(played.public.candidates)
        public = rows_of(release.only(*played.public.candidates.schema.names))
        for name in TRACK.attackers:
            scores = list(map(float, getattr(plain, name)(candidates, public)))
            rate = plain.tpr(scores, members.among.tolist())
            assert found["attackers"][name]["rate"] == pytest.approx(float(rate))


def test_wrong_files_are_refused_and_a_secret_is_not_taken(played: Played) -> None:
    extra = played.submit("red", played.released["red"], secret=b"original_row\n1\n")
    assert extra.status_code == 422
    assert extra.json()["errors"][0]["file"] == "secret"
    short = played.submit("red", b"\n".join(played.released["red"].split(b"\n")[:3]) + b"\n")
    assert (short.status_code, short.json()["errors"][0]["code"]) == (422, "too_few_rows")
    wrong = played.submit("red", played.released["red"].replace(b",none", b",plague", 1))
    assert [(each["file"], each["column"], each["code"]) for each in wrong.json()["errors"]] == [
        ("released", HIDDEN, "unknown_value")
    ]


def judged(played: Played, answer: Any, team: str) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    judge_everything()
    listed = played.arena.get(f"{PATH}/guesses", token=played.arena.team(team)).json()
    return next(one for one in listed if one["id"] == answer.json()["id"])


def test_both_questions_are_asked_judged_and_revealed(played: Played) -> None:
    contest = played.contest
    contest.attack()
    for wrong, question, code in (
        (b"score\n0.5\n", "membership", "too_few_rows"),
        (b"score\n" + b"2\n" * ROWS, "membership", "out_of_range"),
        (b"disease\n" + b"plague\n" * ROWS, "attribute", "unknown_value"),
    ):
        refused = played.guess("blue", "red", question, wrong)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (422, code), refused.text
    unasked = played.guess("blue", "red", "link", b"")
    assert (unasked.status_code, unasked.json()["code"]) == (422, "unknown_question")

    shown = contest.target_of(played.submissions["red"])
    target = played.arena.get(f"/targets/{shown['id']}/data/released.csv", token=played.arena.team("blue"))
    schema = played.rules.settings.schema
    released, _ = parse_rows(target.content, schema, file="released")
    assert sorted(map(repr, rows_of(released))) == sorted(map(repr, rows_of(played.members("red").table)))

    # What a copy tells: who is in it, and what they have.
    names = played.public.candidates.schema.names
    known = {
        repr(row): cells
        for row, cells in zip(rows_of(released.only(*names)), rows_of(released.only(HIDDEN)), strict=True)
    }
    among = [repr(row) in known for row in rows_of(played.public.candidates)]
    assert among == played.members("red").among.tolist()
    scores = np.array(among, dtype=float)
    told = [
        known[repr(row)][0] if repr(row) in known else "acromegaly"
        for row in rows_of(played.public.candidates)
    ]
    first = judged(played, played.guess("blue", "red", "membership", scores_csv(scores)), "blue")
    column = "".join(f"{one}\n" for one in (HIDDEN, *told)).encode()
    second = judged(played, played.guess("blue", "red", "attribute", column), "blue")
    blind = judged(played, played.guess("red", "blue", "membership", b"score\n" + b"0.5\n" * ROWS), "red")
    assert [one["question"] for one in (first, second, blind)] == ["membership", "attribute", "membership"]

    contest.close()
    listed = {
        one["id"]: one
        for team in ("red", "blue")
        for one in played.arena.get(f"{PATH}/guesses", token=played.arena.team(team)).json()
    }
    truth = [row[0] for row in rows_of(played.whole.candidates.only(HIDDEN))]
    beyond = expected(played, "red", told, truth)
    assert listed[first["id"]]["outcome"]["value"] == 1.0
    assert listed[second["id"]]["outcome"]["value"] == float(beyond) > 0.5
    assert listed[blind["id"]]["outcome"]["value"] == pytest.approx(0.01)

    boards = contest.boards()
    ranked = {row["team"]: row for row in boards["anonymization"]["rows"]}
    assert [row["team"] for row in boards["anonymization"]["rows"]] == ["blue", "red"]
    assert (ranked["red"]["security"], ranked["red"]["rivals"]) == (1.0, 1.0)
    assert ranked["blue"]["rivals"] == 0.0
    found = {row["team"]: row for row in boards["reidentification"]["rows"]}
    assert found["blue"]["by_question"] == {"membership": 1.0, "attribute": float(beyond)}
    assert found["red"]["by_question"] == {"membership": 0.0, "attribute": 0.0}
    assert (found["blue"]["rank"], found["red"]["rank"]) == (1, 2)
    check_reveal(played)


def expected(played: Played, team: str, told: list[Any], truth: list[Any]) -> Fraction:
    """What a guess at the hidden column is worth against a reference that learns from the background."""
    among, background = played.members(team).among.tolist(), played.whole.background
    names = played.public.candidates.schema.names
    own, cells = (
        [cell for cell, inside in zip(column, among, strict=True) if inside] for column in (told, truth)
    )
    assert background is not None
    known = [row[0] for row in rows_of(background.only(HIDDEN))]
    asked = [row for row, inside in zip(rows_of(played.public.candidates), among, strict=True) if inside]
    kinds = played.rules.settings.schema.only(HIDDEN).categorical[0].values
    reference = plain.imputed(rows_of(background.only(*names)), known, asked, kinds)
    return plain.beyond(own, cells, reference, 0.0)


def check_reveal(played: Played) -> None:
    """With the published seed anybody gets the same members, whose files are the secrets committed to."""
    told = played.arena.client.get(f"{API}{PATH}/draws").json()
    seed = bytes.fromhex(told["seed"])
    assert hashlib.sha256(seed).hexdigest() == told["commitment"]
    order = [one["team"] for one in told["draws"]]
    halves = assignments(seed, order, ROWS)
    revealed = {one["submission_id"]: one for one in played.arena.client.get(f"{API}{PATH}/reveal").json()}
    for team, sent in played.submissions.items():
        assert np.array_equal(halves[team], played.members(team).among)
        assert revealed[sent]["secret_sha256"] == hashlib.sha256(played.own(team)).hexdigest()

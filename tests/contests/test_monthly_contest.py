"""A monthly contest through the service, from the data to the reveal; every score is recomputed."""

import csv
import hashlib
import hmac
import io
import math
from collections.abc import Mapping
from fractions import Fraction

import pytest
from fastapi.testclient import TestClient
from numpy.random import PCG64

from anoncup.tracks.monthly.files import KNOWLEDGE_PERCENTAGES, QUESTIONS
from tests.support import monthly_reference as reference
from tests.support.arena import API
from tests.support.contest import Contest, judge_everything, run_clock
from tests.support.monthly_contest import (
    METHODS,
    ORIGINAL,
    build_guess,
    build_release,
    contest,
    create_contest,
    submit_and_score,
    submit_guess,
    submit_release,
)
from tests.support.monthly_reference import Row

__all__ = ["contest"]

pytestmark = pytest.mark.full


def parse_rows(content: bytes) -> list[Row]:
    return [tuple(row) for row in list(csv.reader(io.StringIO(content.decode())))[1:]]  # type: ignore[misc]


TRANSACTIONS = parse_rows(ORIGINAL["transactions"])
CUSTOMERS = [row[0] for row in parse_rows(ORIGINAL["customers"])]


def compute_expected_rates(team: str, data: Mapping[str, bytes] = ORIGINAL) -> dict[str, dict[str, float]]:
    """Return the rates by attacker and question, computed by plain loops."""
    anonymized_rows = parse_rows(build_release(team)[0])
    truth = reference.build_answer(TRANSACTIONS, anonymized_rows)
    return {
        name: {
            question: float(
                reference.reidentification_rate(
                    CUSTOMERS,
                    reference.list_months(TRANSACTIONS),
                    reference.attack(anonymized_rows, parse_rows(data[table]), key),
                    truth,
                )
            )
            for question, table in QUESTIONS.items()
        }
        for name, key in reference.KEYS.items()
    }


def compute_expected_measures(team: str) -> dict[str, float]:
    anonymized_rows = parse_rows(build_release(team)[0])
    return {name: compute(TRANSACTIONS, anonymized_rows) for name, compute in reference.MEASURES.items()}


def test_monthly_contest_runs_until_the_reveal(contest: Contest) -> None:
    arena, submissions = contest.arena, {team: submit_and_score(contest, team) for team in METHODS}
    for token in (arena.get_team_token("red"), arena.organizer_token):
        response = arena.get(f"/submissions/{submissions['red']}/data/transactions.csv", token=token)
        assert (response.status_code, response.json()["code"]) == (404, "release_sealed")
    contest.open_attacks()
    targets = {team: contest.find_target(submission) for team, submission in submissions.items()}
    for team, target in targets.items():
        attacker = "blue" if team == "red" else "red"
        assert set(target["files"]) == {"transactions.csv"}
        path = f"/targets/{target['id']}/data/transactions.csv"
        content = arena.get(path, team=attacker).content
        assert hashlib.sha256(content).hexdigest() == target["files"]["transactions.csv"]
        remaining = [row for row in parse_rows(build_release(team)[0]) if row[0] != "DEL"]
        assert parse_rows(content) != remaining
        assert sorted(parse_rows(content)) == sorted(remaining)
    correct_counts = {"link_25": 1, "link_50": 0, "link_75": 2, "link_100": 6}
    for question, count in correct_counts.items():
        submit_guess(
            contest, "blue", targets["red"]["id"], question, build_guess(build_release("red")[1], count)
        )
    submit_guess(contest, "blue", targets["red"]["id"], "link_25", build_guess(build_release("red")[1], 0))
    submit_guess(contest, "red", targets["blue"]["id"], "link_50", build_guess(build_release("blue")[1], 3))
    judge_everything()
    guessed_rates = {"red": sum(correct_counts.values()) / 6 / 4, "blue": 3 / 6 / 4}
    board = {row["team"]: row for row in contest.get_board(organizer=True)["rows"]}
    for team in METHODS:
        built_in = max(math.fsum(rates.values()) / 4 for rates in compute_expected_rates(team).values())
        utility = max(compute_expected_measures(team).values())
        security = max(built_in, guessed_rates[team])
        assert board[team]["security"] == pytest.approx(security, abs=1e-9)
        assert board[team]["utility"] == pytest.approx(utility, abs=1e-9)
        assert board[team]["overall"] == pytest.approx((utility + security) / 2, abs=1e-9)
    (first, second) = contest.get_board("reidentification", organizer=True)["rows"]
    assert (first["team"], second["team"]) == ("blue", "red")
    assert first["by_question"] == pytest.approx({name: count / 6 for name, count in correct_counts.items()})
    contest.close_attacks()
    assert contest.get_state() == "closed"
    for team, target in targets.items():
        secret = arena.client.get(f"{API}/targets/{target['id']}/secret").content
        assert secret == build_release(team)[1]


def test_knowledge_tables_are_drawn_from_a_seed_revealed_at_the_end(client: TestClient) -> None:
    uploaded_files = ("customers", "transactions", "knowledge_50")
    contest = create_contest(client, {name: ORIGINAL[name] for name in uploaded_files})
    arena = contest.arena
    early_submission = submit_release(contest, "red")
    assert (early_submission.status_code, early_submission.json()["code"]) == (409, "not_drawn_yet")
    run_clock()
    competition = arena.get(contest.path).json()
    tables = {
        name: arena.get(f"{contest.path}/original/{name}.csv").content for name in KNOWLEDGE_PERCENTAGES
    }
    for name, content in tables.items():
        assert competition["original_sha256"][f"{name}.csv"] == hashlib.sha256(content).hexdigest()
    assert tables["knowledge_50"] == ORIGINAL["knowledge_50"]
    submission = submit_and_score(contest, "red")
    verdict = arena.get(f"/submissions/{submission}").json()["result"]
    for name, rates in compute_expected_rates("red", tables).items():
        assert verdict["attackers"][name]["details"] == rates
    contest.open_attacks()
    contest.close_attacks()
    revealed = client.get(f"{API}{contest.path}/allocations").json()
    assert competition["seed_commitment"] == hashlib.sha256(bytes.fromhex(revealed["seed"])).hexdigest()
    key = hmac.digest(bytes.fromhex(revealed["seed"]), b"knowledge\x000\x00", "sha256")
    numbers = PCG64(int.from_bytes(key, "big")).random_raw(len(TRANSACTIONS)).tolist()
    order = sorted(range(len(TRANSACTIONS)), key=lambda row: (numbers[row], row))
    for name in ("knowledge_25", "knowledge_75", "knowledge_100"):
        known_rows = set(
            order[
                : math.floor(Fraction(KNOWLEDGE_PERCENTAGES[name] * len(TRANSACTIONS), 100) + Fraction(1, 2))
            ]
        )
        deleted_row = ("DEL", "", "", "", "", "", "")
        assert parse_rows(tables[name]) == [
            (*row[:4], row[4][:2], *row[5:]) if index in known_rows else deleted_row
            for index, row in enumerate(TRANSACTIONS)
        ]

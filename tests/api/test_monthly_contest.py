"""A contest by month from its data to the reveal, through the service, every number computed once more."""

import csv
import hashlib
import hmac
import io
import math
import re
import zipfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from numpy.random import PCG64

from anoncup.tracks.monthly.files import QUESTIONS, SHARES
from app.http.authentication import COOKIE
from tests.scoring import monthly_reference as reference
from tests.scoring.monthly_reference import Row
from tests.support.arena import API, Arena
from tests.support.contest import Contest, judge_everything, turn
from tests.support.monthly_contest import (
    METHODS,
    ORIGINAL,
    SLUG,
    contest,
    guess_with,
    guessed,
    opened,
    released,
    scored,
    send,
)
from tests.support.shell_commands import run
from tests.support.uploads import score_everything

__all__ = ["contest"]

pytestmark = pytest.mark.full


def rows_of(content: bytes) -> list[Row]:
    return [tuple(row) for row in list(csv.reader(io.StringIO(content.decode())))[1:]]  # type: ignore[misc]


T = rows_of(ORIGINAL["transactions"])
PEOPLE = [row[0] for row in rows_of(ORIGINAL["customers"])]


def expected_rates(team: str, data: Mapping[str, bytes] = ORIGINAL) -> dict[str, dict[str, float]]:
    """By attacker and question, from plain loops."""
    after = rows_of(released(team)[0])
    truth = reference.answer(T, after)
    return {
        name: {
            question: float(
                reference.outcome(
                    PEOPLE,
                    reference.months(T),
                    reference.attack(after, rows_of(data[table]), key),
                    truth,
                )
            )
            for question, table in QUESTIONS.items()
        }
        for name, key in reference.KEYS.items()
    }


def expected_measures(team: str) -> dict[str, float]:
    after = rows_of(released(team)[0])
    return {name: compute(T, after) for name, compute in reference.MEASURES.items()}


def test_every_number_of_a_release_is_that_of_plain_loops(contest: Contest) -> None:
    for team in METHODS:
        result = contest.arena.get(f"/submissions/{scored(contest, team)}").json()
        verdict, rates = result["result"], expected_rates(team)
        assert (result["status"], result["rows"]) == ("SCORED", 6)
        assert verdict["excessive"] is None
        values = {name: one["value"] for name, one in verdict["measures"].items()}
        assert values == pytest.approx(expected_measures(team), rel=1e-12, abs=1e-13)
        assert verdict["utility"] == max(values.values())
        for name, one in verdict["attackers"].items():
            assert one["rate"] == pytest.approx(math.fsum(rates[name].values()) / 4, rel=1e-15)
            assert one["details"] == rates[name]
        assert verdict["security"] == max(one["rate"] for one in verdict["attackers"].values())
        assert verdict["overall"] == (verdict["utility"] + verdict["security"]) / 2
    assert max(expected_rates("red")["good_date_quantity"].values()) > 0


def test_a_release_that_disagrees_with_its_answer_is_refused_without_a_word_of_it(contest: Contest) -> None:
    release, _ = released("red")
    answer = send(contest, "red", secret=released("blue")[1])
    found = answer.json()["errors"]
    assert answer.status_code == 422
    assert {one["code"] for one in found} == {"not_the_release"}
    names = {row[0] for row in rows_of(release)} | {row[0] for row in rows_of(released("blue")[0])}
    assert not any(name in answer.text for name in names)


def test_a_contest_by_month_is_played_to_its_reveal(contest: Contest) -> None:
    arena, sent = contest.arena, {team: scored(contest, team) for team in METHODS}
    for token in (arena.team("red"), arena.organizer):
        answer = arena.get(f"/submissions/{sent['red']}/data/transactions.csv", token=token)
        assert (answer.status_code, answer.json()["code"]) == (404, "release_sealed")
    contest.attack()
    targets = {team: contest.target_of(submission) for team, submission in sent.items()}
    for team, target in targets.items():
        other = "blue" if team == "red" else "red"
        assert set(target["files"]) == {"transactions.csv"}
        path = f"/targets/{target['id']}/data/transactions.csv"
        content = arena.get(path, token=arena.team(other)).content
        assert hashlib.sha256(content).hexdigest() == target["files"]["transactions.csv"]
        kept = [row for row in rows_of(released(team)[0]) if row[0] != "DEL"]
        assert rows_of(content) != kept
        assert sorted(rows_of(content)) == sorted(kept)
    right = {"link_25": 1, "link_50": 0, "link_75": 2, "link_100": 6}
    for question, count in right.items():
        guessed(contest, "blue", targets["red"]["id"], question, guess_with(released("red")[1], count))
    guessed(contest, "blue", targets["red"]["id"], "link_25", guess_with(released("red")[1], 0))
    guessed(contest, "red", targets["blue"]["id"], "link_50", guess_with(released("blue")[1], 3))
    judge_everything()
    reached = {"red": sum(right.values()) / 6 / 4, "blue": 3 / 6 / 4}
    board = {row["team"]: row for row in contest.board(organizer=True)["rows"]}
    for team in METHODS:
        built_in = max(math.fsum(each.values()) / 4 for each in expected_rates(team).values())
        utility = max(expected_measures(team).values())
        security = max(built_in, reached[team])
        assert board[team]["security"] == pytest.approx(security, abs=1e-9)
        assert board[team]["utility"] == pytest.approx(utility, abs=1e-9)
        assert board[team]["overall"] == pytest.approx((utility + security) / 2, abs=1e-9)
    (first, second) = contest.board("reidentification", organizer=True)["rows"]
    assert (first["team"], second["team"]) == ("blue", "red")
    assert first["by_question"] == pytest.approx({name: count / 6 for name, count in right.items()})
    contest.close()
    assert contest.state() == "closed"
    for team, target in targets.items():
        secret = arena.client.get(f"{API}/targets/{target['id']}/secret").content
        assert secret == released(team)[1]


def test_a_guess_names_each_customer_once_and_pseudonyms_only(contest: Contest) -> None:
    submission = scored(contest, "red")
    contest.attack()
    target = contest.target_of(submission)["id"]
    head, first, *rest = released("red")[1].decode().splitlines()
    for lines, code in (
        ([head, first, first, *rest[1:]], "duplicate_customer"),
        ([head, *rest], "too_few_rows"),
        ([head, first.replace(PEOPLE[0], "c", 1), *rest], "unknown_customer"),
        ([head, first + "é", *rest], "not_a_pseudonym"),
        ([head.replace("customer", "client"), first, *rest], "header"),
    ):
        answer = contest.guess("blue", target, "\n".join([*lines, ""]).encode())
        assert answer.status_code == 422
        assert code in {one["code"] for one in answer.json()["errors"]}


def test_tables_of_knowledge_that_are_not_uploaded_are_drawn_by_a_seed_that_is_shown_at_the_end(
    client: TestClient, arena: Arena
) -> None:
    contest = opened(client, arena, "customers", "transactions", "knowledge_50")
    early = send(contest, "red")
    assert (early.status_code, early.json()["code"]) == (409, "not_drawn_yet")
    turn()
    told = arena.get(contest.path).json()
    found = {name: arena.get(f"{contest.path}/original/{name}.csv").content for name in SHARES}
    for name, content in found.items():
        assert told["original_sha256"][f"{name}.csv"] == hashlib.sha256(content).hexdigest()
    assert found["knowledge_50"] == ORIGINAL["knowledge_50"]
    submission = scored(contest, "red")
    verdict = arena.get(f"/submissions/{submission}").json()["result"]
    for name, rates in expected_rates("red", found).items():
        assert verdict["attackers"][name]["details"] == rates
    contest.attack()
    contest.close()
    shown = client.get(f"{API}{contest.path}/draws").json()
    assert told["seed_commitment"] == hashlib.sha256(bytes.fromhex(shown["seed"])).hexdigest()
    key = hmac.digest(bytes.fromhex(shown["seed"]), b"knowledge\x000\x00", "sha256")
    numbers = PCG64(int.from_bytes(key, "big")).random_raw(len(T)).tolist()
    order = sorted(range(len(T)), key=lambda row: (numbers[row], row))
    for name in ("knowledge_25", "knowledge_75", "knowledge_100"):
        kept = set(order[: math.floor(Fraction(SHARES[name] * len(T), 100) + Fraction(1, 2))])
        gone = ("DEL", "", "", "", "", "", "")
        assert rows_of(found[name]) == [
            (*row[:4], row[4][:2], *row[5:]) if place in kept else gone for place, row in enumerate(T)
        ]


def test_the_page_of_a_target_says_commands_that_work(contest: Contest, tmp_path: Path) -> None:
    arena, submission = contest.arena, scored(contest, "red")
    contest.attack()
    target = contest.target_of(submission)
    cookie = {"Cookie": f"{COOKIE}={arena.session(arena.team('blue'))}"}
    page = arena.client.get(f"/targets/{target['id']}", headers=cookie).text
    (attack,) = re.findall(r"^anoncup (attack .*)$", page, re.MULTILINE)
    guesses = re.findall(r"^anoncup guess .* --file (.*)$", page, re.MULTILINE)
    (tmp_path / SLUG / "targets" / target["name"]).mkdir(parents=True)
    files = {f"original/{name}.csv": f"{name}.csv" for name in ORIGINAL}
    for path, name in {**files, "competition.toml": "competition.toml"}.items():
        (tmp_path / SLUG / name).write_bytes(arena.get(f"{contest.path}/{path}").content)
    published = arena.get(f"/targets/{target['id']}/data/transactions.csv").content
    (tmp_path / SLUG / "targets" / target["name"] / "transactions.csv").write_bytes(published)
    done = run(*attack.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(guesses) == 4
    for question, file in zip(QUESTIONS, guesses, strict=True):
        guessed(contest, "blue", target["id"], question, (tmp_path / file).read_bytes())


def test_a_baseline_and_the_example_of_a_kit_are_releases(contest: Contest) -> None:
    arena = contest.arena
    with zipfile.ZipFile(io.BytesIO(arena.get(f"{contest.path}/kit.zip").content)) as kit:
        example = {name: kit.read(f"example/{name}.csv") for name in ("transactions", "secret")}
        assert all(kit.read(f"original/{name}.csv") == content for name, content in ORIGINAL.items())
    sent = {name: (f"{name}.csv", content) for name, content in example.items()}
    answer = arena.post(f"{contest.path}/baselines", files=sent, data={"name": "the kit's"})
    assert answer.status_code == 202, answer.text
    assert send(contest, "red", **example).status_code == 202
    score_everything()
    rows = {row["team"]: row for row in contest.board(organizer=True)["rows"]}
    assert rows["the kit's"]["utility"] == rows["red"]["utility"] > 0
    assert rows["the kit's"]["rank"] is None

"""A contest with two questions: each has its own file, limit and score."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.rules.toml_text import replace_tables
from app.db.models import Round
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.attacks.guesses import GuessUpload
from app.web.site.notation import format_number
from tests.support.accounts import read_refusal
from tests.support.arena import ROWS, Arena
from tests.support.contest import Contest, judge_everything, run_clock
from tests.support.page_requests import get_page
from tests.support.rescores import begin_rescore, end_rescore, get_preview
from tests.support.several_questions_contest import build_claims, create_contest
from tests.support.several_questions_track import QUESTIONS_TOML, SEVERAL_QUESTIONS_TRACK
from tests.support.track_package import install_track
from tests.support.two_rounds import build_contest, build_two_round_toml
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

UNCOUNTED_ATTACKERS = "".join(
    f"[attackers.{name}]\ncounts = false\n" for name in SEVERAL_QUESTIONS_TRACK.attackers
)


@pytest.fixture(autouse=True, scope="module")
def installed_track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with install_track(
        SEVERAL_QUESTIONS_TRACK, "tests.support.several_questions_track", tmp_path_factory.mktemp("packages")
    ):
        yield


def send_guess(
    contest: Contest, submission: str, content: bytes, question: str | None = None, *, key: str = ""
) -> Response:
    """Send a guess of team blue about the target of a submission."""
    target = contest.find_target(submission)["id"]
    return contest.submit_guess("blue", target, content, key=key or None, question=question)


def list_guesses(contest: Contest) -> list[dict[str, Any]]:
    guesses: list[dict[str, Any]] = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
    return guesses


def test_each_question_is_parsed_judged_and_counted_separately(client: TestClient) -> None:
    contest, red = create_contest(client)
    value_response = send_guess(contest, red, build_claims(contest, red, 30), "value")
    assert (
        value_response.status_code,
        value_response.json()["question"],
        value_response.json()["answered"],
    ) == (202, "value", 30)
    link_response = send_guess(contest, red, contest.build_guess(red, 10))
    assert (link_response.json()["question"], link_response.json()["guesses_left"]) == ("link", 2)
    judge_everything()
    link, value = list_guesses(contest)
    assert (link["question"], link["rate"], link["correct"]) == ("link", 10 / ROWS, 10)
    assert (value["question"], value["rate"], value["correct"]) == ("value", 30 / ROWS, None)
    assert value["outcome"]["baseline"] == 0.5
    assert value["outcome"]["details"] == {"columns": 3.0}
    target = next(row for row in contest.list_targets("blue") if not row["own"])
    assert target["guesses_left_by_question"] == {"link": 2, "value": 2}
    assert target["guesses_left"] == 4


@pytest.mark.parametrize(("credit", "hits", "expected_count"), [(0.5, 15, None), (0.5, 10, 5), (1.0, 15, 15)])
def test_fractional_score_is_exact_without_a_count(
    client: TestClient, credit: float, hits: int, expected_count: int | None
) -> None:
    contest, red = create_contest(client, questions_toml=f"{QUESTIONS_TOML}credit = {credit}\n")
    send_guess(contest, red, build_claims(contest, red, hits), "value")
    judge_everything()
    (guess,) = list_guesses(contest)
    assert (guess["status"], guess["correct"], guess["rate"]) == ("SCORED", expected_count, hits / ROWS)
    assert (guess["outcome"]["correct"], guess["outcome"]["trials"]) == (credit * hits, ROWS)
    target = guess["target_id"]
    for language in LANGUAGES:
        response = get_page(contest.arena, f"/targets/{target}", team="blue", language=language)
        assert (response.status_code, "None" in response.text) == (200, False)


def test_unknown_question_is_refused_with_the_valid_ones(client: TestClient) -> None:
    contest, red = create_contest(client, questions_toml="")
    for name in ("value", "Link", "", "../link"):
        refusal = send_guess(contest, red, contest.build_guess(red, 1), name).json()
        assert (refusal["status"], refusal["code"]) == (422, "unknown_question")
        assert refusal["detail"].endswith("asked here are link")
    assert send_guess(contest, red, contest.build_guess(red, 1), "link").status_code == 202
    assert next(row for row in contest.list_targets("blue") if not row["own"])["guesses_left"] == 2


def test_question_removed_while_a_guess_is_read_is_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest, red = create_contest(client)
    read_guess = GuessUpload.parse_files

    def remove_question(upload: GuessUpload, files: Mapping[str, bytes]) -> None:
        read_guess(upload, files)
        with transaction() as session:
            competition = session.get_one(Round, upload.round.id).competition
            competition.file = replace_tables(competition.file, "questions", "")

    monkeypatch.setattr(GuessUpload, "parse_files", remove_question)
    refusal = send_guess(contest, red, build_claims(contest, red, 1), "value").json()
    assert (refusal["status"], refusal["code"]) == (422, "unknown_question")
    assert list_guesses(contest) == []


def test_question_name_sent_as_a_file_is_refused(client: TestClient) -> None:
    contest, red = create_contest(client)
    files = {"guess": ("g.csv", contest.build_guess(red, 1)), "question": ("q.txt", b"value")}
    refusal = contest.arena.client.post(
        f"/api/v1/targets/{contest.find_target(red)['id']}/guesses",
        headers={"Authorization": f"Bearer {contest.arena.get_team_token('blue')}"},
        files=files,
    )
    assert (refusal.status_code, refusal.json()["code"]) == (422, "unknown_question")


def test_guess_limits_are_independent_between_questions(client: TestClient) -> None:
    contest, red = create_contest(client)
    responses = [send_guess(contest, red, build_claims(contest, red, hits), "value") for hits in range(4)]
    assert [response.status_code for response in responses] == [202, 202, 202, 429]
    assert [response.json()["guesses_left"] for response in responses[:3]] == [2, 1, 0]
    assert send_guess(contest, red, contest.build_guess(red, 1), "link").json()["guesses_left"] == 2


def test_file_for_another_question_is_malformed(client: TestClient) -> None:
    contest, red = create_contest(client)
    responses = (
        send_guess(contest, red, build_claims(contest, red, 3)),
        send_guess(contest, red, b"original_row\n1\n", "value"),
    )
    assert [response.json()["errors"][0]["code"] for response in responses] == ["guess_header", "header"]


def test_idempotency_key_is_valid_for_one_question(client: TestClient) -> None:
    contest, red = create_contest(client)
    content = build_claims(contest, red, 5)
    first, retry = (send_guess(contest, red, content, "value", key="once") for _ in range(2))
    assert (first.status_code, retry.json()) == (202, first.json())
    refusal = send_guess(contest, red, content, "link", key="once")
    assert (refusal.status_code, refusal.json()["code"]) == (422, "idempotency_key_reused")
    assert len(list_guesses(contest)) == 1


def test_boards_show_the_gain_over_the_baseline_of_each_question(client: TestClient) -> None:
    contest, red = create_contest(client, QUESTIONS_TOML + UNCOUNTED_ATTACKERS)
    row_before = next(row for row in contest.get_board()["rows"] if row["team"] == "red")
    assert row_before["security"] == 0.0
    for content, question in (
        (build_claims(contest, red, 8), "value"),  # less than chance
        (build_claims(contest, red, 34), "value"),
        (contest.build_guess(red, 10), "link"),
    ):
        assert send_guess(contest, red, content, question).status_code == 202
    judge_everything()
    above_baseline = (34 / ROWS - 0.5) / 0.5
    rows = contest.get_board("reidentification", organizer=True)["rows"]
    row = next(entry for entry in rows if entry["team"] == "blue")
    assert row["identified"] is None
    assert row["score"] == pytest.approx(max(above_baseline, 10 / ROWS))
    assert row["by_question"] == {"link": 10 / ROWS, "value": pytest.approx(above_baseline)}
    contest.close_attacks()
    row_after = next(row for row in contest.get_board()["rows"] if row["team"] == "red")
    assert row_after["security"] == pytest.approx(above_baseline)


VALUE_FORMULA = """
[publication]
feedback = "immediate"
[ranking]
defence = "utility + strongest('value')"
"""
EASIER_FINAL = """
[rounds.questions.value]
column = "age"
chance = 0.25
[rounds.measures.mean_mae]
weight = 5.0
"""
"""Changes utility and the chance of the second question in the last round of a file."""


def create_round_in_second_phase(client: TestClient) -> tuple[Contest, Contest, dict[str, str]]:
    """Let three teams submit in both rounds and begin the second phases; return the final's submissions."""
    extra_toml = QUESTIONS_TOML + UNCOUNTED_ATTACKERS + VALUE_FORMULA
    file = build_two_round_toml(extra_toml=extra_toml).replace('track = "microdata"', 'track = "riddles"')
    arena = Arena.create(client, file=file)
    preliminary, final = (build_contest(arena, name) for name in ("preliminary", "final"))
    for contest in (preliminary, final):
        contest.move_phases(anonymization=(-0.1, 1))
        run_clock()
        submissions = {team: contest.submit(team) for team in ("red", "blue", "green")}
        contest.open_attacks()
        send_guess(contest, submissions["red"], build_claims(contest, submissions["red"], 30), "value")
        judge_everything()
    return preliminary, final, submissions


def recompute_board(contest: Contest, counts: dict[str, int], *, chance: float) -> dict[str, Any]:
    """Return U and E of each team, and the scores of blue's attacks, from measured values and right rows.

    ``counts`` are the right rows of blue's best guesses of values, by team; no attacker counts.
    """
    rules = tomllib.loads(contest.arena.get(f"{contest.path}/competition.toml").text)
    weights = {name: entry["weight"] for name, entry in rules["measures"].items() if entry.get("weight")}
    risks = {team: max(0.0, (count / ROWS - chance) / (1 - chance)) for team, count in counts.items()}
    losses = {}
    for row in contest.get_board(organizer=True)["rows"]:
        shares = {name: min(1.0, row["measures"][name] / rules["scales"][name]) for name in weights}
        utility = sum(weights[name] * shares[name] for name in weights) / sum(weights.values())
        losses[row["team"]] = (utility, risks.get(row["team"], 0.0))
    return {"losses": losses, "attacks": sum(risks.values())}


def read_board(contest: Contest) -> dict[str, Any]:
    rows = contest.get_board(organizer=True)["rows"]
    attackers = contest.get_board("reidentification", organizer=True)["rows"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows == sorted(rows, key=lambda row: row["utility"] + row["security"])
    return {
        "losses": {row["team"]: (row["utility"], row["security"]) for row in rows},
        "attacks": next(row["score"] for row in attackers if row["team"] == "blue"),
    }


def read_standings(contest: Contest) -> dict[str, tuple[int, float]]:
    """Return rank and value of the formula by team."""
    rows = contest.get_board(organizer=True)["rows"]
    return {row["team"]: (row["rank"], row["score"]) for row in rows}


def approximate(board: dict[str, Any]) -> dict[str, Any]:
    losses = {team: pytest.approx(pair, rel=1e-12) for team, pair in board["losses"].items()}
    return {"losses": losses, "attacks": pytest.approx(board["attacks"], rel=1e-12)}


def test_round_scored_again_in_its_second_phase_equals_a_computation_from_its_files(
    client: TestClient,
) -> None:
    """Also for a guess that arrives while the set is prepared. Until it is applied, nothing changes."""
    preliminary, final, submissions = create_round_in_second_phase(client)
    other_boards = preliminary.get_boards()
    counts = {"red": 30}
    assert read_board(final) == approximate(recompute_board(final, counts, chance=0.5))
    file = final.arena.get("/competitions/small/competition.toml").text + EASIER_FINAL
    identifier = begin_rescore(final, file)
    green = submissions["green"]
    send_guess(final, green, build_claims(final, green, 24), "value")
    counts["green"] = 24
    preview = get_preview(final, identifier)
    assert (preview["state"], preview["total"], preview["judged"], preview["guesses"]) == ("scoring", 3, 0, 2)
    score_everything()
    assert read_refusal(end_rescore(final, identifier, "apply")) == (409, "rescore_scoring")
    judge_everything()
    assert read_board(final) == approximate(recompute_board(final, counts, chance=0.5))
    preview = get_preview(final, identifier)
    assert (preview["state"], preview["judged"]) == ("ready", 2)
    assert [
        (row["team"], row["question"], row["before"]["risk"], row["after"]["risk"])
        for row in preview["guess_rows"]
    ] == [
        ("blue", "value", 0.5, pytest.approx(2 / 3, rel=1e-12)),
        ("blue", "value", pytest.approx(0.2, rel=1e-12), pytest.approx(0.35 / 0.75, rel=1e-12)),
    ]
    organizer_path = f"/competitions/small.final/organize/rescores/{identifier}"
    html = get_page(final.arena, organizer_path, organizer=True).text
    assert html.count("<td>value</td>") == 2
    standings_before, standings = read_standings(final), {}
    for row in preview["rows"]:
        scores = [row[rules]["score"] for rules in ("before", "after")]
        assert (row["before"]["rank"], scores[0]) == standings_before[row["team"]]
        standings[row["team"]] = (row["after"]["rank"], scores[1])
        assert f'{format_number(scores[0])}</td><td class="number changed">{format_number(scores[1])}' in html
    assert end_rescore(final, identifier, "apply").status_code == 200
    assert read_board(final) == approximate(recompute_board(final, counts, chance=0.25))
    assert read_standings(final) == standings
    assert {guess["outcome"]["baseline"] for guess in list_guesses(final)} == {0.25}
    assert preliminary.get_boards() == other_boards
    assert {guess["outcome"]["baseline"] for guess in list_guesses(preliminary)} == {0.5}

"""The example of the cup of 2026: its own tests, and its two rounds, played to the final standings."""

import html
import io
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient

from anoncup.catalogues import find_package_catalogues, find_track_catalogues, load_translations
from anoncup.competition import parser, required_packages, scoring_versions
from anoncup.competition.parser import parse_rounds
from anoncup.competition.templates import TEMPLATES, template
from anoncup.plugins import BUILT_IN, TRACKS, discover_plugins
from anoncup.tracks.model import AnyTrack
from app.core.pages import language
from app.core.processes import runners
from tests.support.arena import Arena
from tests.support.contest import Contest, judge_everything, run_clock
from tests.support.environments import EXAMPLE_CUP, PackageEnvironment, build_wheel, environment
from tests.support.package_catalogues import open_package_folder
from tests.support.page_requests import get_page
from tests.support.two_rounds import build_contest
from tests.support.uploads import score_everything
from workers import jobs

pytestmark = pytest.mark.full
__all__ = ["environment"]

ROWS, COHORTS = 240, 6
NUMBERS = ["age", "height", "weight"]
METHODS: dict[str, tuple[str, dict[str, float]]] = {
    "red": ("copy", {}),
    "blue": ("copula", {}),
    "green": ("noise", {"strength": 0.3}),
    "yellow": ("independent", {}),
    "late": ("copula", {}),
}
"""The method by which each team makes its releases; red publishes its cohort as it is."""
GUESSES = {
    "preliminary": {
        ("red", "blue", "membership"): 10,
        ("red", "green", "membership"): 30,
        ("blue", "red", "attribute"): 40,
        ("blue", "yellow", "membership"): 3,
        ("green", "blue", "attribute"): 12,
        ("yellow", "blue", "membership"): 4,
    },
    "final": {
        ("red", "late", "membership"): 23,
        ("late", "green", "membership"): 8,
        ("late", "blue", "attribute"): 34,
        ("blue", "late", "membership"): 6,
        ("blue", "green", "membership"): 20,
        ("yellow", "blue", "membership"): 2,
    },
}
"""Numbers of members that teams (attacker, owner, question) are right about, by round."""
PENALTY = -0.125
BUILT_IN_TEXTS = [
    "attacker_closest_ratio_description",
    "guess_sample_membership",
    *(
        f"{kind}_{question}"
        for kind in ("question_asks", "guess_description", "guess_guide", "guess_rules")
        for question in ("membership", "attribute")
    ),
]
"""Texts of parts of the track ``membership`` that the package has others of."""


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyTrack]:
    """Install the wheel of the package for this process and its children."""
    folder = tmp_path_factory.mktemp("packages")
    with ZipFile(build_wheel(EXAMPLE_CUP, tmp_path_factory.mktemp("wheels"))) as wheel:
        wheel.extractall(folder)
    runners.end_all()
    with open_package_folder(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        installed = discover_plugins(BUILT_IN)
        patch.setitem(TRACKS, "cup2026", installed.tracks["cup2026"])
        patch.setitem(TEMPLATES, "cup2026", TRACKS["cup2026"].examples.templates["cup2026"])
        for module in (parser, required_packages, scoring_versions, jobs, language):
            patch.setattr(module, "INSTALLED", installed)
        yield TRACKS["cup2026"]
    runners.end_all()


def make_data(track: AnyTrack, seed: int) -> dict[str, bytes]:
    """Return the organizers' files of a round."""
    assert track.examples.make_data is not None
    return track.examples.make_data(parse_rounds(template("cup2026"))["final"], ROWS, seed)


def test_installed_package_passes_its_own_tests_and_has_its_template(
    environment: PackageEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)  # pip would find the package of this process
    example = Path(shutil.copytree(EXAMPLE_CUP, tmp_path / "cup2026"))
    environment.install(example, tmp_path / "wheels")
    completed = environment.run("-m", "pytest", "-q", example / "tests", cwd=tmp_path)
    assert completed.returncode == 0, completed.stdout
    completed = environment.run("-m", "anoncup.cli", "template", "cup2026", cwd=tmp_path)
    assert completed.stdout.startswith((EXAMPLE_CUP / "anoncup_cup2026/cup2026.toml").read_text("utf-8"))
    completed = environment.run("-m", "anoncup.cli", "generate", "--track", "cup2026", "data", cwd=tmp_path)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert len((tmp_path / "data/register.csv").read_text().splitlines()) == 601


def test_guesses_of_attackers_name_candidates_by_integers(track: AnyTrack) -> None:
    rules = parse_rounds(template("cup2026"))["final"]
    original, _ = track.parse_original(make_data(track, 1), rules)
    method = track.methods["copy"]
    _, cohort = track.anonymize(method, original, rules, np.random.default_rng(0), {})
    for question in track.questions.values():
        lines = question.write(question.make_perfect_guess(cohort)).decode().split()
        assert [int(line.split(",")[0]) for line in lines[1:]] == (cohort.rows + 1).tolist()


@dataclass
class PlayedRound:
    """A round with the cohort of each team, its submission, and the risks that this test computes."""

    contest: Contest
    track: AnyTrack
    files: dict[str, bytes]
    cohorts: dict[str, pd.DataFrame] = field(default_factory=dict)
    releases: dict[str, pd.DataFrame] = field(default_factory=dict)
    submissions: dict[str, str] = field(default_factory=dict)
    risks: dict[tuple[str, str], float] = field(default_factory=dict)
    adjustments: dict[str, float] = field(default_factory=dict)

    def upload(self) -> None:
        for kind, name in (("original", "candidates"), ("truth", "register")):
            path = f"{self.contest.path}/{kind}/{name}.csv"
            response = self.contest.arena.put(path, content=self.files[name])
            assert response.status_code == 200, response.text

    def submit(self, *teams: str) -> None:
        """Begin the round and have each team submit its cohort, changed by a sample method."""
        for team in teams:
            self.contest.arena.get_team_token(team)
        self.contest.move_phases(anonymization=(-1, 1))
        run_clock()
        rules = parser.parse_competition(self.contest.arena.get(f"{self.contest.path}/competition.toml").text)
        original, _ = self.track.parse_original(self.files, rules)
        for seed, team in enumerate(teams):
            content = self.contest.arena.get(f"{self.contest.path}/own/cohort.csv", team=team).content
            self.cohorts[team] = read_frame(content)
            table = self.track.read_allocated_answer(content, original, rules).table
            method, parameters = METHODS[team]
            release = self.track.methods[method].apply(table, rng=np.random.default_rng(seed), **parameters)
            released = self.track.files_of(release)["released"]
            self.releases[team] = read_frame(released)
            files = {"released": ("r.csv", released)}
            response = self.contest.arena.post(f"{self.contest.path}/submissions", team=team, files=files)
            assert response.status_code == 202, response.text
            self.submissions[team] = response.json()["id"]
        score_everything()

    def guess(self, attacker: str, owner: str, question: str, right_count: int) -> None:
        """Send a guess that is right about so many members of the owner and says nothing of the others."""
        cohort = self.cohorts[owner]
        answers = cohort.head(right_count)[["candidate", "disease"]]
        if question == "membership":
            answers = answers[["candidate"]].assign(score=1)
        guess = self.send(attacker, owner, question, answers.to_csv(index=False).encode())
        assert guess["status"] == "SCORED", guess
        # With no wrong candidate the rate at 1% is k / n + (1 - k / n) / 100, so the risk is k / n.
        common = int(cohort["disease"].value_counts().max()) if question == "attribute" else 0
        risk = max(0.0, (right_count - common) / (len(cohort) - common))
        self.risks[attacker, owner] = max(risk, self.risks.get((attacker, owner), 0.0))

    def send(self, attacker: str, owner: str, question: str, content: bytes) -> dict[str, Any]:
        """Send a guess and return it as it was judged."""
        target = self.contest.find_target(self.submissions[owner])["id"]
        response = self.contest.submit_guess(attacker, target, content, question=question)
        assert response.status_code == 202, response.text
        judge_everything()
        guesses = self.contest.arena.get(f"{self.contest.path}/guesses", team=attacker).json()
        return next(guess for guess in guesses if guess["id"] == response.json()["id"])

    def adjust(self, team: str, points: float) -> None:
        team_id = next(
            row["team_id"] for row in self.contest.get_board(organizer=True)["rows"] if row["team"] == team
        )
        body = {"team_id": team_id, "points": points, "reason": "late"}
        response = self.contest.arena.post(f"{self.contest.path}/adjustments", json=body)
        assert response.status_code == 201, response.text
        self.adjustments[team] = points

    def compute_defence(self) -> dict[str, float]:
        """Compute min(U, A) of each team from the measures, the built-in attackers and the guesses."""
        scores = {}
        for team, submission in self.submissions.items():
            result = self.contest.arena.get_submission(submission, team)["result"]
            losses = {name: measure["value"] for name, measure in result["measures"].items()}
            tables = (self.cohorts[team], self.releases[team])
            change = np.abs(np.subtract(*(table[NUMBERS].corr().to_numpy() for table in tables)))
            assert losses["correlations"] == pytest.approx(
                change[np.triu_indices(3, 1)].mean() / 2, abs=1e-12
            )
            risks = [risk for (_, owner), risk in self.risks.items() if owner == team]
            for rate in result["attackers"].values():
                risks.append(max(0.0, (rate["rate"] - rate["baseline"]) / (1 - rate["baseline"])))
            scores[team] = min(1 - max(losses.values()), 1 - max(risks)) + self.adjustments.get(team, 0)
        return scores

    def compute_attack(self) -> dict[str, float]:
        """Compute the mean risk that each attacking team found in the releases of the others."""
        attackers = {attacker for attacker, _ in self.risks}
        return {
            team: sum(risk for (attacker, _), risk in self.risks.items() if attacker == team)
            / (len(self.submissions) - 1)
            for team in attackers
        }


def read_frame(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content), keep_default_na=False)


def read_column(contest: Contest, board: str, column: str) -> dict[str, Any]:
    rows = contest.get_board(board)["rows"]
    return {row["team"]: row[column] for row in rows if row.get(column) is not None}


def rank_descending(scores: Mapping[str, float]) -> dict[str, int]:
    return {team: 1 + sum(rival > score for rival in scores.values()) for team, score in scores.items()}


@pytest.fixture
def rounds(client: TestClient, track: AnyTrack) -> dict[str, PlayedRound]:
    """Create the contest from the template, with the data of both rounds."""
    text = template("cup2026").replace('slug = "cup2026"', 'slug = "small"')
    text = text.replace("[ranking]", "[publication]\nreveal_notice_hours = 0\n\n[ranking]")
    data = [make_data(track, seed) for seed in (1, 2)]
    arena = Arena.create(client, file=text, original={"candidates": data[0]["candidates"]})
    played = {
        name: PlayedRound(build_contest(arena, name), track, files)
        for name, files in zip(parse_rounds(text), data, strict=True)
    }
    for round_ in played.values():
        round_.upload()
    return played


@pytest.mark.parametrize("reader", ["en", "ja"])
def test_pages_describe_the_questions_of_the_package(rounds: dict[str, PlayedRound], reader: str) -> None:
    """Built-in questions and attackers have the same names, but other formats of guesses."""
    round_ = rounds["final"]
    arena, path = round_.contest.arena, round_.contest.path
    round_.submit("red", "blue")
    round_.contest.open_attacks()
    target = round_.contest.find_target(round_.submissions["red"])["id"]
    pages = {
        "rules": (get_page(arena, f"{path}/rules?lang={reader}"), "guess_rules"),
        "targets": (get_page(arena, f"{path}/targets?lang={reader}", team="blue"), "guess_guide"),
        "target": (
            get_page(arena, f"/targets/{target}?lang={reader}", team="blue"),
            "guess_description",
        ),
    }
    built_in = load_translations(find_track_catalogues(), reader)
    own = load_translations(find_package_catalogues(), reader)
    for name, (response, kind) in pages.items():
        text = html.unescape(response.text)
        for key in (f"{kind}_membership", f"{kind}_attribute"):
            assert own.gettext(key) in text, (name, key)
        for key in BUILT_IN_TEXTS:
            assert built_in.gettext(key) not in text, (name, key)
    assert own.gettext("attacker_closest_ratio_description") in html.unescape(pages["rules"][0].text)
    measure = built_in.gettext("measure_marginals_description")
    assert measure in html.unescape(pages["rules"][0].text)  # this one is taken from the built-in track


def play(round_: PlayedRound, name: str, *teams: str) -> None:
    round_.submit(*teams)
    round_.contest.open_attacks()
    for guess, right_count in GUESSES[name].items():
        round_.guess(*guess, right_count)


def test_both_rounds_are_played_to_the_final_standings(rounds: dict[str, PlayedRound]) -> None:
    preliminary, final = rounds["preliminary"], rounds["final"]
    play(preliminary, "preliminary", "red", "blue", "green", "yellow")
    preliminary.contest.close_attacks()
    play(final, "final", "red", "blue", "green", "yellow", "late")
    final.adjust("blue", PENALTY)
    final.contest.close_attacks()
    for round_ in rounds.values():
        cohorts = [set(cohort["candidate"]) for cohort in round_.cohorts.values()]
        assert {len(cohort) for cohort in cohorts} == {ROWS // COHORTS}
        assert len(set.union(*cohorts)) == sum(map(len, cohorts))
        defence = round_.compute_defence()
        assert (defence["red"], rank_descending(defence)["red"]) == (0, len(cohorts))
        assert_standings(round_.contest, "anonymization", defence)
        assert_standings(round_.contest, "reidentification", round_.compute_attack())
    first, second = preliminary.compute_defence(), final.compute_defence()
    total = {team: 0.1 * first[team] + 0.9 * second[team] for team in first}
    assert_standings(final.contest, "total", total, column="total")
    assert (
        final.contest.get_board("total")["rows"][-1]["team"] == "late"
    )  # it has no score in the first round
    first, second = preliminary.compute_attack(), final.compute_attack()
    total = {team: 0.1 * first.get(team, 0) + 0.9 * second[team] for team in second}
    assert_standings(final.contest, "attack-total", total, column="total")


def assert_standings(
    contest: Contest, board: str, expected: Mapping[str, float], *, column: str = "score"
) -> None:
    """Assert that a board has these scores and their ranks, and no score or rank of any other team."""
    assert read_column(contest, board, column) == pytest.approx(expected, rel=1e-9)
    assert read_column(contest, board, "rank") == rank_descending(expected)


@pytest.mark.parametrize(
    ("question", "column", "cell"), [("membership", "score", "1"), ("attribute", "disease", "none")]
)
def test_guess_that_names_an_unknown_candidate_is_refused_with_its_position(
    rounds: dict[str, PlayedRound], question: str, column: str, cell: str
) -> None:
    round_ = rounds["preliminary"]
    round_.submit("red", "blue")
    round_.contest.open_attacks()
    content = f"candidate,{column}\n1,{cell}\n{ROWS + 1},{cell}\n2,{cell}\n1.5,{cell}\n".encode()
    guess = round_.send("blue", "red", question, content)
    assert (guess["status"], guess["outcome"]) == ("REFUSED", None)
    places = [(entry["file"], entry["row"], entry["code"]) for entry in guess["errors"]]
    assert places == [("guess", 2, "unknown_candidate"), ("guess", 4, "unknown_candidate")]
    red = round_.contest.find_target(round_.submissions["red"])["id"]
    (target,) = (target for target in round_.contest.list_targets("blue") if target["id"] == red)
    assert target["guesses_left_by_question"][question] == 3

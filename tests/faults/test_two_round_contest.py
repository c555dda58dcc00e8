"""Sixty teams play two rounds while processes are killed, and all boards equal an independent computation.

Everything goes through the API of a running service.
"""

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tomlkit

from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.settings import Columns, Phase
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_guess, write_secret
from anoncup.tracks.microdata import methods
from tests.faults import simulated_rounds
from tests.faults.calls import PATIENCE_S, Caller, CallRecorder, RetriedResponse
from tests.faults.canaries import Canaries
from tests.faults.fault_kinds import FaultTargetAbsent, list_fault_kinds
from tests.faults.installation import ServiceInstallation, run_installation
from tests.faults.invariant_checks import find_next_page_path
from tests.faults.ledger import LedgerUpload
from tests.faults.simulated_rounds import (
    ORGANIZER,
    QUASI_IDENTIFIERS,
    RANKING_TOML,
    SENSITIVE,
    UNUSED_ATTACKERS,
    VISITOR,
    ContestFacts,
    GuessFact,
    ReleaseFact,
    RoundFacts,
    parse_original,
)
from tests.support.arena import PASSWORD, build_original_table
from tests.support.wait import poll_until, start_stopwatch

pytestmark = pytest.mark.simulation
log = logging.getLogger(__name__)
wait_patiently = partial(poll_until, timeout_s=PATIENCE_S)

SEED = 31
SLUG = "cup"
FIRST, FINAL = "preliminary", "final"
ROWS = {FIRST: 20, FINAL: 16}
FEEDBACK = {FIRST: "hidden", FINAL: "immediate"}
FINALS = {FIRST: 2, FINAL: 1}
DIGITS = 2
WEIGHTS = {"mean_mae": 1.0, "cross_count": 1.0, "information_loss": 2.0}
NEW_WEIGHTS = {"mean_mae": 3.0, "cross_count": 1.0, "information_loss": 0.5}
THRESHOLD, NEW_THRESHOLD = 0.2, 0.1
GUESSES_PER_TARGET = 2
EARLY_TEAMS, LATE_TEAMS = 52, 8
"""Teams that join before the first round, and between the rounds or during the second."""
IDLE_TEAMS = 4
"""Teams that send nothing in a round: the first ones in the first round, the next ones in the second."""
GUESSES_PER_TEAM = 11
HANG_UP_RATE, REPEAT_RATE = 0.05, 0.1
PLAYERS_AT_ONCE = 4
MAX_PROBLEMS, MAX_PROBLEM_LENGTH, LOGGED_PROBLEMS = 100, 400, 8
FAULTS = ("kill -9 pool process", "kill -9 worker", "kill -9 clock", "kill -9 scoring child", "queue flushed")
FILE = """
format = 2
slug = "{slug}"
title = {{ en = "Cup of two rounds", ja = "二回戦の杯" }}
track = "microdata"
timezone = "Asia/Tokyo"
[columns]
quasi_identifiers = {quasi_identifiers}
sensitive = {sensitive}
{attackers}{ranking}
[publication]
digits = {digits}
reveal_notice_hours = 0
[limits]
valid_per_day = 1000
valid_total = 1000
attempts_per_day = 1000
attempts_total = 1000
guesses_per_target = {guesses_per_target}
"""
ROUND = """
[[rounds]]
name = "{name}"
weight = {weight}
data = "own"
finals = {finals}
[rounds.publication]
feedback = "{feedback}"
[rounds.excessive]
threshold = {threshold}
{measures}
[[rounds.phases]]
name = "anonymization"
start = {start}
end = {middle}
[[rounds.phases]]
name = "reidentification"
start = {middle}
end = {end}
"""
METHODS: tuple[tuple[Callable[..., methods.AnonymizedTable], dict[str, Any]], ...] = (
    *((methods.k_anonymize, {"k": k}) for k in (2, 3)),
    *((methods.add_noise, {"strength": strength}) for strength in (0.05, 0.1, 0.2, 0.5)),
    (methods.unify_columns, {}),
    (methods.microaggregate, {}),
    (methods.swap_within_classes, {}),
    *((methods.delete_rows, {"share": share}) for share in (0.1, 0.25)),
    (methods.group_permutation, {}),
    (methods.random_permutation, {}),
)


def build_file() -> str:
    """Return a competition file whose first round is open and whose second one is far away."""
    text = FILE.format(
        slug=SLUG,
        quasi_identifiers=list(QUASI_IDENTIFIERS),
        sensitive=list(SENSITIVE),
        attackers="".join(f"[attackers.{name}]\ncounts = false\n" for name in UNUSED_ATTACKERS),
        ranking=RANKING_TOML,
        digits=DIGITS,
        guesses_per_target=GUESSES_PER_TARGET,
    )
    measures = "".join(f"[rounds.measures.{name}]\nweight = {weight}\n" for name, weight in WEIGHTS.items())
    for number, name in enumerate((FIRST, FINAL)):
        moments = (datetime.now(UTC) + timedelta(hours=48 * number + hours) for hours in (-1, 12, 24))
        start, middle, end = (moment.isoformat() for moment in moments)
        text += ROUND.format(
            name=name,
            weight=simulated_rounds.ROUND_WEIGHTS[name],
            finals=FINALS[name],
            feedback=FEEDBACK[name],
            threshold=THRESHOLD,
            measures=measures,
            start=start,
            middle=middle,
            end=end,
        )
    return text


@dataclass
class Simulation:
    """The service, what the simulated people have sent to it, and the problems that they have met."""

    installation: ServiceInstallation
    calls: CallRecorder
    random: Random
    organizer: Caller
    contest: ContestFacts
    tables: dict[str, pd.DataFrame]
    callers: dict[str, Caller] = field(default_factory=dict)
    team_ids: dict[str, str] = field(default_factory=dict)
    uploads: list[LedgerUpload] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)
    exits: ExitStack = field(default_factory=ExitStack)
    seconds: Callable[[], float] = field(default_factory=start_stopwatch)
    comparisons: int = 0
    invite: str = ""
    """The code with which all teams join."""

    def note(self, text: str) -> None:
        log.info("%6.1f s  %s", self.seconds(), text)

    def address(self, name: str) -> str:
        return f"/competitions/{SLUG}.{name}"

    def get(self, path: str, caller: Caller | None = None) -> Any:
        answer = (caller or self.organizer).request("GET", path)
        assert answer.status == 200, (path, answer.response.text)
        return answer.json()

    def get_pages(self, path: str, caller: Caller | None = None) -> list[Any]:
        entries, next_path = [], f"{path}?limit=200"
        while next_path:
            answer = (caller or self.organizer).request("GET", next_path)
            entries += answer.json()
            next_path = find_next_page_path(answer.response.links) or ""
        return entries

    def post(self, path: str, status: int, **content: Any) -> Any:
        answer = self.organizer.request("POST", path, **content)
        assert answer.status == status, (path, answer.response.text)
        return answer.json()

    def create_caller(self, name: str, token: str | None = None) -> Caller:
        caller = self.calls.create_caller(Random(f"{SEED} {name}"), token)
        self.exits.callback(caller.close)
        return caller

    def join(self, numbers: Sequence[int]) -> None:
        """Let people create one more team each."""
        with ThreadPoolExecutor(PLAYERS_AT_ONCE) as pool:
            teams = list(pool.map(self.sign_up, numbers))
        self.contest.teams += teams
        for facts in self.contest.rounds.values():
            if facts.is_closed:
                facts.absent_teams.update(teams)
        entries = self.get(f"/competitions/{SLUG}/teams")
        self.team_ids |= {entry["name"]: entry["id"] for entry in entries}

    def sign_up(self, number: int) -> str:
        """Create a team with one member, and return its name."""
        team = f"team {number:02}"
        caller = self.create_caller(team)
        body = {"invite": self.invite, "team": team, "name": f"member {number}", "password": PASSWORD}
        answer = caller.request("POST", "/signup", json=body)
        assert answer.status == 201, answer.response.text
        caller.token = answer.json()["token"]
        self.callers[team] = caller
        return team

    def list_active_teams(self, name: str) -> list[str]:
        first = 0 if name == FIRST else IDLE_TEAMS
        idle = self.contest.teams[first : first + IDLE_TEAMS]
        return [team for team in self.contest.teams if team not in idle]

    def send(self, upload: LedgerUpload) -> RetriedResponse:
        """Send an upload until it is answered, and sometimes once more under the same key."""
        caller = self.callers[upload.team]
        send = partial(caller.request, "POST", upload.path, key=upload.key, files=upload.parts)
        answer = send(hang_up_rate=HANG_UP_RATE)
        upload.record_answer(answer)
        if upload.receipt is not None and caller.random.random() < REPEAT_RATE:
            repeated = send()
            if (repeated.status, repeated.json().get("id")) != (202, upload.id):
                self.add_problem(f"{upload.kind} {upload.id} sent again: {repeated.response.text}")
        with self.lock:
            self.uploads.append(upload)
        return answer

    def add_problem(self, problem: str) -> None:
        with self.lock:
            self.problems.append(problem)

    def submit(self, name: str, team: str, count: int) -> None:
        """Send releases by random methods. Some are marked as finals, and some are malformed."""
        random, facts = self.callers[team].random, self.contest.rounds[name]
        for _ in range(count):
            upload = self.build_release(name, team)
            is_malformed = random.random() < 0.05
            if is_malformed:
                upload.files["secret"] += b"many\n"
            answer = self.send(upload)
            if answer.status != (422 if is_malformed else 202):
                self.add_problem(f"a release of {team}: {answer.status} {answer.response.text}")
            if upload.receipt is None:
                continue
            release = ReleaseFact.score(
                facts.original, upload.files["anonymized"], upload.rows, upload.receipt, team
            )
            marked = [item for item in facts.releases if item.team == team and item.is_marked_final]
            if len(marked) < facts.finals and random.random() < 0.2:
                path = f"/submissions/{release.id}/final"
                answer = self.callers[team].request("PUT", path, json={"final": True})
                release.is_marked_final = answer.status == 200
            with self.lock:
                facts.releases.append(release)

    def build_release(self, name: str, team: str) -> LedgerUpload:
        random, table = self.callers[team].random, self.tables[name]
        method, parameters = random.choice(METHODS)
        rng = np.random.default_rng(random.getrandbits(32))
        roles = Columns(QUASI_IDENTIFIERS, SENSITIVE)
        anonymized, source = methods.shuffle_rows(*method(table, roles, rng=rng, **parameters), rng=rng)
        files = {"anonymized": write_csv(anonymized), "secret": write_secret(source)}
        return LedgerUpload("release", team, f"{self.address(name)}/submissions", files, source)

    def attack(self, name: str, team: str, count: int) -> None:
        """Send guesses on random targets of others, each right on a random share of the rows."""
        caller, facts = self.callers[team], self.contest.rounds[name]
        targets = [
            target
            for target in self.get(f"{self.address(name)}/targets", caller)
            for _ in range(target["guesses_left"] or 0)
        ]
        for target in caller.random.sample(targets, min(count, len(targets))):
            release = self.find_release(facts, target)
            answers = guess_rows(release, caller.random, ROWS[name])
            files = {"guess": write_guess(answers)}
            upload = LedgerUpload("guess", team, f"/targets/{target['id']}/guesses", files, answers)
            answer = self.send(upload)
            if upload.receipt is None:
                self.add_problem(f"a guess of {team}: {answer.status} {answer.response.text}")
                continue
            correct = int(np.count_nonzero(answers == np.array(release.source)))
            received_at = datetime.fromisoformat(upload.receipt["received_at"])
            with self.lock:
                facts.guesses.append(GuessFact(team, release, received_at, correct, upload.id))

    def find_release(self, facts: RoundFacts, target: dict[str, Any]) -> ReleaseFact:
        """Return the release of a target, which its commitment tells."""
        with self.lock:
            uploads = list(self.uploads)
        release_id = next(
            upload.id
            for upload in uploads
            if upload.receipt and upload.receipt.get("commitment") == target["commitment"]
        )
        assert wait_patiently(lambda: any(item.id == release_id for item in facts.releases))
        return next(item for item in facts.releases if item.id == release_id)

    def play(self, tasks: Sequence[Callable[[], None]], *faults: str) -> None:
        """Let people act at once, and inject faults in between; then wait until all work is done."""
        with ThreadPoolExecutor(PLAYERS_AT_ONCE) as pool:
            futures = [pool.submit(task) for task in self.random.sample(tasks, len(tasks))]
            for number, fault in enumerate(faults, 1):
                while sum(item.done() for item in futures) < len(futures) * number / (len(faults) + 1):
                    wait(futures, timeout=0.1)
                self.inject(fault)
            wait(futures)
            for future in futures:
                future.result()
        self.settle()

    def inject(self, name: str) -> None:
        """Inject a fault as soon as its target exists, and let the service recover by itself."""
        kind = next(kind for kind in list_fault_kinds() if kind.name == name)

        def is_injected() -> bool:
            try:
                description, undo = kind.inject(self.installation, self.random)
            except FaultTargetAbsent:
                return False
            assert undo is None
            self.note(description)
            return True

        assert wait_patiently(is_injected), f"{name}: there is no target"

    def settle(self) -> None:
        """Wait until nothing is waiting or being scored in any round."""

        def is_idle() -> bool:
            queues = [self.get(f"{self.address(name)}/queue") for name in self.contest.rounds]
            return not any(
                sum(queue["waiting"].values()) + sum(queue["scoring"].values()) for queue in queues
            )

        self.installation.wait_until_ready()
        assert wait_patiently(is_idle), "work is left that nobody does"

    def end_phase(self, name: str, phase: str) -> None:
        """Let a phase end in a moment, and those after it begin as much earlier."""

        def has_moved() -> bool:
            end = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
            body = {"end": end, "move_following": True}
            answer = self.organizer.request("POST", f"{self.address(name)}/phases/{phase}/extend", json=body)
            # On a busy machine the moment may have passed, or the response to an earlier try was lost.
            assert answer.status == 200 or answer.code in ("end_passed", "phase_turned"), answer.response.text
            return answer.code != "end_passed"

        assert wait_patiently(has_moved)

    def wait_for_state(self, name: str, *states: str) -> None:
        assert wait_patiently(lambda: self.read_state(name) in states), f"{name}: {self.read_state(name)}"

    def read_state(self, name: str) -> str:
        """Return the state of a round, and note what follows from it for the boards."""
        facts, competition = self.contest.rounds[name], self.get(self.address(name))
        state = str(competition["state"])
        facts.is_published |= state in ("between", "reidentification", "closed")
        facts.is_closed |= state == "closed"
        return state

    def open_round(self, name: str) -> None:
        """Let a round begin now."""
        now = datetime.now(UTC)
        end = now + timedelta(hours=12)
        text = self.organizer.request("GET", f"/competitions/{SLUG}/competition.toml").response.text
        phases = [
            Phase("anonymization", now, end),
            Phase("reidentification", end, now + timedelta(hours=24)),
        ]
        self.put_file(replace_round_phases(text, name, phases))
        self.wait_for_state(name, "anonymization")

    def put_file(self, text: str) -> None:
        answer = self.organizer.request("PUT", f"/competitions/{SLUG}/competition.toml", content=text)
        assert answer.status == 200, answer.response.text

    def adjust(self, name: str, team: str, points: float) -> str:
        body = {"team_id": self.team_ids[team], "points": points, "reason": "as the rules say"}
        self.contest.rounds[name].adjustments.setdefault(team, []).append(points)
        return str(self.post(f"{self.address(name)}/adjustments", 201, json=body)["id"])

    def withdraw(self, name: str, team: str, adjustment_id: str) -> None:
        self.post(f"/adjustments/{adjustment_id}/withdraw", 200)
        self.contest.rounds[name].adjustments[team].pop()

    def rescore(self, name: str) -> None:
        """Score a round by other weights and by a stricter threshold."""
        facts = self.contest.rounds[name]
        text = self.organizer.request("GET", f"/competitions/{SLUG}/competition.toml").response.text
        document: Any = tomlkit.parse(text)
        table = next(entry for entry in document["rounds"] if entry["name"] == name)
        for measure, weight in NEW_WEIGHTS.items():
            table["measures"][measure]["weight"] = weight
        table["excessive"]["threshold"] = NEW_THRESHOLD
        content = tomlkit.dumps(document)
        identifier = self.post(f"{self.address(name)}/rescores", 202, content=content)["id"]
        self.inject("kill -9 worker")
        self.compare("while a set is being scored again")
        assert wait_patiently(lambda: self.get(f"/rescores/{identifier}")["state"] == "ready")
        self.post(f"/rescores/{identifier}/apply", 200)
        facts.weights, facts.threshold = dict(NEW_WEIGHTS), NEW_THRESHOLD

    def read_targets(self, name: str) -> None:
        """Note which releases are targets."""
        facts = self.contest.rounds[name]
        for target in self.get(f"{self.address(name)}/targets"):
            self.find_release(facts, target).target_id = target["id"]

    def check_targets(self, name: str) -> None:
        """Compare the targets with those that should be."""
        facts = self.contest.rounds[name]
        target_ids = {release.id for release in facts.releases if release.target_id is not None}
        facts.expected_finals = facts.expected_finals or self.contest.choose_finals(facts)
        if target_ids != facts.expected_finals:
            differences = sorted(target_ids ^ facts.expected_finals)
            self.problems.append(f"{name}: only one of targets and finals has {differences}")

    def choose_viewers(self) -> list[str]:
        """Return visitor, organizer, and members of some teams: idle, late, disqualified and random ones."""
        teams = self.contest.teams
        special = [teams[0], teams[IDLE_TEAMS], teams[-1], *self.contest.disqualified_teams]
        return list(dict.fromkeys([VISITOR, ORGANIZER, *special, *self.random.sample(teams, 4)]))

    def compare(self, stage: str) -> None:
        """Compare all boards for every audience with those that the facts give."""
        before = len(self.problems)
        for name, facts in self.contest.rounds.items():
            if self.read_state(name) != "draft" and facts.is_published:
                self.read_targets(name)
                self.check_targets(name)
        callers = {VISITOR: self.create_caller(VISITOR), ORGANIZER: self.organizer, **self.callers}
        for viewer in self.choose_viewers():
            self.problems += [
                f"{stage}, {viewer}: {problem}"
                for problem in self.iter_board_problems(viewer, callers[viewer])
            ]
        problems = self.problems[before:]
        self.note(f"{stage}: {self.comparisons} boards compared, {len(problems)} problems")
        for problem in problems[:LOGGED_PROBLEMS]:
            self.note(problem[:MAX_PROBLEM_LENGTH])

    def iter_board_problems(self, viewer: str, caller: Caller) -> Iterator[str]:
        for name, facts in self.contest.rounds.items():
            for board, check in (
                ("anonymization", simulated_rounds.iter_release_problems),
                ("reidentification", simulated_rounds.iter_attack_problems),
            ):
                content = self.get(f"{self.address(name)}/boards/{board}", caller)
                self.comparisons += 1
                for problem in check(self.contest, facts, viewer, content):
                    yield f"{name} {board}: {problem}"
        for board in simulated_rounds.TOTALS:
            content = self.get(f"/competitions/{SLUG}/boards/{board}", caller)
            self.comparisons += 1
            for problem in simulated_rounds.iter_total_problems(self.contest, viewer, board, content):
                yield f"{board}: {problem}"

    def check_nothing_lost(self) -> None:
        """Compare the submissions and guesses of the service with the accepted uploads."""
        for name, facts in self.contest.rounds.items():
            submissions = self.get_pages(f"{self.address(name)}/submissions/all")
            self.compare_ids(f"{name}: submissions", submissions, [item.id for item in facts.releases])
            releases = {release.id: release for release in facts.releases}
            for submission in submissions:
                release = releases[submission["id"]]
                status = "SCORED" if facts.is_accepted(release) else "REJECTED"
                utility = facts.compute_utility(release)
                result = submission["result"] or {}
                if submission["status"] != status or not simulated_rounds.is_equal(
                    result.get("utility"), utility
                ):
                    self.problems.append(f"{name}: {submission}, but {status} with U = {utility}")
            guesses = [
                guess
                for team in self.contest.teams
                for guess in self.get_pages(f"{self.address(name)}/guesses", self.callers[team])
            ]
            self.compare_ids(f"{name}: guesses", guesses, [item.id for item in facts.guesses])
            correct = {item.id: item.correct for item in facts.guesses}
            self.problems += [
                f"{name}: {guess}, not {correct[guess['id']]}"
                for guess in guesses
                if (guess["status"], guess["correct"]) != ("SCORED", correct[guess["id"]])
            ]

    def compare_ids(self, kind: str, stored: list[dict[str, Any]], expected: list[str]) -> None:
        ids = [entry["id"] for entry in stored]
        if sorted(ids) != sorted(expected):
            self.problems.append(f"{kind}: {len(ids)} are stored, {len(expected)} were accepted")


def guess_rows(release: ReleaseFact, random: Random, original_count: int) -> np.ndarray[Any, Any]:
    """Return answers that are right on some rows, empty on others, and wrong by chance on the rest."""
    skill = random.random()
    return np.array(
        [
            row if random.random() < skill else random.choice((-1, random.randrange(original_count)))
            for row in release.source
        ]
    )


@contextmanager
def run_simulation() -> Iterator[Simulation]:
    with run_installation() as installation, ExitStack() as exits:
        installation.start_missing()
        installation.wait_until_ready()
        calls = CallRecorder(installation.url, Canaries())
        tables = {name: build_original_table(rows) for name, rows in ROWS.items()}
        rounds = {name: build_round_facts(name, table) for name, table in tables.items()}
        organizer = create_organizer(installation, calls)
        simulation = Simulation(
            installation, calls, Random(SEED), organizer, ContestFacts([], rounds), tables, exits=exits
        )
        exits.callback(organizer.close)
        simulation.post("/competitions", 201, content=build_file())
        for name, table in tables.items():
            path = f"{simulation.address(name)}/original/original.csv"
            answer = organizer.request("PUT", path, content=write_csv(table))
            assert answer.status == 200, answer.response.text
        invites = f"/competitions/{SLUG}/invites"
        simulation.invite = simulation.post(invites, 201, json={"uses": EARLY_TEAMS + LATE_TEAMS})["code"]
        yield simulation


def build_round_facts(name: str, table: pd.DataFrame) -> RoundFacts:
    original = parse_original(write_csv(table))
    settings = THRESHOLD, FEEDBACK[name], FINALS[name], DIGITS
    return RoundFacts(name, original, dict(WEIGHTS), *settings)


def create_organizer(installation: ServiceInstallation, calls: CallRecorder) -> Caller:
    arguments = ["admin", "create-user", "organizer", "--role", "organizer", "--password-stdin"]
    command = [sys.executable, "-c", "from anoncup.cli.main import main; main()", *arguments]
    subprocess.run(
        [*command, "--data", str(installation.data)],
        input=f"{PASSWORD}\n",
        text=True,
        check=True,
        capture_output=True,
        env=installation.build_settings(),
    )
    caller = calls.create_caller(Random(SEED))
    answer = caller.request("POST", "/tokens", json={"name": "organizer", "password": PASSWORD})
    caller.token = str(answer.json()["token"])
    return caller


def play_first_phase(simulation: Simulation, name: str) -> None:
    simulation.play(
        [partial(simulation.submit, name, team, 2) for team in simulation.list_active_teams(name)],
        *FAULTS,
        "messages multiplied",
    )
    simulation.compare(f"{name}, first phase")


def play_second_phase(simulation: Simulation, name: str) -> None:
    teams = simulation.list_active_teams(name)
    simulation.play(
        [partial(simulation.attack, name, team, GUESSES_PER_TEAM) for team in teams],
        "messages multiplied",
        *FAULTS,
        "kill -9 web",
    )
    simulation.compare(f"{name}, second phase")


def close_round(simulation: Simulation, name: str) -> None:
    """Let a round close, look at the boards before the secrets are revealed, and then at those after it."""
    facts = simulation.contest.rounds[name]
    simulation.end_phase(name, "reidentification")
    with suspend_clock_at_close(simulation, name):
        simulation.compare(f"{name}, after the close")
    path = f"{simulation.address(name)}/reveal"
    assert wait_patiently(lambda: simulation.organizer.request("GET", path).status == 200)
    facts.is_revealed = True
    simulation.compare(f"{name}, after the reveal")


@contextmanager
def suspend_clock_at_close(simulation: Simulation, name: str) -> Iterator[None]:
    """Stop the clock as soon as the round is closed, so that nothing is revealed inside the block."""
    simulation.wait_for_state(name, "closed")
    clocks = simulation.installation.list_processes()["clock"]
    for process in clocks:
        process.suspend()
    try:
        answer = simulation.organizer.request("GET", f"{simulation.address(name)}/reveal")
        simulation.contest.rounds[name].is_revealed = answer.status == 200
        yield
    finally:
        for process in clocks:
            process.resume()


def play_preliminary(simulation: Simulation) -> None:
    contest, teams = simulation.contest, simulation.contest.teams
    facts = contest.rounds[FIRST]
    simulation.wait_for_state(FIRST, "anonymization")
    simulation.play([partial(simulation.submit, FIRST, team, 1) for team in teams[IDLE_TEAMS:20]])
    simulation.compare("the first releases")
    simulation.adjust(FIRST, teams[9], -0.5)
    simulation.adjust(FIRST, teams[10], 0.25)
    play_first_phase(simulation, FIRST)
    simulation.end_phase(FIRST, "anonymization")
    simulation.wait_for_state(FIRST, "reidentification")
    simulation.compare("preliminary, finals frozen")
    play_second_phase(simulation, FIRST)
    release = next(item for item in facts.releases if item.target_id is not None)
    simulation.post(f"/submissions/{release.id}/disqualify", 200, json={"reason": "a test"})
    release.is_disqualified = True
    simulation.compare("preliminary, a target disqualified")
    close_round(simulation, FIRST)


def play_final(simulation: Simulation) -> None:
    contest, teams = simulation.contest, simulation.contest.teams
    simulation.join(range(EARLY_TEAMS, EARLY_TEAMS + LATE_TEAMS - 2))
    simulation.compare("between the rounds")
    simulation.open_round(FINAL)
    play_first_phase(simulation, FINAL)
    simulation.join(range(EARLY_TEAMS + LATE_TEAMS - 2, EARLY_TEAMS + LATE_TEAMS))
    simulation.rescore(FINAL)
    active = simulation.list_active_teams(FINAL)
    bonus = simulation.adjust(FINAL, active[8], 1.0)
    simulation.adjust(FINAL, active[9], -0.125)
    simulation.compare("final, scored again")
    simulation.end_phase(FINAL, "anonymization")
    simulation.wait_for_state(FINAL, "reidentification")
    simulation.withdraw(FINAL, active[8], bonus)
    simulation.compare("final, finals frozen")
    play_second_phase(simulation, FINAL)
    path = f"/competitions/{SLUG}/teams/{simulation.team_ids[teams[15]]}/disqualify"
    simulation.post(path, 200, json={"reason": "a test"})
    contest.disqualified_teams.add(teams[15])
    simulation.compare("final, a team disqualified")
    close_round(simulation, FINAL)


def test_boards_of_two_rounds_with_faults_equal_an_independent_computation() -> None:
    with run_simulation() as simulation:
        simulation.join(range(EARLY_TEAMS))
        simulation.note("the teams have joined")
        play_preliminary(simulation)
        play_final(simulation)
        simulation.check_nothing_lost()
        guesses = sum(len(facts.guesses) for facts in simulation.contest.rounds.values())
        releases = sum(len(facts.releases) for facts in simulation.contest.rounds.values())
        simulation.note(
            f"{releases} releases and {guesses} guesses; {simulation.comparisons} boards compared"
        )
        assert len(simulation.contest.teams) == EARLY_TEAMS + LATE_TEAMS
        assert guesses >= 1000
        problems = [*simulation.problems, *simulation.calls.problems]
        if problems:
            lines = [problem[:MAX_PROBLEM_LENGTH] for problem in problems[:MAX_PROBLEMS]]
            pytest.fail("\n".join([f"{len(problems)} problems", *lines]), pytrace=False)

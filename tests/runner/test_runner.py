"""Jobs on a runner: their results, their limits, and the life of its processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import isnan
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest

from anoncup.errors import Conflict, FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.runner import client
from anoncup.runner.answers import JobFailure
from anoncup.runner.client import (
    ChildDeath,
    InvalidAnswer,
    LimitExcess,
    Runner,
    RunnerOptions,
    RunnerUnavailable,
)
from anoncup.runner.protocol import WALL_FACTOR, JobLimits
from anoncup.runner.sandbox import Sandbox
from tests.support.hostile_jobs import Deed, Identify, Lie, MakeResults, Refuse, SingleAction
from tests.support.runners import LIMITS, find_template, open_runner
from tests.support.wait import TIMEOUT_S, poll_until

SHORT = JobLimits(memory_mb=4096, cpu_s=1.0)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner() as opened:
        yield opened


def find_pid(runner: Runner, deed: type[Deed] = Deed, limits: JobLimits = LIMITS) -> int:
    return int(runner.run(deed(name="identify"), limits)["done"])


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid)


def test_results_of_all_types_arrive_unchanged(runner: Runner) -> None:
    results = runner.run(MakeResults(), LIMITS)
    assert results.content == bytes(range(256))
    assert isnan(results.numbers.pop("nan"))
    assert results.numbers == {"infinite": float("inf"), "small": 5e-324, "third": 1 / 3}
    assert (results.count, results.share, results.columns.quasi_identifiers) == (3, 0.1, ("a",))
    assert str(results.remarks[0].message) == "1 of 1, 2"


def test_domain_errors_are_raised_in_the_caller(runner: Runner) -> None:
    with pytest.raises(InvalidUpload) as malformed:
        runner.run(Refuse(reason="malformed"), LIMITS)
    problem = FileProblem("a.csv", 3, "age", "empty", Message("row {row} is {{odd}}", row=3))
    assert (malformed.value.problems, malformed.value.total) == ((problem,), 7)
    with pytest.raises(Conflict) as fixed:
        runner.run(Refuse(reason="fixed"), LIMITS)
    assert fixed.value.code == "fixed"


def test_failure_has_its_frames_without_the_message_of_its_error(runner: Runner) -> None:
    with pytest.raises(JobFailure) as failure:
        runner.run(Refuse(reason="secret"), LIMITS)
    assert "in refuse" in failure.value.trace
    assert failure.value.trace.endswith("ZeroDivisionError")
    assert "secret" not in failure.value.trace
    with pytest.raises(JobFailure):
        runner.run(Refuse(reason="unwritable"), LIMITS)


LIES: dict[str, dict[str, Any]] = {
    "no answer": {},
    "nonsense": {"answer": b"nonsense"},
    "another type": {"answer": b'returned\n{"value":"1"}'},
    "a large answer": {"answer": bytes(1 << 20), "answer_times": 257},
    "a step that is no JSON": {"progress": b"nonsense\n"},
    "a step beyond the last": {"progress": b'[2, 1, "x"]\n'},
    "a step before the first": {"progress": b'[-1, 1, "x"]\n'},
    "a step that no column holds": {"progress": b'[1, 2147483648, "x"]\n'},
    "a step that is no number": {"progress": b'[true, 1, "x"]\n'},
    "a name with NUL": {"progress": b'[1, 2, "\\u0000"]\n'},
    "a long name": {"progress": b'[1, 2, "' + b"x" * 101 + b'"]\n'},
    "an endless step": {"progress": b"x" * 50_000, "progress_times": 4},
}


@pytest.mark.full
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_invalid_answers_are_rejected(runner: Runner, lie: dict[str, Any]) -> None:
    with pytest.raises((InvalidAnswer, ChildDeath)):
        runner.run(Lie(**lie), LIMITS)
    assert find_pid(runner) > 0


def test_child_that_takes_no_more_jobs_is_replaced(runner: Runner) -> None:
    lie = Lie(answer=b'returned\n{"value":1}', hangs_up=True)
    assert runner.run(lie, LIMITS) == 1
    with pytest.raises(ChildDeath):
        runner.run(lie, LIMITS)
    assert runner.run(lie, LIMITS) == 1


def test_children_are_kept_for_jobs_of_one_kind_and_then_replaced() -> None:
    with open_runner(jobs_per_child=3) as runner:
        pids = [find_pid(runner) for _ in range(7)]
        assert pids == [pids[0]] * 3 + [pids[3]] * 3 + [pids[6]]
        assert len(set(pids)) == 3
        assert runner.run(Identify(), LIMITS)["pid"] not in pids


def test_single_jobs_have_children_of_their_own(runner: Runner) -> None:
    pids = [find_pid(runner, SingleAction) for _ in range(3)]
    assert len(set(pids)) == 3
    assert poll_until(lambda: all(map(is_gone, pids)))


def test_job_above_the_memory_limit_is_ended(runner: Runner) -> None:
    with pytest.raises(LimitExcess) as excess:
        runner.run(Deed(name="take_memory"), JobLimits(memory_mb=3000, cpu_s=60))
    assert excess.value.kind == "memory"
    assert find_pid(runner) > 0


def test_job_above_the_cpu_limit_is_ended(runner: Runner) -> None:
    first = find_pid(runner, limits=SHORT)
    with pytest.raises(LimitExcess) as excess:
        runner.run(Deed(name="run_endlessly"), SHORT)
    assert excess.value.kind == "time"
    assert poll_until(lambda: is_gone(first))


def test_cpu_time_counts_from_the_start_of_the_job(runner: Runner) -> None:
    first = find_pid(runner, limits=SHORT)
    for _ in range(6):
        runner.run(Deed(name="compute", arguments=(0.3,)), SHORT)
    assert find_pid(runner, limits=SHORT) == first


def test_sleeping_job_is_ended(runner: Runner) -> None:
    with pytest.raises(LimitExcess):
        runner.run(Deed(name="sleep"), JobLimits(memory_mb=4096, cpu_s=1.0 / WALL_FACTOR))


def test_next_job_is_done_after_a_crash(runner: Runner) -> None:
    with pytest.raises(ChildDeath):
        runner.run(Refuse(reason="crash"), LIMITS)
    assert find_pid(runner) > 0


def test_next_job_is_done_after_the_template_was_killed() -> None:
    with open_runner() as runner:
        child = find_pid(runner)
        find_template(runner).kill()
        assert poll_until(lambda: is_gone(child))
        with pytest.raises(ChildDeath):
            find_pid(runner)
        assert find_pid(runner) > 0


class CallerLeft(Exception):
    pass


def test_job_is_ended_when_its_caller_leaves(runner: Runner) -> None:
    first = find_pid(runner)

    def leave(_: object) -> None:
        raise CallerLeft

    with pytest.raises(CallerLeft):
        runner.run(Deed(name="report"), LIMITS, on_step=leave)
    assert poll_until(lambda: is_gone(first))


def test_idle_template_ends_and_another_one_does_the_next_job() -> None:
    with open_runner(idle_s=0.2) as runner:
        child, template = find_pid(runner), find_template(runner).pid
        assert poll_until(lambda: is_gone(child) and is_gone(template))
        assert find_pid(runner) != child


CALLER = """
import sys
from anoncup.runner.client import Runner, RunnerOptions
from anoncup.runner import sandbox
from tests.support.hostile_jobs import Deed
from tests.support.runners import LIMITS
runner = Runner(RunnerOptions(sys.executable, sandbox.choose("wanted")))
print(runner.run(Deed(name="identify"), LIMITS)["done"], runner.template.process.pid, flush=True)
runner.run(Deed(name="sleep"), LIMITS)
"""


def test_nothing_survives_the_death_of_the_caller() -> None:
    with subprocess.Popen([sys.executable, "-P", "-c", CALLER], stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        child, template = map(int, caller.stdout.readline().split())
        assert poll_until(lambda: psutil.Process(child).status() == psutil.STATUS_SLEEPING)
        caller.kill()
        caller.wait(TIMEOUT_S)
    assert poll_until(lambda: is_gone(child) and is_gone(template))


def test_missing_interpreter_is_told(tmp_path: Path) -> None:
    for program in (tmp_path / "missing", Path("/bin/true")):
        with open_runner() as runner:
            options = runner.options
        gone = Runner(type(options)(str(program), options.sandbox))
        with pytest.raises(RunnerUnavailable):
            gone.run(Identify(), LIMITS)


def test_hanging_template_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_SLACK_S", 0.0)
    with open_runner() as runner:
        find_pid(runner)
        template = find_template(runner)
        template.suspend()
        with pytest.raises(ChildDeath):
            runner.run(Identify(), JobLimits(memory_mb=4096, cpu_s=0.1))
        assert poll_until(lambda: is_gone(template.pid))
        assert find_pid(runner) > 0


@pytest.mark.full
def test_no_job_is_lost_while_processes_are_killed() -> None:
    """500 jobs on two runners, four at a time; a tenth of them crash, and templates are killed meanwhile."""
    random = Random(46)
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    with open_runner() as first, open_runner() as second, ThreadPoolExecutor(4) as pool:

        def work(number: int) -> str:
            runner = (first, second)[number % 2]
            name = random.choice(["identify"] * 18 + ["crash", "take_memory"])
            if number % 120 == 119 and runner.template is not None:
                os.kill(runner.template.process.pid, signal.SIGKILL)
            deed: Deed = random.choice([Deed, SingleAction])(name=name)
            try:
                (outcome,) = runner.run(deed, JobLimits(memory_mb=2000, cpu_s=20))
                return outcome
            except (ChildDeath, LimitExcess) as end:
                return type(end).__name__

        ends = list(pool.map(work, range(500)))
    assert len(ends) == 500
    assert set(ends) == {"done", "ChildDeath", "LimitExcess"}
    assert ends.count("done") > 400
    assert poll_until(
        lambda: {process.pid for process in psutil.Process().children(recursive=True)} <= before
    )


def test_slow_interpreter_is_not_started_for_each_job(tmp_path: Path) -> None:
    program, starts = tmp_path / "python", tmp_path / "starts"
    program.write_text(f"#!/bin/sh\necho >> {starts}\nexec sleep 1000\n")
    program.chmod(0o755)
    slow = Runner(RunnerOptions(str(program), Sandbox(), start_limit_s=1.0))
    with ThreadPoolExecutor(4) as pool:
        failures = [pool.submit(slow.run, Identify(), LIMITS) for _ in range(4)]
    assert {type(failure.exception()) for failure in failures} == {RunnerUnavailable}
    assert len(starts.read_text().splitlines()) == 1

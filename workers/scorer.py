"""The program of the scoring child: requests in, steps and verdicts out, a line of JSON each.

usage: python -m workers.scorer PARENT_PID MEMORY_MB
"""

import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from app import storage
from app.errors import NotFound, Unavailable
from app.scoring import kernels
from app.scoring.competition import Competition
from app.scoring.evaluate import Progress, Verdict, evaluate
from app.scoring.excessive.question import Question
from app.scoring.excessive.question import answer as answer_question
from app.scoring.fingerprint import fingerprint
from app.scoring.permutation import source_from_secret
from app.scoring.tracks import TRACKS
from workers.prepared import prepared_original

PR_SET_PDEATHSIG = 1
SCORER = version("anoncup")
"""Of the rules as a whole; each number carries its own version besides."""


def main() -> None:
    parent, memory_mb = int(sys.argv[1]), int(sys.argv[2])
    end_with(parent)
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20,) * 2)
    kernels.warm()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    # Nothing that prints by accident may speak in the answers' channel.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin.buffer:
        answer(json.loads(line), answers)


def end_with(parent: int) -> None:
    """The worker's death is this process's too, even by kill -9."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the worker is gone")


def answer(request: dict[str, Any], answers: BinaryIO) -> None:
    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message).encode() + b"\n")

    try:
        work = advise if "question" in request else score
        found = work(request, lambda step, of, name: say({"step": step, "of": of, "name": name}))
        say({"verdict": found, "scorer": SCORER})
    except (NotFound, Unavailable):
        say({"failed": "storage"})
    except MemoryError:
        say({"failed": "memory"})
    except Exception:
        # The frames, not the message: a message may quote what must stay secret.
        traceback.print_tb(sys.exc_info()[2], file=sys.stderr)
        say({"failed": "crash"})


def score(request: dict[str, Any], progress: Progress) -> dict[str, Any]:
    data = Path(request["data"])
    digests = tuple(sorted(request["original"].items()))
    competition, tables, prepared = prepared_original(data, digests, request["competition_file"])
    track = TRACKS[competition.track]
    contents = {name: storage.get(data, digest) for name, digest in request["files"].items()}
    release, _ = track.parse_release(contents, tables, competition)
    source = source_from_secret(
        request["secret"].encode(),
        originals=track.individuals(tables),
        anonymized=track.individuals(release),
    )
    verdict = evaluate(competition, prepared, release, source, progress=progress)
    return verdict.to_json() | {"resembles": resembled(competition, prepared, verdict)}


def resembled(competition: Competition, prepared: Any, verdict: Verdict) -> list[dict[str, object]]:
    """The sample methods that the release resembles; the evidence, which is long, for the closest only."""
    alike = [each.to_json() for each in fingerprint(competition, prepared, verdict)]
    return alike[:1] + [without_evidence(each) for each in alike[1:]]


def without_evidence(alike: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in alike.items() if name != "evidence"}


def advise(request: dict[str, Any], progress: Progress) -> dict[str, Any]:
    digests = tuple(sorted(request["original"].items()))
    competition, _, prepared = prepared_original(Path(request["data"]), digests, request["competition_file"])
    return answer_question(
        Question(**request["question"]), competition, prepared, progress=progress
    ).to_json()


if __name__ == "__main__":
    main()

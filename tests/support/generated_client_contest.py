"""A member plays a contest with a client that is made from the description of the API.

usage: python generated_client_contest.py URL FOLDER release|guess. FOLDER has the files to send, and keeps
the token. The generated package ``contest_client`` needs an environment of its own.
"""

import io
import sys
import time
from pathlib import Path

from contest_client import AuthenticatedClient, Client  # type: ignore[import-not-found]
from contest_client.api.accounts import sign_up  # type: ignore[import-not-found]
from contest_client.api.boards import anonymization_board  # type: ignore[import-not-found]
from contest_client.api.guesses import create_guess, get_guess  # type: ignore[import-not-found]
from contest_client.api.submissions import create_submission, get_submission  # type: ignore[import-not-found]
from contest_client.api.targets import list_targets  # type: ignore[import-not-found]
from contest_client.models import (  # type: ignore[import-not-found]
    CreateGuessBody,
    CreateSubmissionBody,
    SignUp,
)
from contest_client.types import File  # type: ignore[import-not-found]

POLL_INTERVAL_S = 0.2


def read_file(path: Path) -> File:
    return File(io.BytesIO(path.read_bytes()), path.name, "text/csv")


def send_release(url: str, folder: Path) -> None:
    """Sign up, send a release, and print its status and overall score, and the teams on the board."""
    account = SignUp((folder / "invite").read_text(), "Bob", "seven quiet foxes", "Blue")
    token = sign_up.sync(client=Client(url), body=account).token
    (folder / "token").write_text(token)
    client = AuthenticatedClient(url, token)
    files = {name: read_file(folder / f"{name}.csv") for name in ("anonymized", "secret")}
    receipt = create_submission.sync("small", client=client, body=CreateSubmissionBody(**files))
    while (submission := get_submission.sync(receipt.id, client=client)).status in ("QUEUED", "SCORING"):
        time.sleep(POLL_INTERVAL_S)
    board = anonymization_board.sync("small", client=client)
    print(submission.status, submission.result.overall, *(row.team for row in board.rows))  # noqa: T201


def send_guess(url: str, folder: Path) -> None:
    """Guess the target of the other team, and print the name of the target and the status of the guess."""
    client = AuthenticatedClient(url, (folder / "token").read_text())
    (target,) = (target for target in list_targets.sync("small", client=client) if not target.own)
    body = CreateGuessBody(guess=read_file(folder / "guess.csv"))
    receipt = create_guess.sync(target.id, client=client, body=body)
    while (guess := get_guess.sync(receipt.id, client=client)).status in ("QUEUED", "SCORING"):
        time.sleep(POLL_INTERVAL_S)
    print(target.name, guess.status, guess.answered)  # noqa: T201


if __name__ == "__main__":
    step = {"release": send_release, "guess": send_guess}[sys.argv[3]]
    step(sys.argv[1], Path(sys.argv[2]))

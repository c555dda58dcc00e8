"""Client of the HTTP API."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from anoncup import schemas
from anoncup.client.transport import (
    UPLOAD_TIMEOUT_S,
    ModelT,
    Transport,
    competition_path,
    ignore_state,
    parse_model,
    quote_segment,
)

FINAL_STATES = {"SCORED", "REJECTED", "REFUSED", "ERROR", "CANCELLED"}
"""States in which a submission or guess stays."""
_TOML_HEADERS = {"Content-Type": "application/toml"}
_TotalBoardName: TypeAlias = Literal["total", "attack-total"]
_BoardName: TypeAlias = Literal["anonymization", "reidentification", "matrix"] | _TotalBoardName


class Client(Transport):
    """Calls of the API, for visitors, team members and organizers. Lists are complete, from all pages.

    ``slug`` is the address of a competition, or of one of its rounds (``cup.practice``). Times are in ISO
    format with a UTC offset (``2027-01-31T09:00+09:00``).
    """

    # Accounts.

    def create_token(self, name: str, password: str, *, label: str = "api") -> str:
        """Sign in and return a new token, which the user's list of tokens shows as ``label``."""
        body = {"name": name, "password": password, "token_name": label}
        return self.call(schemas.IssuedToken, "POST", "/tokens", json=body).token

    def sign_up(
        self, *, invite: str, team: str | None, name: str, password: str, accept_terms: bool = False
    ) -> str:
        """Create an account, with a new team or in the team of the invite, and return its token."""
        account = {"name": name, "password": password}
        body = account | {"invite": invite, "team": team, "accept_terms": accept_terms}
        return self.call(schemas.SignedUp, "POST", "/signup", json=body).token

    def join_competition(
        self, *, invite: str, team: str | None, accept_terms: bool = False
    ) -> schemas.TeamMembership:
        """Take part in another competition, with a new team or in the team of the invite."""
        body = {"invite": invite, "team": team, "accept_terms": accept_terms}
        return self.call(schemas.TeamMembership, "POST", "/join", json=body)

    def get_team(self, slug: str) -> schemas.Team:
        """Return the user's team."""
        return self.get(schemas.Team, competition_path(slug, "team"))

    def invite_member(self, slug: str, *, uses: int = 1) -> schemas.Invite:
        """Create an invite with which ``uses`` people can join the user's team."""
        return self.call(
            schemas.Invite, "POST", competition_path(slug, "team", "invites"), json={"uses": uses}
        )

    def get_me(self) -> schemas.Me:
        """Return the user to whom the token belongs."""
        return self.get(schemas.Me, "/me")

    def revoke_token(self) -> None:
        """Revoke the token that this client uses."""
        self.send("DELETE", "/tokens/current")

    # Competitions.

    def list_competitions(self) -> list[schemas.ListedCompetition]:
        return parse_model(schemas.CompetitionList, self.get_pages("/competitions")).root

    def get_competition(self, slug: str) -> schemas.Competition:
        return self.get(schemas.Competition, competition_path(slug))

    def get_own_data(self, slug: str) -> schemas.OwnFiles:
        """Return the digests of the data assigned to the team; fetch the files with ``download``."""
        return self.get(schemas.OwnFiles, competition_path(slug, "own"))

    # Submissions and guesses.

    def submit(
        self,
        slug: str,
        release: Mapping[str, bytes],
        *,
        secret: bytes | None = None,
        comment: str = "",
        key: str = "",
    ) -> schemas.Receipt:
        """Submit a release, given as files by name (``anonymized``, or ``customers`` and ``transactions``).

        ``secret`` is None if the service itself has assigned the answer to the team. Submitting the same
        release again with the same ``key`` returns the receipt of the first submission.
        """
        path = competition_path(slug, "submissions")
        return self._post_release(schemas.Receipt, path, release, secret, comment, key=key)

    def check_release(
        self,
        slug: str,
        release: Mapping[str, bytes],
        *,
        secret: bytes | None = None,
        comment: str = "",
    ) -> schemas.CheckedSubmission:
        """Let the service check a release without submitting it; ApiError lists all problems."""
        path = competition_path(slug, "submissions", "check")
        return self._post_release(schemas.CheckedSubmission, path, release, secret, comment)

    def _post_release(
        self,
        model: type[ModelT],
        path: str,
        release: Mapping[str, bytes],
        secret: bytes | None,
        comment: str,
        *,
        key: str = "",
    ) -> ModelT:
        files = {**release} if secret is None else {**release, "secret": secret}
        return self.post_files(model, path, files, texts={"comment": comment}, key=key)

    def list_submissions(self, slug: str) -> list[schemas.Submission]:
        """Return the team's submissions, newest first."""
        return self.get_list(schemas.Submission, competition_path(slug, "submissions"))

    def get_submission(self, submission_id: str) -> schemas.Submission:
        return self.get(schemas.Submission, f"/submissions/{quote_segment(submission_id)}")

    def wait_for_submission(
        self,
        submission_id: str,
        *,
        timeout_s: float,
        max_outage_s: float = 0.0,
        watch: Callable[[schemas.Submission], None] = ignore_state,
    ) -> schemas.Submission:
        """Wait until the submission is in a final state and return it; raise Unavailable after ``timeout_s``.

        ``max_outage_s`` is how long the service may be unreachable in the meantime.
        """
        return self.poll(
            schemas.Submission,
            f"/submissions/{quote_segment(submission_id)}",
            lambda submission: submission.status in FINAL_STATES,
            timeout_s=timeout_s,
            max_outage_s=max_outage_s,
            watch=watch,
        )

    def list_targets(self, slug: str) -> list[schemas.Target]:
        return self.get_list(schemas.Target, competition_path(slug, "targets"))

    def send_guess(
        self,
        target_id: str,
        content: bytes,
        *,
        question: str = "",
        resend: bool = False,
    ) -> schemas.GuessReceipt:
        """Answer a question about a target, by default the first question of the competition.

        Sending the same file twice returns the receipt of the first guess, unless ``resend`` is set.
        """
        path = f"/targets/{quote_segment(target_id)}/guesses"
        texts = {"question": question} if question else {}
        digest = sha256("\n".join((target_id, question, sha256(content).hexdigest())).encode()).hexdigest()
        key = "" if resend else f"guess:{digest}"
        return self.post_files(schemas.GuessReceipt, path, {"guess": content}, texts=texts, key=key)

    def check_guess(
        self,
        target_id: str,
        content: bytes,
        *,
        question: str = "",
    ) -> schemas.CheckedGuess:
        """Let the service check a guess without sending it; ApiError lists all problems."""
        path = f"/targets/{quote_segment(target_id)}/guesses/check"
        texts = {"question": question} if question else {}
        return self.post_files(schemas.CheckedGuess, path, {"guess": content}, texts=texts)

    def wait_for_guess(self, guess_id: str, *, timeout_s: float, max_outage_s: float = 0.0) -> schemas.Guess:
        """Wait until the guess is judged and return it, with its score where the competition shows it.

        Raise Unavailable after ``timeout_s``; the service may be unreachable for ``max_outage_s``.
        """
        return self.poll(
            schemas.Guess,
            f"/guesses/{quote_segment(guess_id)}",
            lambda guess: guess.status in FINAL_STATES,
            timeout_s=timeout_s,
            max_outage_s=max_outage_s,
        )

    def list_guesses(self, slug: str) -> list[schemas.Guess]:
        """Return the team's guesses, newest first."""
        return self.get_list(schemas.Guess, competition_path(slug, "guesses"))

    # Boards.

    def get_board(self, slug: str) -> schemas.Board:
        """Return the board of releases."""
        return self.get(schemas.Board, competition_path(slug, "boards", "anonymization"))

    def get_attackers_board(self, slug: str) -> schemas.AttackersBoard:
        """Return the board of attacking teams."""
        return self.get(schemas.AttackersBoard, competition_path(slug, "boards", "reidentification"))

    def get_matrix(self, slug: str) -> schemas.Matrix:
        """Return the success of every attacking team on every target."""
        return self.get(schemas.Matrix, competition_path(slug, "boards", "matrix"))

    def get_total_board(self, slug: str, board: _TotalBoardName = "total") -> schemas.TotalBoard:
        """Return the totals over the rounds, of releases or ("attack-total") of attacks."""
        return self.get(schemas.TotalBoard, competition_path(slug, "boards", board))

    def get_board_csv(self, slug: str, board: _BoardName = "anonymization") -> str:
        return self.get_text(competition_path(slug, "boards", f"{board}.csv"))

    # Finals and quotas.

    def cancel_submission(self, submission_id: str) -> schemas.Submission:
        """Withdraw a submission that is not scored yet."""
        return self.call(schemas.Submission, "POST", f"/submissions/{quote_segment(submission_id)}/cancel")

    def mark_final(self, submission_id: str, *, final: bool = True) -> schemas.Submission:
        """Mark a submission as one of the team's finals, or remove the mark."""
        path = f"/submissions/{quote_segment(submission_id)}/final"
        return self.call(schemas.Submission, "PUT", path, json={"final": final})

    def get_quota(self, slug: str) -> schemas.Quota:
        """Return how much the team may still send."""
        return self.get(schemas.Quota, competition_path(slug, "quota"))

    # Organizers of a competition, and administrators.

    def create_competition(self, toml: str) -> schemas.Competition:
        """Create a competition from the text of a competition file."""
        return self.call(
            schemas.Competition, "POST", "/competitions", content=toml.encode(), headers=_TOML_HEADERS
        )

    def get_competition_file(self, slug: str) -> str:
        return self.get_text(competition_path(slug, "competition.toml"))

    def put_competition_file(
        self, slug: str, toml: str, *, keep_original: bool = False
    ) -> schemas.Competition:
        """Replace the competition file by another text.

        With other columns, it deletes the original data, or is refused with ``keep_original``.
        """
        path = competition_path(slug, "competition.toml") + f"?keep_original={keep_original}"
        return self.call(schemas.Competition, "PUT", path, content=toml.encode(), headers=_TOML_HEADERS)

    def put_original(
        self,
        slug: str,
        content: bytes,
        *,
        filename: str = "original.csv",
    ) -> schemas.Original:
        """Upload a file of the original data."""
        return self.call(
            schemas.Original,
            "PUT",
            competition_path(slug, "original", filename),
            content=content,
            headers={"Content-Type": "text/csv"},
            timeout=UPLOAD_TIMEOUT_S,
        )

    def review_draft(self, slug: str) -> schemas.PublishReview:
        """Return what forbids publishing a draft, and what to think of before."""
        return self.get(schemas.PublishReview, competition_path(slug, "publish"))

    def publish_competition(self, slug: str) -> schemas.Competition:
        """Make a draft public, which cannot be undone and needs the password."""
        return self.call(schemas.Competition, "POST", competition_path(slug, "publish"))

    def create_invite(self, slug: str, *, uses: int = 1) -> str:
        """Create an invite with which ``uses`` teams can join, and return its code."""
        return self.call(schemas.Invite, "POST", competition_path(slug, "invites"), json={"uses": uses}).code

    def extend_phase(
        self, slug: str, phase: str, *, end: str, move_following: bool = False
    ) -> schemas.Competition:
        """Move the end of a phase to the time ``end``, and later phases by as much if ``move_following``."""
        path = competition_path(slug, "phases", phase, "extend")
        body = {"end": end, "move_following": move_following}
        return self.call(schemas.Competition, "POST", path, json=body)

    def download_export(self, slug: str, destination: Path) -> str:
        """Download everything an organizer may have as one archive; return its SHA-256."""
        return self.download(competition_path(slug, "export.zip"), destination)

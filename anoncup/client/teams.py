"""API calls for participants."""

from collections.abc import Callable, Mapping
from hashlib import sha256

from anoncup import schemas
from anoncup.client.transport import (
    TransferProgress,
    Transport,
    competition_path,
    ignore_progress,
    ignore_state,
    parse_model,
    quote_segment,
)

FINAL_STATES = {"SCORED", "REJECTED", "REFUSED", "ERROR", "CANCELLED"}


def build_form(
    release: Mapping[str, bytes], secret: bytes | None, comment: str
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files and the texts of a multipart request."""
    return {**release} if secret is None else {**release, "secret": secret}, {"comment": comment}


class TeamApi(Transport):
    """API calls for team members; visitors may use some of them. Lists are complete, from all pages."""

    # Accounts.

    def create_token(self, name: str, password: str, *, label: str = "api") -> str:
        body = {"name": name, "password": password, "token_name": label}
        return self.call(schemas.IssuedToken, "POST", "/tokens", json=body).token

    def sign_up(self, *, invite: str, team: str | None, name: str, password: str) -> str:
        """Create an account, with a new team or in the team of the invite, and return its token."""
        body = {"invite": invite, "team": team, "name": name, "password": password}
        return self.call(schemas.SignedUp, "POST", "/signup", json=body).token

    def join(self, *, invite: str, team: str | None) -> schemas.TeamMembership:
        return self.call(schemas.TeamMembership, "POST", "/join", json={"invite": invite, "team": team})

    def get_team(self, slug: str) -> schemas.Team:
        return self.get(schemas.Team, competition_path(slug, "team"))

    def invite_member(self, slug: str, *, uses: int = 1) -> schemas.Invite:
        return self.call(
            schemas.Invite, "POST", competition_path(slug, "team", "invites"), json={"uses": uses}
        )

    def get_me(self) -> schemas.Me:
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

    def get_allocations(self, slug: str) -> schemas.AllocationReveal:
        """Return the seed and the allocations derived from it; available after the reveal."""
        return self.get(schemas.AllocationReveal, competition_path(slug, "allocations"))

    # Submissions and guesses.

    def submit(
        self,
        slug: str,
        release: Mapping[str, bytes],
        *,
        secret: bytes | None = None,
        comment: str = "",
        key: str = "",
        progress: TransferProgress = ignore_progress,
    ) -> schemas.Receipt:
        """Submit a release, given as files by name (``anonymized``, or ``customers`` and ``transactions``).

        ``secret`` is None if the service itself has assigned the answer to the team. Submitting the same
        release again with the same ``key`` returns the receipt of the first submission.
        """
        contents, texts = build_form(release, secret, comment)
        path = competition_path(slug, "submissions")
        return self.post_files(schemas.Receipt, path, contents, texts=texts, key=key, progress=progress)

    def check(
        self,
        slug: str,
        release: Mapping[str, bytes],
        *,
        secret: bytes | None = None,
        comment: str = "",
        progress: TransferProgress = ignore_progress,
    ) -> schemas.CheckedSubmission:
        """Let the service check a release without submitting it; ApiError lists all problems."""
        contents, texts = build_form(release, secret, comment)
        path = competition_path(slug, "submissions", "check")
        return self.post_files(schemas.CheckedSubmission, path, contents, texts=texts, progress=progress)

    def list_submissions(self, slug: str) -> list[schemas.Submission]:
        return self.get_list(schemas.Submission, competition_path(slug, "submissions"))

    def get_submission(self, identifier: str) -> schemas.Submission:
        return self.get(schemas.Submission, f"/submissions/{quote_segment(identifier)}")

    def wait_for_submission(
        self,
        identifier: str,
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
            f"/submissions/{quote_segment(identifier)}",
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
        progress: TransferProgress = ignore_progress,
    ) -> schemas.GuessReceipt:
        """Answer a question about a target, by default the first question of the competition.

        Sending the same file twice returns the receipt of the first guess, unless ``resend`` is set.
        """
        path = f"/targets/{quote_segment(target_id)}/guesses"
        texts = {"question": question} if question else {}
        digest = sha256("\n".join((target_id, question, sha256(content).hexdigest())).encode()).hexdigest()
        key = "" if resend else f"guess:{digest}"
        return self.post_files(
            schemas.GuessReceipt, path, {"guess": content}, texts=texts, key=key, progress=progress
        )

    def check_guess(
        self,
        target_id: str,
        content: bytes,
        *,
        question: str = "",
        progress: TransferProgress = ignore_progress,
    ) -> schemas.CheckedGuess:
        """Let the service check a guess without sending it; ApiError lists all problems."""
        path = f"/targets/{quote_segment(target_id)}/guesses/check"
        texts = {"question": question} if question else {}
        return self.post_files(schemas.CheckedGuess, path, {"guess": content}, texts=texts, progress=progress)

    def wait_for_guess(
        self, identifier: str, *, timeout_s: float, max_outage_s: float = 0.0
    ) -> schemas.Guess:
        """Wait until the guess is judged and return it, with its score where the competition shows it.

        Raise Unavailable after ``timeout_s``; the service may be unreachable for ``max_outage_s``.
        """
        return self.poll(
            schemas.Guess,
            f"/guesses/{quote_segment(identifier)}",
            lambda guess: guess.status in FINAL_STATES,
            timeout_s=timeout_s,
            max_outage_s=max_outage_s,
        )

    def list_guesses(self, slug: str) -> list[schemas.Guess]:
        return self.get_list(schemas.Guess, competition_path(slug, "guesses"))

    def get_board(self, slug: str) -> schemas.Board:
        return self.get(schemas.Board, competition_path(slug, "boards", "anonymization"))

    def get_history(self, slug: str) -> schemas.History:
        return self.get(schemas.History, competition_path(slug, "boards", "history"))

    def get_attackers_board(self, slug: str) -> schemas.AttackersBoard:
        return self.get(schemas.AttackersBoard, competition_path(slug, "boards", "reidentification"))

    def get_matrix(self, slug: str) -> schemas.Matrix:
        return self.get(schemas.Matrix, competition_path(slug, "boards", "matrix"))

    def get_total_board(self, slug: str, board: str = "total") -> schemas.TotalBoard:
        """Return the totals of releases or, for ``board`` "attack-total", of attacks."""
        return self.get(schemas.TotalBoard, competition_path(slug, "boards", board))

    # Finals, quotas, announcements and clarifications.

    def cancel(self, identifier: str) -> schemas.Submission:
        return self.call(schemas.Submission, "POST", f"/submissions/{quote_segment(identifier)}/cancel")

    def mark_final(self, identifier: str, *, final: bool = True) -> schemas.Submission:
        path, body = f"/submissions/{quote_segment(identifier)}/final", {"final": final}
        return self.call(schemas.Submission, "PUT", path, json=body)

    def get_quota(self, slug: str) -> schemas.Quota:
        return self.get(schemas.Quota, competition_path(slug, "quota"))

    def get_board_csv(self, slug: str, board: str = "anonymization") -> str:
        return self.get_text(competition_path(slug, "boards", f"{board}.csv"))

    def list_announcements(self, slug: str) -> list[schemas.Announcement]:
        return self.get_list(schemas.Announcement, competition_path(slug, "announcements"))

    def list_clarifications(self, slug: str) -> list[schemas.Clarification]:
        return self.get_list(schemas.Clarification, competition_path(slug, "clarifications"))

    def ask_question(self, slug: str, question: str) -> schemas.Clarification:
        return self.call(
            schemas.Clarification,
            "POST",
            competition_path(slug, "clarifications"),
            json={"question": question},
        )

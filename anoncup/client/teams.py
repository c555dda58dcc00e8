"""The calls of those who take part."""

from collections.abc import Callable, Mapping
from hashlib import sha256

from anoncup import schemas
from anoncup.client.transport import Transferred, Transport, at, part, told, unseen, unwatched

FINAL = {"SCORED", "REJECTED", "ERROR", "CANCELLED"}


def files_and_texts(
    release: Mapping[str, bytes], secret: bytes | None, comment: str
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files and the texts of a multipart request."""
    return {**release} if secret is None else {**release, "secret": secret}, {"comment": comment}


class TeamsCalls(Transport):
    """What a member of a team may do, and partly a visitor. Lists come whole."""

    # Accounts.

    def token(self, name: str, password: str, *, label: str = "api") -> str:
        body = {"name": name, "password": password, "token_name": label}
        return self.call(schemas.IssuedToken, "POST", "/tokens", json=body).token

    def sign_up(self, *, invite: str, team: str | None, name: str, password: str) -> str:
        """Sign up, with a new team or into the invite's; returns the new account's token."""
        body = {"invite": invite, "team": team, "name": name, "password": password}
        return self.call(schemas.SignedUp, "POST", "/signup", json=body).token

    def join(self, *, invite: str, team: str | None) -> schemas.Joined:
        return self.call(schemas.Joined, "POST", "/join", json={"invite": invite, "team": team})

    def team(self, slug: str) -> schemas.Team:
        return self.read(schemas.Team, at(slug, "team"))

    def invite_member(self, slug: str, *, uses: int = 1) -> schemas.Invite:
        return self.call(schemas.Invite, "POST", at(slug, "team", "invites"), json={"uses": uses})

    def me(self) -> schemas.Me:
        return self.read(schemas.Me, "/me")

    def revoke(self) -> None:
        """End the token that makes the calls."""
        self.answer("DELETE", "/tokens/current")

    # Competitions.

    def competitions(self) -> list[schemas.Listed]:
        return told(schemas.Listing, self.pages("/competitions")).root

    def competition(self, slug: str) -> schemas.Competition:
        return self.read(schemas.Competition, at(slug))

    def own(self, slug: str) -> schemas.Own:
        """What the service has drawn for the team; its files come by ``save``."""
        return self.read(schemas.Own, at(slug, "own"))

    def draws(self, slug: str) -> schemas.Draws:
        """The seed and all that was drawn by it, after the reveal."""
        return self.read(schemas.Draws, at(slug, "draws"))

    # Submissions and guesses.

    def submit(
        self,
        slug: str,
        release: Mapping[str, bytes],
        *,
        secret: bytes | None = None,
        comment: str = "",
        progress: Transferred = unwatched,
    ) -> schemas.Receipt:
        """Hand in a release, its files by name (``anonymized``, or ``customers`` and ``transactions``).

        ``secret``: None where the service has drawn the answer.
        """
        contents, texts = files_and_texts(release, secret, comment)
        return self.deliver(
            schemas.Receipt, at(slug, "submissions"), contents, texts=texts, progress=progress
        )

    def check(
        self,
        slug: str,
        release: Mapping[str, bytes],
        *,
        secret: bytes | None = None,
        comment: str = "",
        progress: Transferred = unwatched,
    ) -> schemas.CheckedSubmission:
        """Have the service read a release without submitting it; Refused names every fault."""
        contents, texts = files_and_texts(release, secret, comment)
        path = at(slug, "submissions", "check")
        return self.deliver(schemas.CheckedSubmission, path, contents, texts=texts, progress=progress)

    def submissions(self, slug: str) -> list[schemas.Submission]:
        return self.several(schemas.Submission, at(slug, "submissions"))

    def submission(self, identifier: str) -> schemas.Submission:
        return self.read(schemas.Submission, f"/submissions/{part(identifier)}")

    def wait(
        self,
        identifier: str,
        *,
        timeout_s: float,
        patience_s: float = 0.0,
        watch: Callable[[schemas.Submission], None] = unseen,
    ) -> schemas.Submission:
        """The submission once its scoring has ended; Unavailable after ``timeout_s``.

        ``patience_s``: how long the service may be away in between.
        """
        return self.until(
            schemas.Submission,
            f"/submissions/{part(identifier)}",
            lambda found: found.status in FINAL,
            timeout_s=timeout_s,
            patience_s=patience_s,
            watch=watch,
        )

    def targets(self, slug: str) -> list[schemas.Target]:
        return self.several(schemas.Target, at(slug, "targets"))

    def guess(
        self,
        target_id: str,
        content: bytes,
        *,
        question: str = "",
        again: bool = False,
        progress: Transferred = unwatched,
    ) -> schemas.GuessReceipt:
        """Answer a question about a target; without its name the first that the competition asks.

        The same file is the same guess, and answered with its receipt; ``again``: it is another one.
        """
        path, texts = f"/targets/{part(target_id)}/guesses", {"question": question} if question else {}
        printed = sha256("\n".join((target_id, question, sha256(content).hexdigest())).encode()).hexdigest()
        key = "" if again else f"guess:{printed}"
        return self.deliver(
            schemas.GuessReceipt, path, {"guess": content}, texts=texts, key=key, progress=progress
        )

    def check_guess(
        self, target_id: str, content: bytes, *, question: str = "", progress: Transferred = unwatched
    ) -> schemas.CheckedGuess:
        """Have the service read a guess without sending it; Refused names every fault."""
        path, texts = f"/targets/{part(target_id)}/guesses/check", {"question": question} if question else {}
        return self.deliver(schemas.CheckedGuess, path, {"guess": content}, texts=texts, progress=progress)

    def guesses(self, slug: str) -> list[schemas.Guess]:
        return self.several(schemas.Guess, at(slug, "guesses"))

    def board(self, slug: str) -> schemas.Board:
        return self.read(schemas.Board, at(slug, "boards", "anonymization"))

    def history(self, slug: str) -> schemas.History:
        return self.read(schemas.History, at(slug, "boards", "history"))

    def attackers(self, slug: str) -> schemas.AttackersBoard:
        return self.read(schemas.AttackersBoard, at(slug, "boards", "reidentification"))

    def matrix(self, slug: str) -> schemas.Matrix:
        return self.read(schemas.Matrix, at(slug, "boards", "matrix"))

    # What comes after.

    def cancel(self, identifier: str) -> schemas.Submission:
        return self.call(schemas.Submission, "POST", f"/submissions/{part(identifier)}/cancel")

    def mark_final(self, identifier: str, *, final: bool = True) -> schemas.Submission:
        path, body = f"/submissions/{part(identifier)}/final", {"final": final}
        return self.call(schemas.Submission, "PUT", path, json=body)

    def quota(self, slug: str) -> schemas.Quota:
        return self.read(schemas.Quota, at(slug, "quota"))

    def board_csv(self, slug: str, which: str = "anonymization") -> str:
        return self.text(at(slug, "boards", f"{which}.csv"))

    def announcements(self, slug: str) -> list[schemas.Announcement]:
        return self.several(schemas.Announcement, at(slug, "announcements"))

    def clarifications(self, slug: str) -> list[schemas.Clarification]:
        return self.several(schemas.Clarification, at(slug, "clarifications"))

    def ask(self, slug: str, question: str) -> schemas.Clarification:
        return self.call(
            schemas.Clarification, "POST", at(slug, "clarifications"), json={"question": question}
        )

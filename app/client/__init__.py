"""The HTTP API as Python calls."""

from collections.abc import Callable, Mapping
from typing import Any

from app.client.transport import (
    UPLOAD_TIMEOUT_S,
    Refused,
    Transferred,
    Transport,
    chunks,
    part,
    unseen,
    unwatched,
)

__all__ = ["FINAL", "Client", "Refused", "at"]

FINAL = {"SCORED", "REJECTED", "ERROR", "CANCELLED"}


class Client(Transport):
    """What a token's owner may do. Names of competitions are ``slug``; lists come whole."""

    # Accounts.

    def token(self, name: str, password: str, *, label: str = "api") -> str:
        body = {"name": name, "password": password, "token_name": label}
        return str(self.call("POST", "/tokens", json=body)["token"])

    def sign_up(self, *, invite: str, team: str, name: str, password: str) -> str:
        """Sign up a new team; returns its member's token."""
        body = {"invite": invite, "team": team, "name": name, "password": password}
        return str(self.call("POST", "/signup", json=body)["token"])

    def me(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", "/me")
        return found

    def revoke(self) -> None:
        """End the token that makes the calls."""
        self.call("DELETE", "/tokens/current")

    # Competitions.

    def competitions(self) -> list[dict[str, Any]]:
        return self.pages("/competitions")

    def competition(self, slug: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", at(slug))
        return found

    def create_competition(self, file: str) -> dict[str, Any]:
        headers = {"Content-Type": "application/toml"}
        made: dict[str, Any] = self.call("POST", "/competitions", content=file.encode(), headers=headers)
        return made

    def put_competition_file(self, slug: str, file: str) -> dict[str, Any]:
        path, headers = at(slug, "competition.toml"), {"Content-Type": "application/toml"}
        changed: dict[str, Any] = self.call("PUT", path, content=file.encode(), headers=headers)
        return changed

    def put_original(
        self,
        slug: str,
        content: bytes,
        *,
        file: str = "original.csv",
        progress: Transferred = unwatched,
    ) -> dict[str, Any]:
        headers = {"Content-Type": "text/csv", "Content-Length": str(len(content))}
        stored: dict[str, Any] = self.call(
            "PUT",
            at(slug, "original", file),
            content=chunks(content, progress),
            headers=headers,
            timeout=UPLOAD_TIMEOUT_S,
        )
        return stored

    def invite(self, slug: str, *, uses: int = 1) -> str:
        return str(self.call("POST", at(slug, "invites"), json={"uses": uses})["code"])

    # Submissions and guesses.

    def submit(
        self,
        slug: str,
        release: Mapping[str, bytes],
        *,
        secret: bytes,
        comment: str = "",
        progress: Transferred = unwatched,
    ) -> dict[str, Any]:
        """Hand in a release, its files by name (``anonymized``, or ``customers`` and ``transactions``)."""
        contents, texts = {**release, "secret": secret}, {"comment": comment}
        return self.deliver(at(slug, "submissions"), contents, texts=texts, progress=progress)

    def submissions(self, slug: str) -> list[dict[str, Any]]:
        return self.pages(at(slug, "submissions"))

    def submission(self, identifier: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/submissions/{part(identifier)}")
        return found

    def wait(
        self,
        identifier: str,
        *,
        timeout_s: float,
        patience_s: float = 0.0,
        meanwhile: Callable[[], None] = lambda: None,
        watch: Callable[[dict[str, Any]], None] = unseen,
    ) -> dict[str, Any]:
        """The submission once its scoring has ended; Unavailable after ``timeout_s``.

        ``patience_s``: how long the service may be away meanwhile.
        """
        path = f"/submissions/{part(identifier)}"
        ended = {"status": FINAL}
        return self.until(
            path, ended, timeout_s=timeout_s, patience_s=patience_s, meanwhile=meanwhile, watch=watch
        )

    def targets(self, slug: str) -> list[dict[str, Any]]:
        return self.pages(at(slug, "targets"))

    def guess(self, target_id: str, content: bytes, *, progress: Transferred = unwatched) -> dict[str, Any]:
        return self.deliver(f"/targets/{part(target_id)}/guesses", {"guess": content}, progress=progress)

    def guesses(self, slug: str) -> list[dict[str, Any]]:
        return self.pages(at(slug, "guesses"))

    def board(self, slug: str, which: str = "anonymization") -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", at(slug, "boards", which))
        return found

    # What comes after.

    def cancel(self, identifier: str) -> dict[str, Any]:
        withdrawn: dict[str, Any] = self.call("POST", f"/submissions/{part(identifier)}/cancel")
        return withdrawn

    def mark_final(self, identifier: str, *, final: bool = True) -> dict[str, Any]:
        path, body = f"/submissions/{part(identifier)}/final", {"final": final}
        marked: dict[str, Any] = self.call("PUT", path, json=body)
        return marked

    def quota(self, slug: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", at(slug, "quota"))
        return found

    def board_csv(self, slug: str, which: str = "anonymization") -> str:
        return self.text(at(slug, "boards", f"{which}.csv"))

    def announcements(self, slug: str) -> list[dict[str, Any]]:
        return self.pages(at(slug, "announcements"))


def at(slug: str, *parts: str) -> str:
    """The path of something that belongs to a competition."""
    return "/".join(["/competitions", *map(part, (slug, *parts))])

"""The calls of those who organize."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app import wire
from app.client.transport import (
    UPLOAD_TIMEOUT_S,
    Transferred,
    Transport,
    at,
    chunks,
    part,
    told,
    unseen,
    unwatched,
)

TOML = {"Content-Type": "application/toml"}


class OrganizersCalls(Transport):
    """What the organizers of a competition may do, and an administrator."""

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

    def add_baseline(
        self, slug: str, release: Mapping[str, bytes], *, secret: bytes, name: str
    ) -> dict[str, Any]:
        """Put a release on the board for comparison."""
        contents = {**release, "secret": secret}
        return self.deliver(at(slug, "baselines"), contents, texts={"name": name})

    def invite(self, slug: str, *, uses: int = 1) -> str:
        return str(self.call("POST", at(slug, "invites"), json={"uses": uses})["code"])

    def extend(self, slug: str, phase: str, *, end: str, move_following: bool = False) -> dict[str, Any]:
        path, body = at(slug, "phases", phase, "extend"), {"end": end, "move_following": move_following}
        extended: dict[str, Any] = self.call("POST", path, json=body)
        return extended

    def turn_phase(self, slug: str, phase: str, act: str) -> Any:
        """``act``: pause or resume."""
        return self.call("POST", at(slug, "phases", phase, act))

    def teams(self, slug: str) -> list[wire.Entrant]:
        return self.several(wire.Entrant, at(slug, "teams"))

    def grant(self, slug: str, *, team_id: str, cap: str, amount: int) -> Any:
        body = {"team_id": team_id, "cap": cap, "amount": amount}
        return self.call("POST", at(slug, "grants"), json=body)

    def judge_submission(self, identifier: str, act: str) -> Any:
        """``act``: disqualify or reinstate."""
        return self.call("POST", f"/submissions/{part(identifier)}/{act}")

    def score_again(self, identifier: str) -> wire.Submission:
        return told(wire.Submission, self.call("POST", f"/submissions/{part(identifier)}/rescore"))

    def judge_team(self, slug: str, team_id: str, act: str) -> Any:
        return self.call("POST", at(slug, "teams", team_id, act))

    def announce(self, slug: str, text: Mapping[str, str]) -> wire.Announcement:
        path = at(slug, "announcements")
        return told(wire.Announcement, self.call("POST", path, json={"text": dict(text)}))

    def all_submissions(self, slug: str, **query: str | None) -> list[wire.Submission]:
        """Every team's; ``team`` (its id) and ``state`` choose."""
        chosen = {name: value for name, value in query.items() if value is not None}
        return self.several(wire.Submission, at(slug, "submissions", "all"), **chosen)

    def audit(self, slug: str) -> list[wire.AuditEntry]:
        return self.several(wire.AuditEntry, at(slug, "audit"))

    def queue(self, slug: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", at(slug, "queue"))
        return found

    def export(self, slug: str, into: Path, *, progress: Transferred = unwatched) -> str:
        """Everything an organizer may have, as one archive; its SHA-256."""
        return self.save(at(slug, "export.zip"), into, progress=progress)

    def start_rescore(self, slug: str, file: bytes) -> dict[str, Any]:
        begun: dict[str, Any] = self.call("POST", at(slug, "rescores"), content=file, headers=TOML)
        return begun

    def rescores(self, slug: str) -> list[dict[str, Any]]:
        return self.pages(at(slug, "rescores"))

    def rescore(self, identifier: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/rescores/{part(identifier)}")
        return found

    def end_rescore(self, identifier: str, act: str) -> dict[str, Any]:
        """``act``: apply or cancel."""
        ended: dict[str, Any] = self.call("POST", f"/rescores/{part(identifier)}/{act}")
        return ended

    def ask_threshold(self, slug: str, **question: Any) -> wire.ReportSummary:
        """Ask for a report; what is None is left to the service."""
        body = {name: value for name, value in question.items() if value is not None}
        return told(wire.ReportSummary, self.call("POST", at(slug, "threshold-reports"), json=body))

    def threshold_report(
        self,
        identifier: str,
        *,
        timeout_s: float,
        patience_s: float,
        watch: Callable[[wire.Report], None] = unseen,
    ) -> wire.Report:
        """The report once it is made, or has failed."""
        return self.until(
            wire.Report,
            f"/threshold-reports/{part(identifier)}",
            lambda found: found.status in {"SCORED", "ERROR", "CANCELLED"},
            timeout_s=timeout_s,
            patience_s=patience_s,
            watch=watch,
        )

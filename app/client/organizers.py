"""The calls of those who organize."""

from collections.abc import Callable, Mapping
from pathlib import Path

from app import wire
from app.client.transport import (
    UPLOAD_TIMEOUT_S,
    Transferred,
    Transport,
    at,
    chunks,
    part,
    unseen,
    unwatched,
)

TOML = {"Content-Type": "application/toml"}


class OrganizersCalls(Transport):
    """What the organizers of a competition may do, and an administrator."""

    def create_competition(self, file: str) -> wire.Competition:
        return self.call(wire.Competition, "POST", "/competitions", content=file.encode(), headers=TOML)

    def put_competition_file(self, slug: str, file: str) -> wire.Competition:
        path = at(slug, "competition.toml")
        return self.call(wire.Competition, "PUT", path, content=file.encode(), headers=TOML)

    def put_original(
        self,
        slug: str,
        content: bytes,
        *,
        file: str = "original.csv",
        progress: Transferred = unwatched,
    ) -> wire.Original:
        headers = {"Content-Type": "text/csv", "Content-Length": str(len(content))}
        return self.call(
            wire.Original,
            "PUT",
            at(slug, "original", file),
            content=chunks(content, progress),
            headers=headers,
            timeout=UPLOAD_TIMEOUT_S,
        )

    def put_truth(
        self, slug: str, content: bytes, *, file: str, progress: Transferred = unwatched
    ) -> wire.Competition:
        """Give a file that only organizers hold; nobody gets it back."""
        return self.call(
            wire.Competition,
            "PUT",
            at(slug, "truth", file),
            content=chunks(content, progress),
            headers={"Content-Type": "text/csv", "Content-Length": str(len(content))},
            timeout=UPLOAD_TIMEOUT_S,
        )

    def add_baseline(
        self, slug: str, release: Mapping[str, bytes], *, secret: bytes | None = None, name: str
    ) -> wire.BaselineReceipt:
        """Put a release on the board for comparison; ``secret`` as of ``submit``."""
        contents = {**release} if secret is None else {**release, "secret": secret}
        return self.deliver(wire.BaselineReceipt, at(slug, "baselines"), contents, texts={"name": name})

    def invite(self, slug: str, *, uses: int = 1) -> str:
        return self.call(wire.Invite, "POST", at(slug, "invites"), json={"uses": uses}).code

    def extend(self, slug: str, phase: str, *, end: str, move_following: bool = False) -> wire.Competition:
        path, body = at(slug, "phases", phase, "extend"), {"end": end, "move_following": move_following}
        return self.call(wire.Competition, "POST", path, json=body)

    def turn_phase(self, slug: str, phase: str, act: str) -> wire.Competition:
        """``act``: pause or resume."""
        return self.call(wire.Competition, "POST", at(slug, "phases", phase, act))

    def teams(self, slug: str) -> list[wire.Entrant]:
        return self.several(wire.Entrant, at(slug, "teams"))

    def grant(self, slug: str, *, team_id: str, cap: str, amount: int) -> wire.Grant:
        body = {"team_id": team_id, "cap": cap, "amount": amount}
        return self.call(wire.Grant, "POST", at(slug, "grants"), json=body)

    def judge_submission(self, identifier: str, act: str, *, reason: str = "") -> wire.Submission:
        """``act``: disqualify or reinstate."""
        path, body = f"/submissions/{part(identifier)}/{act}", {"reason": reason}
        return self.call(wire.Submission, "POST", path, json=body)

    def score_again(self, identifier: str) -> wire.Submission:
        return self.call(wire.Submission, "POST", f"/submissions/{part(identifier)}/rescore")

    def judge_team(self, slug: str, team_id: str, act: str, *, reason: str = "") -> wire.TeamJudged:
        return self.call(wire.TeamJudged, "POST", at(slug, "teams", team_id, act), json={"reason": reason})

    def announce(self, slug: str, text: Mapping[str, str]) -> wire.Announcement:
        path = at(slug, "announcements")
        return self.call(wire.Announcement, "POST", path, json={"text": dict(text)})

    def clarify(self, identifier: str, answer: str, *, public: bool = False) -> wire.Clarification:
        """The question of that id."""
        path, body = f"/clarifications/{part(identifier)}/answer", {"answer": answer, "public": public}
        return self.call(wire.Clarification, "PUT", path, json=body)

    def all_submissions(self, slug: str, **query: str | None) -> list[wire.Submission]:
        """Every team's; ``team`` (its id) and ``state`` choose."""
        chosen = {name: value for name, value in query.items() if value is not None}
        return self.several(wire.Submission, at(slug, "submissions", "all"), **chosen)

    def audit(self, slug: str) -> list[wire.AuditEntry]:
        return self.several(wire.AuditEntry, at(slug, "audit"))

    def queue(self, slug: str) -> wire.Queue:
        return self.read(wire.Queue, at(slug, "queue"))

    def export(self, slug: str, into: Path, *, progress: Transferred = unwatched) -> str:
        """Everything an organizer may have, as one archive; its SHA-256."""
        return self.save(at(slug, "export.zip"), into, progress=progress)

    def start_rescore(self, slug: str, file: bytes) -> wire.RescoreSummary:
        return self.call(wire.RescoreSummary, "POST", at(slug, "rescores"), content=file, headers=TOML)

    def rescores(self, slug: str) -> list[wire.RescoreSummary]:
        return self.several(wire.RescoreSummary, at(slug, "rescores"))

    def rescore(self, identifier: str) -> wire.Rescore:
        return self.read(wire.Rescore, f"/rescores/{part(identifier)}")

    def end_rescore(self, identifier: str, act: str) -> wire.RescoreSummary:
        """``act``: apply or cancel."""
        return self.call(wire.RescoreSummary, "POST", f"/rescores/{part(identifier)}/{act}")

    def rehearse(self, slug: str) -> wire.Rehearsal:
        """Have sample teams play the competition in an hour."""
        return self.call(wire.Rehearsal, "POST", at(slug, "rehearsal"))

    def rehearsal(self, slug: str) -> wire.Rehearsal:
        return self.read(wire.Rehearsal, at(slug, "rehearsal"))

    def end_rehearsal(self, slug: str) -> None:
        """Needs the password."""
        self.answer("DELETE", at(slug, "rehearsal"))

    def ask_threshold(self, slug: str, **question: object) -> wire.ReportSummary:
        """Ask for a report; what is None is left to the service."""
        body = {name: value for name, value in question.items() if value is not None}
        return self.call(wire.ReportSummary, "POST", at(slug, "threshold-reports"), json=body)

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

"""The calls of those who organize."""

from collections.abc import Callable, Mapping
from pathlib import Path

from anoncup import schemas
from anoncup.client.transport import (
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

    def create_competition(self, file: str) -> schemas.Competition:
        return self.call(schemas.Competition, "POST", "/competitions", content=file.encode(), headers=TOML)

    def put_competition_file(self, slug: str, file: str) -> schemas.Competition:
        path = at(slug, "competition.toml")
        return self.call(schemas.Competition, "PUT", path, content=file.encode(), headers=TOML)

    def put_original(
        self,
        slug: str,
        content: bytes,
        *,
        file: str = "original.csv",
        progress: Transferred = unwatched,
    ) -> schemas.Original:
        headers = {"Content-Type": "text/csv", "Content-Length": str(len(content))}
        return self.call(
            schemas.Original,
            "PUT",
            at(slug, "original", file),
            content=chunks(content, progress),
            headers=headers,
            timeout=UPLOAD_TIMEOUT_S,
        )

    def put_truth(
        self, slug: str, content: bytes, *, file: str, progress: Transferred = unwatched
    ) -> schemas.Competition:
        """Give a file that only organizers hold; nobody gets it back."""
        return self.call(
            schemas.Competition,
            "PUT",
            at(slug, "truth", file),
            content=chunks(content, progress),
            headers={"Content-Type": "text/csv", "Content-Length": str(len(content))},
            timeout=UPLOAD_TIMEOUT_S,
        )

    def add_baseline(
        self, slug: str, release: Mapping[str, bytes], *, secret: bytes | None = None, name: str
    ) -> schemas.BaselineReceipt:
        """Put a release on the board for comparison; ``secret`` as of ``submit``."""
        contents = {**release} if secret is None else {**release, "secret": secret}
        return self.deliver(schemas.BaselineReceipt, at(slug, "baselines"), contents, texts={"name": name})

    def invite(self, slug: str, *, uses: int = 1) -> str:
        return self.call(schemas.Invite, "POST", at(slug, "invites"), json={"uses": uses}).code

    def extend(self, slug: str, phase: str, *, end: str, move_following: bool = False) -> schemas.Competition:
        path, body = at(slug, "phases", phase, "extend"), {"end": end, "move_following": move_following}
        return self.call(schemas.Competition, "POST", path, json=body)

    def turn_phase(self, slug: str, phase: str, act: str) -> schemas.Competition:
        """``act``: pause or resume."""
        return self.call(schemas.Competition, "POST", at(slug, "phases", phase, act))

    def teams(self, slug: str) -> list[schemas.Entrant]:
        return self.several(schemas.Entrant, at(slug, "teams"))

    def grant(self, slug: str, *, team_id: str, cap: str, amount: int) -> schemas.Grant:
        body = {"team_id": team_id, "cap": cap, "amount": amount}
        return self.call(schemas.Grant, "POST", at(slug, "grants"), json=body)

    def judge_submission(self, identifier: str, act: str, *, reason: str = "") -> schemas.Submission:
        """``act``: disqualify or reinstate."""
        path, body = f"/submissions/{part(identifier)}/{act}", {"reason": reason}
        return self.call(schemas.Submission, "POST", path, json=body)

    def score_again(self, identifier: str) -> schemas.Submission:
        return self.call(schemas.Submission, "POST", f"/submissions/{part(identifier)}/rescore")

    def judge_team(self, slug: str, team_id: str, act: str, *, reason: str = "") -> schemas.TeamJudged:
        return self.call(schemas.TeamJudged, "POST", at(slug, "teams", team_id, act), json={"reason": reason})

    def announce(self, slug: str, text: Mapping[str, str]) -> schemas.Announcement:
        path = at(slug, "announcements")
        return self.call(schemas.Announcement, "POST", path, json={"text": dict(text)})

    def clarify(self, identifier: str, answer: str, *, public: bool = False) -> schemas.Clarification:
        """The question of that id."""
        path, body = f"/clarifications/{part(identifier)}/answer", {"answer": answer, "public": public}
        return self.call(schemas.Clarification, "PUT", path, json=body)

    def all_submissions(self, slug: str, **query: str | None) -> list[schemas.Submission]:
        """Every team's; ``team`` (its id) and ``state`` choose."""
        chosen = {name: value for name, value in query.items() if value is not None}
        return self.several(schemas.Submission, at(slug, "submissions", "all"), **chosen)

    def audit(self, slug: str) -> list[schemas.AuditEntry]:
        return self.several(schemas.AuditEntry, at(slug, "audit"))

    def queue(self, slug: str) -> schemas.Queue:
        return self.read(schemas.Queue, at(slug, "queue"))

    def export(self, slug: str, into: Path, *, progress: Transferred = unwatched) -> str:
        """Everything an organizer may have, as one archive; its SHA-256."""
        return self.save(at(slug, "export.zip"), into, progress=progress)

    def start_rescore(self, slug: str, file: bytes) -> schemas.RescoreSummary:
        return self.call(schemas.RescoreSummary, "POST", at(slug, "rescores"), content=file, headers=TOML)

    def rescores(self, slug: str) -> list[schemas.RescoreSummary]:
        return self.several(schemas.RescoreSummary, at(slug, "rescores"))

    def rescore(self, identifier: str) -> schemas.Rescore:
        return self.read(schemas.Rescore, f"/rescores/{part(identifier)}")

    def end_rescore(self, identifier: str, act: str) -> schemas.RescoreSummary:
        """``act``: apply or cancel."""
        return self.call(schemas.RescoreSummary, "POST", f"/rescores/{part(identifier)}/{act}")

    def rehearse(self, slug: str) -> schemas.Rehearsal:
        """Have sample teams play the competition in an hour."""
        return self.call(schemas.Rehearsal, "POST", at(slug, "rehearsal"))

    def rehearsal(self, slug: str) -> schemas.Rehearsal:
        return self.read(schemas.Rehearsal, at(slug, "rehearsal"))

    def end_rehearsal(self, slug: str) -> None:
        """Needs the password."""
        self.answer("DELETE", at(slug, "rehearsal"))

    def ask_threshold(self, slug: str, **question: object) -> schemas.ReportSummary:
        """Ask for a report; what is None is left to the service."""
        body = {name: value for name, value in question.items() if value is not None}
        return self.call(schemas.ReportSummary, "POST", at(slug, "threshold-reports"), json=body)

    def threshold_report(
        self,
        identifier: str,
        *,
        timeout_s: float,
        patience_s: float,
        watch: Callable[[schemas.Report], None] = unseen,
    ) -> schemas.Report:
        """The report once it is made, or has failed."""
        return self.until(
            schemas.Report,
            f"/threshold-reports/{part(identifier)}",
            lambda found: found.status in {"SCORED", "ERROR", "CANCELLED"},
            timeout_s=timeout_s,
            patience_s=patience_s,
            watch=watch,
        )

"""API calls for organizers."""

from collections.abc import Callable, Mapping
from pathlib import Path

from anoncup import schemas
from anoncup.client.transport import (
    UPLOAD_TIMEOUT_S,
    ModelT,
    TransferProgress,
    Transport,
    competition_path,
    ignore_progress,
    ignore_state,
    iter_chunks,
    quote_segment,
)

_TOML_HEADERS = {"Content-Type": "application/toml"}


class OrganizerApi(Transport):
    """API calls for the organizers of a competition and for administrators."""

    def create_competition(self, file: str) -> schemas.Competition:
        return self.call(
            schemas.Competition, "POST", "/competitions", content=file.encode(), headers=_TOML_HEADERS
        )

    def get_competition_file(self, slug: str) -> str:
        return self.get_text(competition_path(slug, "competition.toml"))

    def put_competition_file(self, slug: str, file: str) -> schemas.Competition:
        path = competition_path(slug, "competition.toml")
        return self.call(schemas.Competition, "PUT", path, content=file.encode(), headers=_TOML_HEADERS)

    def put_original(
        self,
        slug: str,
        content: bytes,
        *,
        file: str = "original.csv",
        progress: TransferProgress = ignore_progress,
    ) -> schemas.Original:
        return self._put_csv(schemas.Original, competition_path(slug, "original", file), content, progress)

    def put_organizer_data(
        self, slug: str, content: bytes, *, file: str, progress: TransferProgress = ignore_progress
    ) -> schemas.Competition:
        """Upload a file that only organizers have. The service never returns it."""
        return self._put_csv(schemas.Competition, competition_path(slug, "truth", file), content, progress)

    def _put_csv(self, model: type[ModelT], path: str, content: bytes, progress: TransferProgress) -> ModelT:
        return self.call(
            model,
            "PUT",
            path,
            content=iter_chunks(content, progress),
            headers={"Content-Type": "text/csv", "Content-Length": str(len(content))},
            timeout=UPLOAD_TIMEOUT_S,
        )

    def add_baseline(
        self, slug: str, release: Mapping[str, bytes], *, secret: bytes | None = None, name: str
    ) -> schemas.BaselineReceipt:
        """Add a release to the board for comparison; it gets no rank. ``secret`` is as in ``submit``."""
        contents = {**release} if secret is None else {**release, "secret": secret}
        return self.post_files(
            schemas.BaselineReceipt, competition_path(slug, "baselines"), contents, texts={"name": name}
        )

    def invite(self, slug: str, *, uses: int = 1) -> str:
        return self.call(schemas.Invite, "POST", competition_path(slug, "invites"), json={"uses": uses}).code

    def extend(self, slug: str, phase: str, *, end: str, move_following: bool = False) -> schemas.Competition:
        path = competition_path(slug, "phases", phase, "extend")
        body = {"end": end, "move_following": move_following}
        return self.call(schemas.Competition, "POST", path, json=body)

    def change_phase(self, slug: str, phase: str, action: str) -> schemas.Competition:
        """Pause or resume a phase; ``action`` is ``pause`` or ``resume``."""
        return self.call(schemas.Competition, "POST", competition_path(slug, "phases", phase, action))

    def reset_round(self, address: str, *, start: str | None = None) -> schemas.Competition:
        """Begin a practice round again, its first phase at ``start`` if it is given."""
        body = {} if start is None else {"start": start}
        return self.call(schemas.Competition, "POST", competition_path(address, "reset"), json=body)

    def list_entrants(self, slug: str) -> list[schemas.Entrant]:
        return self.get_list(schemas.Entrant, competition_path(slug, "teams"))

    def grant(self, slug: str, *, team_id: str, cap: str, amount: int) -> schemas.Grant:
        body = {"team_id": team_id, "cap": cap, "amount": amount}
        return self.call(schemas.Grant, "POST", competition_path(slug, "grants"), json=body)

    def rule_on_submission(self, identifier: str, action: str, *, reason: str = "") -> schemas.Submission:
        """Disqualify or reinstate a submission; ``action`` is ``disqualify`` or ``reinstate``."""
        path, body = f"/submissions/{quote_segment(identifier)}/{action}", {"reason": reason}
        return self.call(schemas.Submission, "POST", path, json=body)

    def reevaluate(self, identifier: str) -> schemas.Submission:
        return self.call(schemas.Submission, "POST", f"/submissions/{quote_segment(identifier)}/rescore")

    def rule_on_team(
        self, slug: str, team_id: str, action: str, *, reason: str = ""
    ) -> schemas.TeamDisqualification:
        return self.call(
            schemas.TeamDisqualification,
            "POST",
            competition_path(slug, "teams", team_id, action),
            json={"reason": reason},
        )

    def announce(self, slug: str, text: Mapping[str, str]) -> schemas.Announcement:
        path = competition_path(slug, "announcements")
        return self.call(schemas.Announcement, "POST", path, json={"text": dict(text)})

    def answer_clarification(
        self, identifier: str, answer: str, *, public: bool = False
    ) -> schemas.Clarification:
        """Answer the question with this id."""
        path = f"/clarifications/{quote_segment(identifier)}/answer"
        body = {"answer": answer, "public": public}
        return self.call(schemas.Clarification, "PUT", path, json=body)

    def list_all_submissions(self, slug: str, **query: str | None) -> list[schemas.Submission]:
        """Return the submissions of all teams, filtered by ``team`` (an id) and ``state``."""
        filters = {name: value for name, value in query.items() if value is not None}
        return self.get_list(schemas.Submission, competition_path(slug, "submissions", "all"), **filters)

    def list_audit_entries(self, slug: str) -> list[schemas.AuditEntry]:
        return self.get_list(schemas.AuditEntry, competition_path(slug, "audit"))

    def get_queue(self, slug: str) -> schemas.Queue:
        return self.get(schemas.Queue, competition_path(slug, "queue"))

    def export(self, slug: str, destination: Path, *, progress: TransferProgress = ignore_progress) -> str:
        """Download everything an organizer may have as one archive; return its SHA-256."""
        return self.download(competition_path(slug, "export.zip"), destination, progress=progress)

    def start_rescore(self, slug: str, file: bytes) -> schemas.RescoreSummary:
        return self.call(
            schemas.RescoreSummary,
            "POST",
            competition_path(slug, "rescores"),
            content=file,
            headers=_TOML_HEADERS,
        )

    def list_rescores(self, slug: str) -> list[schemas.RescoreSummary]:
        return self.get_list(schemas.RescoreSummary, competition_path(slug, "rescores"))

    def get_rescore(self, identifier: str) -> schemas.Rescore:
        return self.get(schemas.Rescore, f"/rescores/{quote_segment(identifier)}")

    def end_rescore(self, identifier: str, action: str) -> schemas.RescoreSummary:
        """Apply or cancel a rescore; ``action`` is ``apply`` or ``cancel``."""
        return self.call(schemas.RescoreSummary, "POST", f"/rescores/{quote_segment(identifier)}/{action}")

    def start_rehearsal(self, slug: str) -> schemas.Rehearsal:
        """Start a rehearsal: sample teams play the competition within an hour."""
        return self.call(schemas.Rehearsal, "POST", competition_path(slug, "rehearsal"))

    def get_rehearsal(self, slug: str) -> schemas.Rehearsal:
        return self.get(schemas.Rehearsal, competition_path(slug, "rehearsal"))

    def end_rehearsal(self, slug: str) -> None:
        """End the rehearsal. Requires the password."""
        self.send("DELETE", competition_path(slug, "rehearsal"))

    def request_threshold_report(self, slug: str, **question: object) -> schemas.ReportSummary:
        """Request a threshold report; the service chooses a default for each parameter that is None."""
        body = {name: value for name, value in question.items() if value is not None}
        return self.call(
            schemas.ReportSummary, "POST", competition_path(slug, "threshold-reports"), json=body
        )

    def wait_for_threshold_report(
        self,
        identifier: str,
        *,
        timeout_s: float,
        max_outage_s: float,
        watch: Callable[[schemas.Report], None] = ignore_state,
    ) -> schemas.Report:
        """Wait until the report is finished or has failed, and return it."""
        return self.poll(
            schemas.Report,
            f"/threshold-reports/{quote_segment(identifier)}",
            lambda report: report.status in {"SCORED", "ERROR", "CANCELLED"},
            timeout_s=timeout_s,
            max_outage_s=max_outage_s,
            watch=watch,
        )

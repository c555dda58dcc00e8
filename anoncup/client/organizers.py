"""API calls for organizers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from anoncup import schemas
from anoncup.client.transport import (
    UPLOAD_TIMEOUT_S,
    ModelT,
    TransferProgress,
    Transport,
    add_secret,
    competition_path,
    ignore_progress,
    ignore_state,
    iter_chunks,
    quote_segment,
)

_TOML_HEADERS = {"Content-Type": "application/toml"}
Ruling: TypeAlias = Literal["disqualify", "reinstate"]


class OrganizerApi(Transport):
    """API calls for the organizers of a competition and for administrators.

    ``slug`` is the address of a competition, or of one of its rounds (``cup.practice``). Times are in ISO
    format with a UTC offset (``2027-01-31T09:00+09:00``).
    """

    def create_competition(self, toml: str) -> schemas.Competition:
        """Create a competition from the text of a competition file."""
        return self.call(
            schemas.Competition, "POST", "/competitions", content=toml.encode(), headers=_TOML_HEADERS
        )

    def get_competition_file(self, slug: str) -> str:
        return self.get_text(competition_path(slug, "competition.toml"))

    def put_competition_file(self, slug: str, toml: str) -> schemas.Competition:
        """Replace the competition file by another text."""
        path = competition_path(slug, "competition.toml")
        return self.call(schemas.Competition, "PUT", path, content=toml.encode(), headers=_TOML_HEADERS)

    def put_original(
        self,
        slug: str,
        content: bytes,
        *,
        filename: str = "original.csv",
        progress: TransferProgress = ignore_progress,
    ) -> schemas.Original:
        """Upload a file of the original data."""
        path = competition_path(slug, "original", filename)
        return self._put_csv(schemas.Original, path, content, progress)

    def put_organizer_data(
        self, slug: str, content: bytes, *, filename: str, progress: TransferProgress = ignore_progress
    ) -> schemas.Competition:
        """Upload a file that only organizers have. The service never returns it."""
        path = competition_path(slug, "truth", filename)
        return self._put_csv(schemas.Competition, path, content, progress)

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
        contents = add_secret(release, secret)
        return self.post_files(
            schemas.BaselineReceipt, competition_path(slug, "baselines"), contents, texts={"name": name}
        )

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

    def pause_phase(self, slug: str, phase: str) -> schemas.Competition:
        """Accept no uploads until the phase is resumed."""
        return self.call(schemas.Competition, "POST", competition_path(slug, "phases", phase, "pause"))

    def resume_phase(self, slug: str, phase: str) -> schemas.Competition:
        return self.call(schemas.Competition, "POST", competition_path(slug, "phases", phase, "resume"))

    def reset_round(self, slug: str, *, start: str | None = None) -> schemas.Competition:
        """Begin a practice round again, its first phase at the time ``start`` if it is given."""
        body = {} if start is None else {"start": start}
        return self.call(schemas.Competition, "POST", competition_path(slug, "reset"), json=body)

    def list_entrants(self, slug: str) -> list[schemas.Entrant]:
        """Return the teams with their members."""
        return self.get_list(schemas.Entrant, competition_path(slug, "teams"))

    def grant_quota(self, slug: str, *, team_id: str, cap: str, amount: int) -> schemas.Grant:
        """Give a team ``amount`` more of a cap, such as ``valid_per_day``."""
        body = {"team_id": team_id, "cap": cap, "amount": amount}
        return self.call(schemas.Grant, "POST", competition_path(slug, "grants"), json=body)

    def rule_on_submission(
        self, submission_id: str, ruling: Ruling, *, reason: str = ""
    ) -> schemas.Submission:
        """Disqualify or reinstate a submission."""
        path = f"/submissions/{quote_segment(submission_id)}/{ruling}"
        return self.call(schemas.Submission, "POST", path, json={"reason": reason})

    def rule_on_team(
        self, slug: str, team_id: str, ruling: Ruling, *, reason: str = ""
    ) -> schemas.TeamDisqualification:
        """Disqualify or reinstate a team."""
        path = competition_path(slug, "teams", team_id, ruling)
        return self.call(schemas.TeamDisqualification, "POST", path, json={"reason": reason})

    def rescore_submission(self, submission_id: str) -> schemas.Submission:
        """Have a submission that ended in ERROR scored once more."""
        return self.call(schemas.Submission, "POST", f"/submissions/{quote_segment(submission_id)}/rescore")

    def post_announcement(self, slug: str, text_by_language: Mapping[str, str]) -> schemas.Announcement:
        """Post an announcement, in English (``en``), Japanese (``ja``) or both."""
        path = competition_path(slug, "announcements")
        return self.call(schemas.Announcement, "POST", path, json={"text": dict(text_by_language)})

    def answer_clarification(
        self, clarification_id: str, answer: str, *, public: bool = False
    ) -> schemas.Clarification:
        """Answer a team's question; everybody can read it if it is ``public``."""
        path = f"/clarifications/{quote_segment(clarification_id)}/answer"
        body = {"answer": answer, "public": public}
        return self.call(schemas.Clarification, "PUT", path, json=body)

    def list_all_submissions(
        self, slug: str, *, team_id: str | None = None, state: str | None = None
    ) -> list[schemas.Submission]:
        """Return the submissions of all teams, or those of one team or in one state."""
        query = {name: value for name, value in (("team", team_id), ("state", state)) if value is not None}
        return self.get_list(schemas.Submission, competition_path(slug, "submissions", "all"), **query)

    def list_audit_entries(self, slug: str) -> list[schemas.AuditEntry]:
        """Return who did what, newest first."""
        return self.get_list(schemas.AuditEntry, competition_path(slug, "audit"))

    def get_queue(self, slug: str) -> schemas.Queue:
        """Return what waits to be scored, and the workers."""
        return self.get(schemas.Queue, competition_path(slug, "queue"))

    def download_export(
        self, slug: str, destination: Path, *, progress: TransferProgress = ignore_progress
    ) -> str:
        """Download everything an organizer may have as one archive; return its SHA-256."""
        return self.download(competition_path(slug, "export.zip"), destination, progress=progress)

    def download_archive(
        self, slug: str, destination: Path, *, progress: TransferProgress = ignore_progress
    ) -> str:
        """Download data and results for publication as one archive; return its SHA-256."""
        return self.download(competition_path(slug, "archive.zip"), destination, progress=progress)

    def start_rescore(self, slug: str, toml: bytes) -> schemas.RescoreSummary:
        """Score all submissions by another competition file; nothing else changes until it is applied."""
        path = competition_path(slug, "rescores")
        return self.call(schemas.RescoreSummary, "POST", path, content=toml, headers=_TOML_HEADERS)

    def list_rescores(self, slug: str) -> list[schemas.RescoreSummary]:
        return self.get_list(schemas.RescoreSummary, competition_path(slug, "rescores"))

    def get_rescore(self, rescore_id: str) -> schemas.Rescore:
        """Return the progress of a rescore and what it would change."""
        return self.get(schemas.Rescore, f"/rescores/{quote_segment(rescore_id)}")

    def end_rescore(self, rescore_id: str, action: Literal["apply", "cancel"]) -> schemas.RescoreSummary:
        """Apply a rescore, so that its rules and scores count, or cancel it."""
        return self.call(schemas.RescoreSummary, "POST", f"/rescores/{quote_segment(rescore_id)}/{action}")

    def request_threshold_report(
        self, slug: str, *, groups: Sequence[str] | None = None, draws: int | None = None
    ) -> schemas.ReportSummary:
        """Request advice on the threshold of the rule against excessive anonymization.

        ``groups`` are columns that a cheat may keep, and ``draws`` the simulated permutations of each type.
        The service has defaults for both.
        """
        body: dict[str, object] = {} if groups is None else {"groups": [*groups]}
        if draws is not None:
            body["draws"] = draws
        return self.call(
            schemas.ReportSummary, "POST", competition_path(slug, "threshold-reports"), json=body
        )

    def wait_for_threshold_report(
        self,
        report_id: str,
        *,
        timeout_s: float,
        max_outage_s: float,
        watch: Callable[[schemas.Report], None] = ignore_state,
    ) -> schemas.Report:
        """Wait until the report is finished or has failed, and return it.

        Raise Unavailable after ``timeout_s``; the service may be unreachable for ``max_outage_s``.
        """
        return self.poll(
            schemas.Report,
            f"/threshold-reports/{quote_segment(report_id)}",
            lambda report: report.status in {"SCORED", "ERROR", "CANCELLED"},
            timeout_s=timeout_s,
            max_outage_s=max_outage_s,
            watch=watch,
        )

"""Schemas of competitions."""

from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import Field, RootModel

from anoncup.schemas.fields import DIGEST, Form, Slug, Title, example, open_enum
from anoncup.schemas.notices import Notice

State = Literal["draft", "upcoming", "anonymization", "settling", "between", "reidentification", "closed"]


class Phase(Form):
    name: Annotated[str, example("anonymization")]
    start: Annotated[datetime, example("2027-01-10T09:00:00+09:00")]
    end: Annotated[datetime, example("2027-01-24T09:00:00+09:00")]


class Round(Form):
    """A round of a competition that has rounds."""

    name: Annotated[str, example("final")]
    address: Annotated[str, example("small-cup.final")]
    """address of the round in paths, instead of the slug"""
    title: Title
    state: Annotated[str, open_enum(*get_args(State)), example("upcoming")]
    phases: list[Phase]
    weight: Annotated[float, example(0.9)]
    """weight of the round in the total"""
    practice: bool
    """whether it is a practice round, which does not count and may be reset"""


class Competition(Form):
    slug: Slug
    address: Annotated[str, example("small-cup")]
    """address of this round in paths; the slug alone is the address of the current round"""
    round: Annotated[str, example("")]
    """name of this round; empty without rounds"""
    rounds: list[Round]
    """all rounds; empty without rounds"""
    title: Title
    description: Annotated[dict[str, str], example({"en": "# Prizes\n\nThe winner gets a book."})]
    """the organizers' text about the contest, in Markdown by language"""
    terms: bool
    """whether the description has terms that people accept when they join"""
    track: Annotated[str, example("microdata")]
    timezone: Annotated[str, example("Asia/Tokyo")]
    state: Annotated[str, open_enum(*get_args(State))]
    """a `draft` is not published, and only its organizers see it; in `settling`, a deadline has passed, and
    uploads that came in time are being scored or prepared, or the notice of an earlier reveal runs"""
    published_at: Annotated[datetime | None, example("2027-01-09T00:00:00Z")]
    """null for a draft"""
    paused: bool
    """whether the open phase accepts no uploads at present"""
    phases: list[Phase]
    reveal_at: Annotated[datetime | None, example("2027-02-08T00:00:00Z")]
    """the time at which the secrets are revealed: the last end or, if it was moved nearer, the end of the
    notice period; null without a second phase"""
    original_rows: Annotated[int | None, example(50)]
    """number of individuals; null until the data are complete"""
    original_sha256: Annotated[dict[str, str], example({"original.csv": DIGEST})]
    """SHA-256 of each uploaded file"""
    original_files: Annotated[list[str], example(["original.csv"])]
    original_examples: Annotated[
        dict[str, list[tuple[str, ...]]], example({"customers.csv": [["customer", "sex"], ["12347", "f"]]})
    ] = Field(default_factory=dict)
    """first lines of an example of each file whose columns the rules fix, at least the header; empty in the
    list of competitions"""
    own_files: Annotated[list[str], example(["members.csv"])]
    """files that the service allocates to each team"""
    seed_commitment: Annotated[str | None, example(DIGEST)]
    """SHA-256 of the seed of the allocation; null without a seed"""
    truth_files: Annotated[list[str], example(["hidden.csv"])]
    """files that only organizers have"""
    truth_commitments: Annotated[dict[str, str], example({"hidden.csv": DIGEST})]
    """SHA-256 of a salt and the file, for each uploaded file of the organizers"""


class UnavailableCompetition(Form):
    """A competition whose file this version of the service cannot read, with all that is known without it."""

    slug: str
    title: dict[str, str]
    track: None = None
    timezone: None = None
    state: Annotated[str, open_enum("unavailable")] = "unavailable"
    paused: bool = False
    phases: tuple[Phase, ...] = ()
    reveal_at: None = None
    original_rows: int | None
    original_sha256: dict[str, str]
    original_files: list[str]
    code: Annotated[str, open_enum("competition_unavailable")] = "competition_unavailable"
    detail: str
    """the reason in a sentence"""


ListedCompetition = Competition | UnavailableCompetition


class CompetitionList(RootModel[list[ListedCompetition]]):
    """All competitions of a service."""


class Original(Competition):
    remarks: Annotated[
        list[Notice],
        example(
            [
                {
                    "code": "read_as_cp932",
                    "message": "original is not UTF-8; it was read as Shift_JIS (CP932)",
                    "values": {"file": "original"},
                }
            ]
        ),
    ]


class PublishReview(Form):
    """The state of a draft: ``missing`` forbids publishing it."""

    missing: Annotated[
        list[Notice],
        example([{"code": "no_threshold", "message": "no threshold is chosen", "values": {}}]),
    ]
    warnings: Annotated[
        list[Notice],
        example(
            [{"code": "no_invites", "message": "nobody can join: there is no open invite", "values": {}}]
        ),
    ]


Files = Annotated[dict[str, str], Field(description="SHA-256 of each file"), example({"members.csv": DIGEST})]


class OwnFiles(Form):
    files: Files
    allocated_at: Annotated[datetime, example("2027-01-10T00:00:01Z")]


class TeamAllocation(Form):
    team: Annotated[str, example("red")]
    """name of the team; empty for all baselines"""
    attempt: Annotated[int, example(0)]
    """number of the draw, from 0; higher if an earlier draw equalled that of another team"""
    files: Files


class AllocationReveal(Form):
    seed: Annotated[str, example(DIGEST)]
    """32 bytes, in hexadecimal"""
    commitment: Annotated[str, example(DIGEST)]
    """SHA-256 of the seed; it was published before the allocation"""
    allocations: list[TeamAllocation]
    """allocations of all teams, in the order in which they were made"""

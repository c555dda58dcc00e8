"""The demo contests: templates of the papers' contests, played by sample teams through the public API.

They run in a process of their own, with timeouts that are long enough for a busy machine.
"""

import json
import logging
import math
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anoncup import client as client_module
from anoncup import schemas
from anoncup.cli.board import select_columns
from anoncup.cli.local_files import check_sizes, load_contest
from anoncup.cli.options import assign_originals, read_text
from anoncup.cli.output import print_table
from anoncup.client import FINAL_STATES, ApiError
from anoncup.competition.drafts import list_changes
from anoncup.competition.parser import CompetitionFile, parse_competition, parse_rounds
from anoncup.competition.templates import template
from anoncup.errors import Conflict, DomainError, InvalidInput
from anoncup.evaluation.attacks import make_guesses, write_guesses
from anoncup.evaluation.scales import compute_usable_scales
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.settings import Phase
from anoncup.rules.toml_text import parse_toml, replace_tables
from anoncup.schemas.fields import Role
from anoncup.tracks.microdata.example import QUASI_IDENTIFIERS, generate_households
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.tables import TransactionTables
from app.competitions.competitions import read_hostable_file
from app.competitions.phases import ANONYMIZATION, REIDENTIFICATION
from app.core.db.transaction import transaction
from app.core.identity import users
from app.operations import supervisor

logger = logging.getLogger(__name__)

ORGANIZER = "demo organizer"
Client = partial(client_module.Client, timeout_s=3600)
_wait_until = partial(supervisor.wait_until, interval_s=0.2)

_ATTACKER_NAMES = ("euc1", "sa_rank", "gower", "sort")
"""Built-in attackers that the teams use in turn. A track that has none of them uses all of its own."""
_END_DELAY = timedelta(seconds=2)
"""Notice of the end of a phase. It doubles as long as the request reaches a busy service too late."""
_NO_NOTICE = "reveal_notice_hours = 0"
"""Whoever tries the demo can end a contest and see its secrets at once."""
_PHASE_LENGTH, _ROUND_LENGTH = timedelta(days=30), timedelta(days=61)
_MethodStep = tuple[str, Mapping[str, object]]
"""A sample method and its parameters."""


@dataclass(frozen=True, slots=True)
class DemoEntry:
    """A team of a demo contest and the sample methods that it applies in sequence."""

    team: str
    steps: tuple[_MethodStep, ...]
    member: str = "member of {team}"


_ROUNDS = """
[[rounds]]
name = "preliminary"
title = { en = "Preliminary", ja = "予選" }
weight = 0.3

[[rounds]]
name = "final"
title = { en = "Final", ja = "本戦" }
weight = 0.7
data = "previous"
"""


@dataclass(frozen=True, slots=True)
class DemoContest:
    """A demo contest: the template of a year with generated data.

    ``threshold`` lies between the distances of the honest releases and those of the cheat.
    ``uncounted_attackers`` know more than this contest assumes, so they are reported without counting. In a
    contest that ``has_attack_phase``, every team attacks the releases of the others. A contest that
    ``has_final`` has two rounds: the one that is played, and a final on the same data that begins later.
    """

    slug: str
    year: int
    titles: tuple[str, str]
    tables: Callable[[], pd.DataFrame | TransactionTables]
    threshold: float
    entries: tuple[DemoEntry, ...]
    uncounted_attackers: tuple[str, ...] = ()
    has_attack_phase: bool = False
    has_final: bool = False


def _unify_last_columns(count: int) -> _MethodStep:
    """Return a step that gives each of the last few quasi-identifiers a single value."""
    return "unify_columns", {"columns": QUASI_IDENTIFIERS[-count:]}


DEMO_CONTESTS = (
    DemoContest(
        slug="demo",
        year=2015,
        titles=("Demo cup: households", "デモ杯：家計"),
        tables=lambda: generate_households(seed=2015),
        threshold=0.2,
        entries=(
            DemoEntry("Team K", (("k_anonymize", {"k": 5}), ("microaggregate", {}))),
            DemoEntry("ノイズ工房", (_unify_last_columns(5), ("add_noise", {"strength": 1.0}))),
            DemoEntry("Crossed out", (_unify_last_columns(2), ("microaggregate", {}))),
            DemoEntry("Off the books", (_unify_last_columns(7), ("microaggregate", {}))),
            DemoEntry("平均の会", (("microaggregate", {}),)),
            DemoEntry("Swap & Sons", (_unify_last_columns(3), ("swap_within_classes", {}))),
            DemoEntry("Less is more", (("delete_rows", {"share": 0.01}),)),
            DemoEntry("Yamaoka tribute", (("cheating_permutation", {}),)),
        ),
        has_final=True,
    ),
    DemoContest(
        slug="demo-shop",
        year=2016,
        titles=("Demo cup: purchases", "デモ杯：購買履歴"),
        tables=load_tc400,
        threshold=0.65,
        uncounted_attackers=(
            "master_match",
            "receipt_match",
            "record_keys",
            "jaccard_quantity",
            "jaccard_quantity_assignment",
        ),
        entries=(
            DemoEntry("Basket weavers", (("balance_clusters", {"clusters": 100, "smallest": 3}),)),
            DemoEntry("五十の束", (("cluster_tfidf", {"clusters": 50}),)),
            DemoEntry("Shared carts", (("cluster_tfidf", {"clusters": 200}),)),
            DemoEntry("Lost receipts", (("delete_records", {"share": 0.01}),)),
            DemoEntry("Neighbours", (("group_permutation", {}),)),
        ),
    ),
    DemoContest(
        slug="demo-duel",
        year=2015,
        titles=("Demo cup: attack!", "デモ杯：攻撃フェーズ"),
        tables=lambda: generate_households(400, seed=2016),
        threshold=0.2,
        entries=(
            DemoEntry("Red herrings", (("k_anonymize", {"k": 3}), ("microaggregate", {}))),
            DemoEntry("雑音団", (("add_noise", {}),)),
            DemoEntry("Mean machine", (_unify_last_columns(7), ("microaggregate", {}))),
            DemoEntry("Shell game", (_unify_last_columns(3), ("swap_within_classes", {}))),
        ),
        has_attack_phase=True,
    ),
)


@dataclass(frozen=True, slots=True)
class PlayedContest:
    """A contest that sample teams play: its file, its original data and its entries.

    ``rules`` and ``original`` are those of the round that is played. ``is_own``: an organizer's contest.
    """

    file: str
    rules: Rules
    original: HasRows
    contents: Mapping[str, bytes]
    entries: Sequence[DemoEntry]
    has_attack_phase: bool
    is_own: bool = False

    @property
    def slug(self) -> str:
        return self.rules.slug

    @property
    def track(self) -> AnyTrack:
        return TRACKS[self.rules.track]


def prepare(demo: DemoContest) -> PlayedContest:
    """Return a demo contest as it is played."""
    file, tables = _build_competition_file(demo), demo.tables()
    rules = next(iter(parse_rounds(file).values()))
    track = TRACKS[rules.track]
    contents = dict(zip(track.original_file_names, track.files_of(tables).values(), strict=True))
    return PlayedContest(
        file, rules, _parse_original(contents, rules), contents, demo.entries, demo.has_attack_phase
    )


def _parse_original(contents: Mapping[str, bytes], rules: Rules) -> HasRows:
    original: HasRows = TRACKS[rules.track].parse_original(contents, rules)[0]
    return original


def load_own_contest(competition: Path, original: Sequence[str]) -> PlayedContest:
    """Read the contest; raise InvalidCompetition, InvalidInput or InvalidUpload if it cannot be played.

    Each sample method of the track is a team. Of several rounds the first one is played.
    """
    file = read_hostable_file(read_text(competition))
    contest = load_contest(competition, list(original), next(iter(file.rounds)) or None)
    check_sizes(contest, assign_originals(contest.track, original).values())
    compute_usable_scales(contest.rules, contest.track, contest.original)
    if contest.rules.excessive and contest.rules.threshold is None:
        raise InvalidInput(
            "no threshold is chosen: write threshold = … below [excessive] in {file}",
            code="no_threshold",
            file=competition.name,
        )
    _require_no_organizer_files(contest.track, contest.rules)
    has_attack_phase = not contest.rules.phases or contest.rules.phase("reidentification") is not None
    return PlayedContest(
        _open_now(file.text, phase_count=2 if has_attack_phase else 1),
        contest.rules,
        contest.original,
        contest.contents,
        [
            DemoEntry(method, ((method, {}),), member=f"{method} in {contest.rules.slug}")
            for method in contest.track.methods
        ],
        has_attack_phase,
        is_own=True,
    )


def _require_no_organizer_files(track: AnyTrack, rules: Rules) -> None:
    files = track.allocation.select_organizer_files(rules) if track.allocation else ()
    if files:
        raise InvalidInput(
            "the demo plays no contest with files that only organizers have: {names}",
            code="files",
            names=tuple(f"{file.name}.csv" for file in files),
        )


def play(url: str, data_folder: Path, contests: Sequence[PlayedContest]) -> None:
    """Play the contests to the end and print their boards. Continues an interrupted earlier run."""
    demo_accounts = DemoAccounts(data_folder / "demo.json")
    logger.info("creating accounts")
    organizer = _get_organizer(url, demo_accounts, contests)
    for contest_number, contest in enumerate(contests):
        logger.info("creating the competition %s", contest.slug)
        with Client(url, organizer["token"], password=lambda: organizer["password"]) as client:
            _create_contest(client, contest)
            if client.get_competition(contest.slug).state == "draft":
                client.publish_competition(contest.slug)
            invite = client.create_invite(contest.slug, uses=len(contest.entries))
        for entry_number, entry in enumerate(contest.entries):
            logger.info("sending release %d of %d", entry_number + 1, len(contest.entries))
            rng = np.random.default_rng([contest_number, entry_number])
            _submit_entry(url, demo_accounts, invite, contest, entry, rng=rng)
    for contest in contests:
        _finish_contest(url, contest, demo_accounts, organizer)
    print(f"Sign in as “{ORGANIZER}” to see every contest as its organizer.")
    print(f"The passwords and tokens of all accounts, and their contests: {demo_accounts.path}")


def _finish_contest(
    url: str, contest: PlayedContest, demo_accounts: "DemoAccounts", organizer: dict[str, Any]
) -> None:
    """Wait for the scores, play the attack phase if there is one, and print the boards."""
    team_accounts = {
        entry.team: demo_accounts.get_team_account(contest.slug, entry) for entry in contest.entries
    }
    outcomes = {}
    for index, (team, account) in enumerate(team_accounts.items()):
        outcomes[team] = _wait_for_outcome(url, account["token"], contest.slug)
        logger.info("%s: scored %d of %d", contest.slug, index + 1, len(contest.entries))
    if contest.has_attack_phase:
        tokens = [account["token"] for account in team_accounts.values()]
        _play_attacks(url, contest.slug, organizer=organizer, tokens=tokens)
    with Client(url, organizer["token"]) as client:
        board = client.get_board(contest.slug)
        title = board.title.get("en") or board.title["ja"]
        print(f"{board.competition}: {title} (0 is best)")
        accounts = {
            "ended as": lambda row: outcomes.get(row.team),
            "sign in as": lambda row: team_accounts[row.team]["name"],
        }
        print_table(board.rows, {**select_columns(schemas.BoardRow.COLUMNS), **accounts})
        if contest.has_attack_phase:
            attackers = client.get_attackers_board(contest.slug)
            print(f"{attackers.competition}: {title}")
            ranked = [row for row in attackers.rows if row.rank is not None]
            print_table(ranked, select_columns(attackers.columns))


class DemoAccounts:
    """The accounts of the demo, saved for later runs in a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        saved = json.loads(path.read_text())["accounts"] if path.exists() else []
        self.accounts: dict[str, dict[str, Any]] = {account["name"]: account for account in saved}

    def get_team_account(self, slug: str, entry: DemoEntry) -> dict[str, Any]:
        name = entry.member.format(team=entry.team)
        return self.get_or_add(name, role="team member", slugs=[slug], team=entry.team)

    def get_or_add(
        self, name: str, *, role: str, slugs: Sequence[str], team: str | None = None
    ) -> dict[str, Any]:
        """Return an account, which now belongs to these contests, too; its token is empty until it exists."""
        new: dict[str, Any] = {"name": name, "role": role, "competitions": [], "team": team}
        new |= {"password": secrets.token_urlsafe(12), "token": ""}
        account = self.accounts.setdefault(name, new)
        account["competitions"] = list(dict.fromkeys((*account["competitions"], *slugs)))
        self.save()
        return account

    def save(self) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump({"accounts": [*self.accounts.values()]}, file, indent=2, ensure_ascii=False)


def _get_organizer(
    url: str, demo_accounts: DemoAccounts, contests: Sequence[PlayedContest]
) -> dict[str, Any]:
    """Return the organizer's account; create it if it is missing, in the database itself."""
    slugs = [contest.slug for contest in contests]
    account = demo_accounts.get_or_add(ORGANIZER, role="organizer", slugs=slugs)
    if not account["token"]:
        with transaction() as session:
            users.create_user(session, name=ORGANIZER, password=account["password"], role=Role.ORGANIZER)
        with Client(url) as client:
            account["token"] = client.create_token(ORGANIZER, account["password"])
    demo_accounts.save()
    return account


def _create_contest(client: client_module.Client, contest: PlayedContest) -> None:
    """Create the competition and upload its data, unless an earlier run has done so."""
    if contest.slug not in {competition.slug for competition in client.list_competitions()}:
        client.create_competition(contest.file)
    if client.get_competition(contest.slug).original_rows is None:
        for name, content in contest.contents.items():
            client.put_original(contest.slug, content, filename=f"{name}.csv")
    if contest.is_own:
        _require_same_contest(client, contest)
    _wait_for_drawn_files(client, contest)


def _wait_for_drawn_files(client: client_module.Client, contest: PlayedContest) -> None:
    """Wait until the clock has drawn the files that all teams get, without which no release is accepted."""
    allocation = contest.track.allocation
    if allocation is None or allocation.per_team:
        return
    names = {f"{file.name}.csv" for file in allocation.files}
    _wait_until(
        lambda: names <= client.get_competition(contest.slug).original_sha256.keys(),
        "the files that the service draws",
    )


def _require_same_contest(client: client_module.Client, contest: PlayedContest) -> None:
    """Raise Conflict if an earlier run has played other rules or data at this address."""
    stored = parse_toml(client.get_competition_file(contest.slug))
    changes = list_changes(stored, parse_toml(contest.file))
    digests = {f"{name}.csv": sha256(content).hexdigest() for name, content in contest.contents.items()}
    is_same_data = digests.items() <= client.get_competition(contest.slug).original_sha256.items()
    if not is_same_data or any("phases" not in change.key for change in changes):
        raise Conflict(
            "the data folder has a contest {slug} with other rules or data: give another folder with --data",
            code="slug_taken",
            slug=contest.slug,
        )


def _build_competition_file(demo: DemoContest) -> str:
    """Return the template of the year with what differs in the demo, and with phases that begin now."""
    text = template(demo.year)
    rules = parse_competition(text)
    text = text.replace(f'slug = "{rules.slug}"', f'slug = "{demo.slug}"')
    text = text.replace("reveal_notice_hours = 24", _NO_NOTICE)
    for language, title in zip(("en", "ja"), demo.titles, strict=True):
        text = text.replace(rules.title[language], title)
    distance = rules.required_excessive.distance
    text = replace_tables(
        text, "excessive", f'[excessive]\ndistance = "{distance}"\nthreshold = {demo.threshold!r}'
    )
    text += "".join(f"\n[attackers.{name}]\ncounts = false\n" for name in demo.uncounted_attackers)
    if demo.has_attack_phase:
        text = replace_tables(text, "publication", f'[publication]\nfeedback = "immediate"\n{_NO_NOTICE}')
    if demo.has_final:
        text = replace_tables(replace_tables(text, "phases", ""), "format", "")
        text = f"format = 2\n{text.lstrip()}{_ROUNDS}"
    return _open_now(text)


def _open_now(text: str, *, phase_count: int = 2) -> str:
    """Return the file with phases of thirty days in each round, one or two; they begin now."""
    now = datetime.now(UTC).replace(microsecond=0)
    for index, name in enumerate(CompetitionFile(text).rounds):
        start = now + index * _ROUND_LENGTH
        middle = start + _PHASE_LENGTH
        first = Phase(ANONYMIZATION, start, middle)
        second = Phase(REIDENTIFICATION, middle, middle + _PHASE_LENGTH)
        text = replace_round_phases(text, name, [first, second][:phase_count])
    return text


def _submit_entry(
    url: str,
    demo_accounts: DemoAccounts,
    invite: str,
    contest: PlayedContest,
    entry: DemoEntry,
    *,
    rng: np.random.Generator,
) -> None:
    """Sign the team up and submit its release, unless an earlier run has done so.

    A method that does not suit an organizer's own data leaves its team without a release.
    """
    account = demo_accounts.get_team_account(contest.slug, entry)
    if not account["token"]:
        with Client(url) as client:
            account["token"] = client.sign_up(
                invite=invite,
                team=entry.team,
                name=account["name"],
                password=account["password"],
                accept_terms=True,
            )
        demo_accounts.save()
    with Client(url, account["token"]) as client:
        if client.list_submissions(contest.slug):
            return
        allocation = (
            {"answer": _load_allocated_answer(client, contest)} if contest.track.allocates_answer else {}
        )
        try:
            release, secret = _build_release(entry, contest, rng, **allocation)
        except DomainError as problem:
            logger.warning("%s: %s sends no release: %s", contest.slug, entry.team, problem)
            return
        client.submit(
            contest.slug,
            contest.track.files_of(release),
            secret=None if allocation else contest.track.answer_spec.write(secret),
            comment=", then ".join(
                f"{method} {dict(parameters) or ''}".strip() for method, parameters in entry.steps
            ),
        )


def _load_allocated_answer(client: client_module.Client, contest: PlayedContest) -> object:
    """Wait until the clock has allocated the team's own data, and return its answer."""
    file = f"{contest.track.answer_spec.file.name}.csv"

    def is_allocated() -> bool:
        try:
            return file in client.get_own_data(contest.slug).files
        except ApiError as error:
            if error.status != 409:
                raise
            return False

    _wait_until(is_allocated, "the team's own data")
    content = client.send("GET", f"/competitions/{contest.slug}/own/{file}").content
    return contest.track.read_allocated_answer(content, contest.original, contest.rules)


def _build_release(
    entry: DemoEntry, contest: PlayedContest, rng: np.random.Generator, **allocation: object
) -> tuple[Any, Any]:
    """Apply the team's methods in sequence and shuffle the rows; return the release and its answer.

    ``allocation`` has the answer that the service has allocated to the team, if it does so in this track.
    """
    track, rules = contest.track, contest.rules
    (method, parameters), *further_steps = entry.steps
    release, source_index = track.anonymize(
        track.methods[method], contest.original, rules, rng, parameters, **allocation
    )
    for method, parameters in further_steps:
        contents = dict(zip(track.original_file_names, track.files_of(release).values(), strict=True))
        release, source_of_row = track.anonymize(
            track.methods[method], _parse_original(contents, rules), rules, rng, parameters
        )
        source_index = source_index[source_of_row]
    return track.shuffle(release, source_index, rng=rng)


def _wait_for_outcome(url: str, token: str, slug: str) -> str:
    """Wait for the team's latest submission, if there is one; return its status and violations."""
    with Client(url, token) as client:
        submissions = client.list_submissions(slug)
        if not submissions:
            return "no release"
        submission = client.wait_for_submission(
            str(submissions[0].id), timeout_s=math.inf, max_outage_s=math.inf
        )
    reasons = [violation.code for violation in submission.result.violations] if submission.result else []
    return ": ".join([submission.status, *reasons])


def _play_attacks(url: str, slug: str, *, organizer: dict[str, Any], tokens: Sequence[str]) -> None:
    """End the first phase, let every team attack every other target once, and wait for the scores."""
    with Client(url, organizer["token"], password=lambda: organizer["password"]) as client:
        end_first_phase(client, slug)
        round_address = client.get_competition(slug).address
        rules = parse_competition(client.get_competition_file(round_address))
        contents = {  # with the files that the service has drawn
            file.removesuffix(".csv"): client.send("GET", f"/competitions/{slug}/original/{file}").content
            for file in client.get_competition(slug).original_sha256
        }
        original = _parse_original(contents, rules)
    for number, token in enumerate(tokens):
        logger.info("%s: team %d of %d attacks the others", slug, number + 1, len(tokens))
        with Client(url, token) as client:
            _attack(client, slug, rules, original, np.random.default_rng(number))
    for number, token in enumerate(tokens):
        with Client(url, token) as client:
            _wait_until(
                lambda: {guess.status for guess in client.list_guesses(slug)} <= FINAL_STATES, "scores"
            )
        logger.info("%s: judged the guesses of %d of %d", slug, number + 1, len(tokens))


def end_first_phase(client: client_module.Client, slug: str) -> None:
    """End the first phase, unless it has ended, and wait for the second one."""
    delay = _END_DELAY
    while client.get_competition(slug).state == "anonymization":
        logger.info("%s: ending the first phase", slug)
        try:
            end = (datetime.now(UTC) + delay).isoformat()
            client.extend_phase(slug, "anonymization", end=end, move_following=True)
            break
        except ApiError as error:
            if error.code != "end_passed":
                raise
            delay *= 2
    _wait_until(lambda: client.get_competition(slug).state == "reidentification", "the second phase")


def _attack(
    client: client_module.Client, slug: str, rules: Rules, original: HasRows, rng: np.random.Generator
) -> None:
    """Submit one guess on each target of another team that this team has not attacked yet."""
    attacked = {guess.target for guess in client.list_guesses(slug)}
    track = TRACKS[rules.track]
    names = [name for name in _ATTACKER_NAMES if name in track.attackers] or list(track.attackers)
    attacker_names = cycle(names)
    for target in client.list_targets(slug):
        if target.own or target.name in attacked:
            continue
        contents = {
            file.removesuffix(".csv"): client.get_text(f"/targets/{target.id}/data/{file}").encode()
            for file in target.files
        }
        attack_target = track.parse_target(contents, original, rules)
        files = _make_guess_files(islice(attacker_names, len(names)), attack_target, track, rules, rng)
        for question, guess in files.items():
            client.send_guess(str(target.id), guess, question=question)


def _make_guess_files(
    names: Iterable[str], target: object, track: AnyTrack, rules: Rules, rng: np.random.Generator
) -> dict[str, bytes]:
    """Return the guesses of the first attacker that makes some that a team could send, by question."""
    for name in names:
        guesses = make_guesses(track.attackers[name], target, track=track, rules=rules)
        if files := write_guesses(guesses, track=track, rng=rng):
            return files
    return {}

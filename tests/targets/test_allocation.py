"""Allocation from a committed seed: once per team or for all, visible to its team only, and reproducible."""

import hashlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

import workers.allocate
from anoncup.competition.parser import parse_competition
from anoncup.errors import Conflict
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.capabilities import Allocation, AllocationContext
from anoncup.tracks.files import FileSpec
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.linkage.permutation import parse_secret
from anoncup.tracks.microdata.release import MicrodataOriginal
from app.config import Settings, get_settings
from app.core.db.models import Round, Team
from app.core.db.transaction import transaction
from app.core.storage import get_store
from app.originals import allocated_files as data_draws
from app.originals.models import AllocatedFiles
from app.targets import allocation
from tests.support.allocated_contest import (
    COMPETITION_PATH,
    create_contest,
    get_team_file,
    load_allocations,
    load_audit_entries,
    submit_release,
    upload_organizer_file,
)
from tests.support.allocation_track import (
    ASSIGNED_ALLOCATION,
    SHARED_ALLOCATION,
    TEAM_ALLOCATION,
    allocate_order,
    build_label_file,
    make_rotation_allocator,
)
from tests.support.arena import ROWS
from tests.support.contest import (
    Contest,
    build_two_phase_toml,
    judge_everything,
    load_round,
    load_round_id,
    run_clock,
)
from tests.support.database_rows import load_one
from tests.support.page_requests import get_page, post_form
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Contest:
    """A contest whose track allocates the teams' answers from labels uploaded by the organizers."""
    opened_contest = create_contest(client, monkeypatch, TEAM_ALLOCATION)
    assert upload_organizer_file(opened_contest.arena).status_code == 200
    return opened_contest


def test_each_team_gets_its_own_files_even_if_it_joins_later(contest: Contest) -> None:
    contest.arena.get_team_token("red")
    assert get_team_file(contest.arena, "red").json()["code"] == "not_drawn_yet"
    run_clock()
    first_answer = get_team_file(contest.arena, "red").json()
    contest.arena.get_team_token("blue")
    run_clock()
    assert get_team_file(contest.arena, "red").json() == first_answer
    assert list(load_allocations()) == ["", "red", "blue"]
    assert len({str(allocated_row.files) for allocated_row in load_allocations().values()}) == 3
    for team in ("red", "blue"):
        secret, labels = (
            get_team_file(contest.arena, team, f"{name}.csv").content for name in ("secret", "labels")
        )
        order = parse_secret(secret, original_count=ROWS, anonymized_count=ROWS)
        assert labels.decode().splitlines() == [f"label {row}" for row in order]
        files = get_team_file(contest.arena, team).json()["files"]
        assert files == {
            "secret.csv": hashlib.sha256(secret).hexdigest(),
            "labels.csv": hashlib.sha256(labels).hexdigest(),
        }
    assert [entry.after for entry in load_audit_entries("own.draw")] == [
        {"team": team, "attempt": 0} for team in ("", "red", "blue")
    ]


def test_team_with_files_of_its_own_stays_without_members(contest: Contest) -> None:
    """What its last member has seen must not be drawn for another team."""
    token = contest.arena.get_team_token("red")
    run_clock()
    own = contest.arena.get("/me", token=token).json()["user_id"]
    path = f"{COMPETITION_PATH}/team/members/{own}"
    assert contest.arena.call("DELETE", path, token=token).status_code == 204
    (team,) = contest.arena.get(f"{COMPETITION_PATH}/teams").json()
    assert (team["name"], team["members"]) == ("red", [])
    assert "red" in load_allocations()


def test_files_of_another_round_do_not_count(contest: Contest) -> None:
    contest.arena.get_team_token("red")
    run_clock()
    round_ = load_round()
    with transaction() as session:
        other_round = Round(competition_id=round_.competition_id, name="final", scales={}, original={})
        session.add(other_round)
        session.flush()
        is_red = AllocatedFiles.team == "red"
        session.execute(update(AllocatedFiles).where(is_red).values(round_id=other_round.id))
        pending = allocation.load_request(session, round_.id)
        assert pending is not None
        assert pending.allocation_inputs.team == "red"
        red_team = session.scalars(select(Team)).one()
        with pytest.raises(Conflict):
            data_draws.require_allocated(session, session.get_one(Round, round_.id), red_team)


def test_allocation_needs_the_first_phase_and_organizer_data(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create_contest(client, monkeypatch, TEAM_ALLOCATION)
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 4))
    reasons = [get_team_file(contest.arena, "red").json()]
    contest.move_phases(anonymization=(-1, 2))
    run_clock()
    reasons.append(get_team_file(contest.arena, "red").json())
    upload_organizer_file(contest.arena)
    reasons.append(get_team_file(contest.arena, "red").json())
    assert [(reason["code"], reason["detail"]) for reason in reasons] == [
        ("not_drawn_yet", data_draws.PHASE_NOT_BEGUN),
        ("not_drawn_yet", data_draws.FILES_MISSING),
        ("not_drawn_yet", data_draws.NOT_READY),
    ]
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 4))
    run_clock()
    assert load_allocations() == {}
    contest.move_phases(anonymization=(-1, 2))
    run_clock()
    assert set(load_allocations()) == {"", "red"}


def test_team_that_joins_too_late_is_told_that_it_gets_no_files(contest: Contest) -> None:
    contest.arena.get_team_token("red")
    run_clock()
    contest.start_pause()
    late_response = get_team_file(contest.arena, "late")
    assert (late_response.status_code, late_response.json()["code"]) == (409, "drawing_over")


def test_inputs_cannot_be_replaced_after_an_allocation(contest: Contest) -> None:
    arena = contest.arena
    assert upload_organizer_file(arena).status_code == 200
    run_clock()
    for response in (
        upload_organizer_file(arena),
        arena.put(f"{COMPETITION_PATH}/original/original.csv", content=write_csv(arena.table.iloc[::-1])),
        arena.put(
            f"{COMPETITION_PATH}/competition.toml", content=build_two_phase_toml().replace('"rent"]', "]")
        ),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "drawn_already"), response.text
    other_change = arena.put(
        f"{COMPETITION_PATH}/competition.toml",
        content=build_two_phase_toml(extra_toml="[limits]\nfile_mb = 3\n"),
    )
    assert other_change.status_code == 200


def test_file_that_assigns_data_can_be_replaced_if_teams_keep_theirs(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create_contest(client, monkeypatch, ASSIGNED_ALLOCATION)
    register = b"team,shift\n,0\nred,1\n"
    assert upload_organizer_file(contest.arena, register).status_code == 200
    for team in ("red", "late"):
        contest.arena.get_team_token(team)
    run_clock()
    before = {team: allocated.files for team, allocated in load_allocations().items()}
    assert before["late"] == {}
    for changed, owner in (
        (register.replace(b"red,1", b"red,2"), "red"),
        (register.replace(b",0", b",3"), "the baselines"),
    ):
        refusal = upload_organizer_file(contest.arena, changed)
        assert (refusal.status_code, refusal.json()["code"]) == (409, "drawn_already")
        assert refusal.json()["detail"] == f"the data of {owner} would change, which has them already"
    form, page = f"{COMPETITION_PATH}/organize/truth/hidden.csv", f"{COMPETITION_PATH}/organize/data"
    assert f'action="{form}"' in get_page(contest.arena, page, organizer=True).text
    files = {"table": ("hidden.csv", register + b"late,4\n")}
    assert post_form(contest.arena, form, files=files, organizer=True).status_code == 303
    run_clock()
    after = {team: allocated.files for team, allocated in load_allocations().items()}
    assert after.pop("late")
    assert after == {team: digests for team, digests in before.items() if team != "late"}
    contest.start_pause()
    assert upload_organizer_file(contest.arena, register).json()["code"] == "drawn_already"
    assert f'action="{form}"' not in get_page(contest.arena, page, organizer=True).text


def test_replacing_the_original_discards_the_organizer_data(contest: Contest) -> None:
    arena = contest.arena
    assert list(arena.get(COMPETITION_PATH).json()["truth_commitments"]) == ["hidden.csv"]
    longer_table = arena.table.iloc[[0, *range(ROWS)]]
    response = arena.put(f"{COMPETITION_PATH}/original/original.csv", content=write_csv(longer_table))
    assert response.json()["truth_commitments"] == {}
    run_clock()
    assert load_allocations() == {}
    assert upload_organizer_file(arena).json()["errors"][0]["code"] == "rows"
    assert upload_organizer_file(arena, build_label_file(ROWS + 1)).status_code == 200
    run_clock()
    assert set(load_allocations()) == {""}


def test_teams_and_organizers_are_told_if_no_allocation_is_left(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.allocate, "MAX_ATTEMPTS", 60)
    allocation_rule = Allocation(
        files=(FileSpec("secret"),), per_team=True, make_files=make_rotation_allocator(2)
    )
    contest = create_contest(client, monkeypatch, allocation_rule)
    for team in ("red", "blue", "green", "black"):
        contest.arena.get_team_token(team)
    run_clock()
    allocations = load_allocations()
    assert {team: bool(row.files) for team, row in allocations.items()} == {
        "": True, "red": True, "blue": True, "green": False, "black": False
    }  # fmt: skip
    assert [entry.after["team"] for entry in load_audit_entries("own.exhausted")] == ["green", "black"]  # type: ignore[index]
    with transaction() as session:
        assert allocation.load_request(session, load_round_id()) is None
    submit_response = contest.arena.post(
        f"{COMPETITION_PATH}/submissions",
        team="green",
        files={"anonymized": ("a.csv", b"")},
    )
    for response in (
        get_team_file(contest.arena, "green"),
        get_team_file(contest.arena, "green", "secret.csv"),
        submit_response,
    ):
        assert (response.status_code, response.json()["code"]) == (409, "no_allocation_left")
    organizer_page = get_page(contest.arena, f"{COMPETITION_PATH}/organize", organizer=True)
    assert translate("duty_unallocated", n=2) in unescape(organizer_page.text)
    run_clock()
    assert len(load_audit_entries("own.exhausted")) == 2


def test_teams_share_allocations_if_the_competition_allows_it(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotation = make_rotation_allocator(2)
    allocation_rule = Allocation(
        files=(FileSpec("secret"),), per_team=True, make_files=rotation, allows_shared=lambda _: True
    )
    contest = create_contest(client, monkeypatch, allocation_rule)
    teams = [f"team {number}" for number in range(4)]
    for team in teams:
        contest.arena.get_team_token(team)
    run_clock()
    counts = Counter(row.files["secret"] for row in load_allocations().values())
    assert (sum(counts.values()), len(counts)) == (5, 2) or len(counts) == 1
    assert {row.attempt for row in load_allocations().values()} == {0}


def test_concurrent_clocks_allocate_once(contest: Contest) -> None:
    for team in ("red", "blue"):
        contest.arena.get_team_token(team)
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(run_clock) for _ in range(8)]:
            future.result()
    assert len(load_audit_entries("seed.commit")) == 1
    assert [entry.after["team"] for entry in load_audit_entries("own.draw")] == ["", "red", "blue"]  # type: ignore[index]


def test_allocation_of_replaced_data_is_discarded(contest: Contest) -> None:
    """An allocation that was computed from replaced data is not recorded."""
    contest.arena.get_team_token("red")
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 4))
    run_clock()  # commits the seed before anything is allocated
    contest.move_phases(anonymization=(-1, 2))
    with transaction() as session:
        pending = allocation.load_request(session, load_round_id())
    assert pending is not None
    assert (
        upload_organizer_file(
            contest.arena, build_label_file(ROWS).replace(b"label 3\n", b"other 3\n")
        ).status_code
        == 200
    )
    with transaction() as session:
        assert allocation.record_allocation(session, pending, {"secret": "0" * 64}, 0, allow_repeats=False)
    assert load_allocations() == {}
    run_clock()
    assert b"other 3" in get_team_file(contest.arena, "red", "labels.csv").content


def test_allocations_can_be_reproduced_after_the_reveal(contest: Contest) -> None:
    arena = contest.arena
    for team in ("red", "blue"):
        arena.get_team_token(team)
    run_clock()
    submission_id = submit_release(contest, "red").json()["id"]
    score_everything()
    secrets = {team: get_team_file(arena, team, "secret.csv").content for team in ("red", "blue")}
    contest.open_attacks()
    for response in (
        arena.client.get(f"/api/v1{COMPETITION_PATH}/allocations"),
        arena.get(f"{COMPETITION_PATH}/allocations"),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "not_revealed_yet")
    description = arena.get(COMPETITION_PATH).json()
    assert description["own_files"] == ["secret.csv", "labels.csv"]
    assert description["truth_files"] == ["hidden.csv"]
    contest.close_attacks()
    published_allocations = arena.client.get(f"/api/v1{COMPETITION_PATH}/allocations").json()
    assert (
        published_allocations["commitment"]
        == hashlib.sha256(bytes.fromhex(published_allocations["seed"])).hexdigest()
    )
    assert published_allocations["commitment"] == description["seed_commitment"]
    assert [allocation_row["team"] for allocation_row in published_allocations["allocations"]] == [
        "",
        "red",
        "blue",
    ]
    for allocation_row in published_allocations["allocations"]:
        context = AllocationContext(
            parse_competition(load_round().file),
            {"hidden": build_label_file(ROWS)},
            lambda purpose, allocation_row=allocation_row: derive_generator(  # type: ignore[misc]
                bytes.fromhex(published_allocations["seed"]),
                purpose,
                allocation_row["team"],
                allocation_row["attempt"],
            ),
        )
        files = allocate_order(MicrodataOriginal(arena.table, Columns((), ())), context)
        digests = {f"{name}.csv": hashlib.sha256(files[name]).hexdigest() for name in ("secret", "labels")}
        assert digests == allocation_row["files"]
        if allocation_row["team"]:
            assert files["secret"] == secrets[allocation_row["team"]]
    (revealed_target,) = arena.client.get(f"/api/v1{COMPETITION_PATH}/reveal").json()
    assert revealed_target["submission_id"] == submission_id
    assert revealed_target["secret_sha256"] == hashlib.sha256(secrets["red"]).hexdigest()


def test_only_a_teams_members_can_read_its_files(
    contest: Contest, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    arena = contest.arena
    for team in ("red", "blue"):
        arena.get_team_token(team)
    run_clock()
    secrets = {team: get_team_file(arena, team, "secret.csv").content for team in ("red", "blue")}
    assert secrets["red"] != secrets["blue"]
    for path in ("own", "own/secret.csv"):
        assert arena.get(f"{COMPETITION_PATH}/{path}").status_code == 403  # an organizer
    for path in ("export.zip", "kit.zip", "audit", "teams"):
        content = arena.get(f"{COMPETITION_PATH}/{path}").content
        assert b"label 3" not in content
    log_text = "".join(capfd.readouterr()) + caplog.text
    assert "own.draw" in log_text
    for line in secrets["red"].decode().splitlines()[1:4]:
        assert f"\n{line}\n" not in log_text
    assert "label 3" not in log_text


def test_all_baselines_share_one_allocation(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    arena, path = contest.arena, "/competitions/small/organize/baselines"
    fields = {"name": "untouched", "method": next(iter(TRACKS["microdata"].methods))}
    received_answers: list[Any] = []

    def anonymize(_: Any, original: Any, *__: Any, answer: Any) -> Any:
        received_answers.append(answer)
        return original.table.iloc[answer].reset_index(drop=True), answer

    monkeypatch.setitem(
        TRACKS, "microdata", replace(TRACKS["microdata"], anonymize=anonymize, shuffle_rows=keep_order)
    )
    early_response = post_form(arena, path, fields, organizer=True)
    assert early_response.status_code == 409
    run_clock()
    assert post_form(arena, path, fields, organizer=True).status_code == 303
    score_everything()
    (order,) = received_answers
    allocated_files = load_one(select(AllocatedFiles.files).where(AllocatedFiles.team == ""))
    secret = get_store().get(allocated_files["secret"])
    assert order.tolist() == parse_secret(secret, original_count=ROWS, anonymized_count=ROWS).tolist()
    (submission,) = arena.get(f"{COMPETITION_PATH}/submissions/all").json()
    assert (submission["team"], submission["status"]) == ("untouched", "SCORED")


def keep_order(release: Any, answer: Any, *, rng: Any) -> Any:
    """Return the release in its present order, in place of the track's shuffle."""
    return release, answer


def test_track_without_allocation_has_no_seed(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.arena.get_team_token("red")
    run_clock()
    assert load_audit_entries("seed.commit") == []
    assert get_team_file(contest.arena, "red").json()["code"] == "nothing_drawn"


def test_without_a_private_key_phases_change_but_no_seed_is_made(
    contest: Contest, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("ANONCUP_OPENING_KEYS_DIR", str(tmp_path))
    get_settings.cache_clear()
    run_clock()
    assert load_audit_entries("seed.commit") == []
    contest.move_phases(anonymization=(-3, -2), reidentification=(1, 2))
    run_clock()
    assert load_round().published_at is not None
    monkeypatch.undo()
    get_settings.cache_clear()


def test_shared_allocations_follow_the_original_and_never_replace_uploads(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create_contest(client, monkeypatch, SHARED_ALLOCATION)
    arena = contest.arena
    run_clock()
    first_hints = arena.get(f"{COMPETITION_PATH}/original/hints.csv").text
    longer_table = arena.table.iloc[[0, *range(ROWS)]]
    arena.put(f"{COMPETITION_PATH}/original/original.csv", content=write_csv(longer_table))
    assert load_round().shared_files == {}
    run_clock()
    assert load_audit_entries("data.draw")[-1].after == load_round().shared_files
    second_hints = arena.get(f"{COMPETITION_PATH}/original/hints.csv").text
    assert second_hints == first_hints.replace(f"\n{ROWS},", f"\n{ROWS + 1},")
    uploaded_hints = b"rows,number\n1,2\n"
    assert arena.put(f"{COMPETITION_PATH}/original/hints.csv", content=uploaded_hints).status_code == 200
    run_clock()
    assert load_round().shared_files == {}
    assert arena.get(f"{COMPETITION_PATH}/original/hints.csv").content == uploaded_hints


def test_questions_read_and_judge_with_the_files_of_the_guesser(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    track, seen = TRACKS["microdata"], list[tuple[str, str]]()
    question = track.questions["link"]

    def read(content: bytes, context: Any) -> Any:
        seen.append((context.guesser.name, hashlib.sha256(context.guesser.own_files["secret"]).hexdigest()))
        return question.read(content, context)

    questions = {"link": replace(question, read=read)}
    monkeypatch.setitem(TRACKS, "microdata", replace(track, questions=questions))
    for team in ("red", "blue"):
        contest.arena.get_team_token(team)
    run_clock()
    submission = submit_release(contest, "red").json()["id"]
    score_everything()
    contest.open_attacks()
    target = contest.find_target(submission)["id"]
    guess = "original_row\n" + "".join(f"{row + 1}\n" for row in range(ROWS))
    assert contest.submit_guess("blue", target, guess.encode()).status_code == 202
    judge_everything()
    secret = get_team_file(contest.arena, "blue").json()["files"]["secret.csv"]
    assert seen == [("blue", secret)] * 2

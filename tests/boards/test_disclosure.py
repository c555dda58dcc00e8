"""Another file, which may disclose more, and more guesses cannot be undone and therefore need the password."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.rules.toml_text import format_table, replace_tables
from app.core.db.models import Competition
from app.core.db.transaction import transaction
from tests.support.contest import Contest, load_competition
from tests.support.database_rows import load_team_id
from tests.support.page_requests import post_form, send_form
from tests.support.step_up import ApiRequest, check_password_required, read_state, send_request

pytestmark = [
    pytest.mark.full,
    pytest.mark.contest(extra_toml='[publication]\nowners = "hidden"', teams=("red",)),
]


def edit_file(contest: Contest, **settings: object) -> ApiRequest:
    """Build a request that changes settings of ``[publication]``, ``[ranking]`` or ``[limits]``."""
    file = load_competition().file
    rules = parse_competition(file)
    parts: dict[str, Any] = {name: getattr(rules, name) for name in ("publication", "ranking", "limits")}
    for name, part in parts.items():
        keys = part.__dataclass_fields__.keys() - {"order"}  # only formulas have an order
        values = {key: settings.get(key, getattr(part, key)) for key in sorted(keys)}
        file = replace_tables(file, name, format_table(name, values))
    return "PUT", f"{contest.path}/competition.toml", {"content": file}


def edit_title(contest: Contest) -> ApiRequest:
    file = load_competition().file.replace("Small cup", "Little cup")
    return "PUT", f"{contest.path}/competition.toml", {"content": file}


def repair_file(contest: Contest) -> ApiRequest:
    """Replace an unreadable file. The new file cannot be compared with it."""
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        file, row.file = row.file, row.file + "\n[[["
    return "PUT", f"{contest.path}/competition.toml", {"content": file}


def add_grant(contest: Contest, cap: str) -> ApiRequest:
    team = load_team_id("red")
    return "POST", f"{contest.path}/grants", {"json": {"team_id": str(team), "cap": cap, "amount": 1000}}


def grant_more_guesses(contest: Contest) -> ApiRequest:
    return add_grant(contest, "guesses_per_target")


def create_invite(contest: Contest) -> ApiRequest:
    return "POST", f"{contest.path}/invites", {"json": {}}


def create_late_invite(contest: Contest) -> ApiRequest:
    """The first phase has ended, but the clock has not processed it yet."""
    contest.move_phases(anonymization=(-3, -2))
    return create_invite(contest)


DISCLOSING_ACTIONS = (
    lambda contest: edit_file(contest, owners="shown"),
    edit_title,
    repair_file,
    grant_more_guesses,
    create_late_invite,
)


@pytest.mark.parametrize("prepare_act", DISCLOSING_ACTIONS)
def test_more_disclosure_or_guesses_need_the_password(
    contest: Contest, prepare_act: Callable[[Contest], ApiRequest]
) -> None:
    check_password_required(contest, prepare_act(contest))


def test_other_grants_and_early_invites_need_no_password(contest: Contest) -> None:
    for act in (add_grant(contest, "valid_total"), create_invite(contest)):
        assert send_request(contest, act, {}).is_success


def test_more_disclosure_needs_no_password_before_submissions(client: TestClient) -> None:
    contest = Contest.create(client)
    act = edit_file(contest, owners="shown", feedback="immediate", digits=4, guesses_per_target=100)
    assert send_request(contest, act, {}).is_success


@pytest.mark.parametrize("change", ["owners", "title"])
def test_file_editor_requires_the_password(contest: Contest, change: str) -> None:
    path = f"{contest.path}/organize/file"
    text = contest.arena.get(f"{contest.path}/competition.toml").text.replace("Small cup", "Smaller cup")
    if change == "owners":
        text = edit_file(contest, owners="shown")[2]["content"]
    html = post_form(
        contest.arena, path, {"text": text, "do": "compare", "password": ""}, organizer=True
    ).text
    assert 'name="password"' in html
    file_digest = html.split('name="of" value="')[1].split('"')[0]
    fields = {"text": text, "of": file_digest, "do": "save"}
    state_before = read_state()
    refusal = post_form(contest.arena, path, fields | {"password": ""}, organizer=True)
    assert (refusal.status_code, read_state()) == (403, state_before)
    assert 'name="password"' in refusal.text
    send_form(contest.arena, path, fields, organizer=True)
    assert read_state() != state_before

"""Other rules, tried on everything and put in force, by clicking."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import Arena, competition_file
from tests.support.disqualification_pages import DESK, sent
from tests.support.organizer_pages import read
from tests.support.uploads import score_everything
from tests.web.reader import page, send
from tests.web.spoken import said

pytestmark = pytest.mark.full


def rules(threshold: str = "0.2", **weights: str) -> dict[str, str]:
    return {"by": "rules", "threshold": threshold} | {f"weight_{name}": w for name, w in weights.items()}


def begun(arena: Arena, fields: dict[str, str]) -> str:
    answer = send(arena, f"{DESK}/rescores", fields, organizer=True)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].partition("?")[0].removeprefix(DESK)


def test_other_rules_are_tried_compared_and_put_in_force(arena: Arena) -> None:
    red, _ = sent(arena, "red"), sent(arena, "blue", seed=2)
    score_everything()
    made = begun(arena, rules("0.0001", mean_mae="3", cross_count="1", information_loss="2"))
    waiting = read(arena, made)
    assert said("This page loads itself again until everything is scored.") in waiting
    assert "data-refresh" in waiting
    assert f'action="{DESK}{made}/apply"' not in waiting
    early = send(arena, f"{DESK}{made}/apply", organizer=True)
    assert (early.status_code, "The set is still being scored." in early.text) == (409, True)
    score_everything()
    shown = read(arena, made)
    assert "data-refresh" not in shown
    assert f'href="/submissions/{red}"' in shown
    assert shown.count(said("state_REJECTED")) >= 2
    assert "0.0001" in shown.replace("1.0000e-04", "0.0001")
    assert arena.submission(red, "red")["status"] == "SCORED"  # nothing has changed yet
    assert send(arena, f"{DESK}{made}/apply", organizer=True).status_code == 303
    assert arena.submission(red, "red")["status"] == "REJECTED"
    assert said("Applied") in read(arena, "/rescores")
    assert said("state_SCORED") in read(arena, "/audit")  # what it changed, submission by submission
    late = send(arena, f"{DESK}{made}/cancel", organizer=True)
    assert (late.status_code, "The set is applied or cancelled already." in late.text) == (409, True)


def test_an_applied_set_offers_to_tell_the_teams_what_changed(arena: Arena) -> None:
    sent(arena, "red")
    score_everything()
    fields = {"by": "rules", "threshold": "0.31", "weight_mean_mae": "3"}
    begun = send(arena, f"{DESK}/rescores", fields, organizer=True).headers["location"]
    assert said("done_rescore_begun") in page(arena, begun, organizer=True).text
    score_everything()
    ready = unescape(page(arena, begun, organizer=True).text)
    assert said("done_rescore_begun") not in ready
    assert said("Ranks by the new rules come once everything is scored.") not in ready
    path = begun.partition("?")[0]
    assert f'<form method="post" action="{path}/apply">' in ready
    send(arena, path + "/apply", organizer=True)
    (draft,) = re.findall(
        r'href="/competitions/small/organize(/announcements\?rescore=[^"]+)"', read(arena, path[len(DESK) :])
    )
    for language, lang in (("ja", "en"), ("en", "ja")):  # both are there, whoever asks
        shown = read(arena, draft, language=language)
        assert (
            said(
                "- {name}: {before} → {after}", lang, name=said("Threshold", lang), before="0.2", after="0.31"
            )
            in shown
        )
        name = said("measure_mean_mae", lang)
        assert said("- {name}: {before} → {after}", lang, name=name, before="1", after="3") in shown
    assert said("The rules have changed, and all submissions have been scored again:") not in read(
        arena, "/announcements?rescore=nonsense"
    )


def test_a_set_is_begun_by_the_whole_file_and_cancelled(arena: Arena) -> None:
    sent(arena, "red")
    score_everything()
    (file,) = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", read(arena, "/rescores"), re.DOTALL)
    made = begun(arena, {"by": "file", "file": file.replace("threshold = 0.2", "threshold = 0.3")})
    score_everything()
    assert said("No submission is accepted or rejected differently.") in read(arena, made)
    assert said("There is an open set: apply or cancel it before you begin another.") in read(
        arena, "/rescores"
    )
    second = send(arena, f"{DESK}/rescores", rules(), organizer=True)
    assert (
        second.status_code,
        "There is an open re-score set: apply or cancel it first." in second.text,
    ) == (409, True)
    assert send(arena, f"{DESK}{made}/cancel", organizer=True).status_code == 303
    assert said("The set was cancelled; nothing changed.") in read(arena, made)


def test_rules_that_cannot_be_are_refused_and_what_was_typed_stays(arena: Arena) -> None:
    for fields in (rules("much"), rules("-1"), rules(mean_mae="nan"), rules(magic="1"), rules(k_min="1")):
        answer = send(arena, f"{DESK}/rescores", fields, organizer=True)
        assert answer.status_code == 422, fields
        assert 'role="alert"' in answer.text
        assert f'value="{fields["threshold"]}"' in answer.text
    broken = send(arena, f"{DESK}/rescores", {"by": "file", "file": "slug = <b>"}, organizer=True)
    assert broken.status_code == 422
    assert "slug = &lt;b&gt;" in broken.text
    moved = competition_file().replace('"income", "rent"', '"income"')
    fixed = send(arena, f"{DESK}/rescores", {"by": "file", "file": moved}, organizer=True)
    assert fixed.status_code in {409, 422}


def test_a_set_of_another_competition_does_not_exist_here(client: TestClient, arena: Arena) -> None:
    other = Arena.opened(client, slug="elsewhere")
    answer = other.post("/competitions/elsewhere/rescores", content=competition_file("elsewhere"))
    path = f"{DESK}/rescores/{answer.json()['id']}"
    assert page(arena, path, organizer=True).status_code == 404
    assert send(arena, path + "/cancel", organizer=True).status_code == 404

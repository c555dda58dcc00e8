"""What older versions said and stored keeps its words, and gets codes and values."""

import pytest
from alembic import command
from sqlalchemy import create_engine, select, text

from app import wire
from app.db.models import Announcement, Evaluation, Submission, ThresholdReport
from app.messages import Message, Statement, message_under
from app.services.contest import announcements
from migrations.run import configuration, migrate
from tests.backups import target
from tests.older_database import filled_at_0002, read_today, written_at

pytestmark = pytest.mark.full

__all__ = ["target"]

SAID = """
UPDATE submissions SET remarks = '[
    {"code": "sent_before", "message": "your team has sent this very table 3 times before"},
    {"code": "other", "message": "{this} fits none"}
]';
UPDATE evaluations SET failure = 'scoring took longer than the limit of 600 s' WHERE NOT current;
UPDATE evaluations SET verdict = '{
    "verdict": "rejected", "utility": 0.30000000000000004,
    "violations": [{"code": "excessive_anonymization", "message":
        "the mean gower distance of individuals is 0.0798; at most 0.07 is allowed"}],
    "attackers": {"euc1": {"rate": 0.5, "note": "sparse assignment: 60 rows are more than dense_limit = 59; \
the total cost is the least possible"}, "id": {"rate": 0.25}}
}' WHERE current;
INSERT INTO threshold_reports
    (id, competition_id, user_id, file, original, question, state, attempt, report)
VALUES ('00000000-0000-0000-0000-000000000008', '00000000-0000-0000-0000-000000000003',
        '00000000-0000-0000-0000-000000000001', '', '{}', '{}', 'SCORED', 1, '{"bits": 50, "remedy":
        "7 of 9 groups have one individual, who stays in place whatever the cheat: \
name fewer group columns, or merge rare values"}');
"""
"""What revision 0014 said of a release, and why it failed."""

FAR = "the mean euclidean distance of individuals is 1.23457e+06; at most 1000.0 is allowed"
INFINITE = "the mean euclidean distance of individuals is inf; at most 1000.0 is allowed"
NO_KEY = "the private key 9f8e7d6c5b4a is not in ANONCUP_OPENING_KEYS_DIR"
OFTEN = f"scoring was tried 3 times and never finished; last: {NO_KEY}"
UNKNOWN = f"""
UPDATE evaluations SET failure = '{NO_KEY}' WHERE current;
UPDATE evaluations SET failure = '{OFTEN}' WHERE NOT current;
UPDATE evaluations SET verdict = '{{"violations": [{{"code": "far", "message": "{FAR}"}},
    {{"code": "far", "message": "{INFINITE}"}}]}}' WHERE current;
"""
"""Sentences of revision 0014 that the first 0015 did not know."""

RULE = "the {which} {distance} distance of individuals is {found:.6g}; at most {limit} is allowed"
BEFORE = RULE.replace(":.6g", "")
LEFT = f"""
UPDATE evaluations SET failure = '{{"code": "scoring_failed", "template": "{NO_KEY}", "values": {{}}}}'
WHERE current;
UPDATE evaluations SET failure = '{{"code": "attempts_used_up",
    "template": "scoring was tried {{times}} times and never finished; last: {{last}}",
    "values": {{"times": 3, "last": {{"template": "{NO_KEY}", "values": {{}}}}}}}}' WHERE NOT current;
UPDATE evaluations SET verdict = '{{"violations": [
    {{"code": "far", "message": "{FAR}", "template": "{FAR}", "values": {{}}}},
    {{"code": "far", "message": "{INFINITE}", "template": "{INFINITE}", "values": {{}}}},
    {{"code": "far", "message": "the mean gower distance of individuals is 0.5; at most 0.07 is allowed",
      "template": "{BEFORE}", "values": {{"which": {{"template": "mean", "values": {{}}}}, "found": 0.5,
        "distance": {{"template": "gower", "values": {{}}}}, "limit": 0.07}}}}]}}' WHERE current;
"""
"""The same as the first 0015 left them at 0017, and a violation by its template."""

FAILED = """
UPDATE evaluations SET failure = '{"template": "the {disk} was full", "values": {"disk": "small"}}'
WHERE current;
UPDATE evaluations SET failure = '{
    "template": "scoring was tried {times} times and never finished; last: {last}",
    "values": {"times": 3, "last": {"template": "the file is not in the store", "values": {}}}
}' WHERE NOT current;
UPDATE threshold_reports SET failure = '{"template": "the file is not in the store", "values": {}}';
"""
"""Why work had failed, as revision 0015 kept it."""

ANNOUNCED = """
INSERT INTO announcements (id, competition_id, text) VALUES ('00000000-0000-0000-0000-00000000000c',
    '00000000-0000-0000-0000-000000000003', '{"en": "It moved.", "ja": "変わりました。"}');
"""
"""By the service, as revision 0016 kept it."""


def test_what_was_said_keeps_its_words_and_gets_its_values(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    migrate(target)
    with read_today(target) as session:
        remarks = session.scalars(select(Submission.remarks)).one()
        failure = session.scalars(select(Evaluation.failure).where(~Evaluation.current)).one()
        verdict = session.scalars(select(Evaluation.verdict).where(Evaluation.current)).one() or {}
        assert session.scalars(select(Evaluation.failure).where(Evaluation.current)).one() is None
    assert [wire.Said.model_validate(each).model_dump()["values"] for each in remarks] == [{"times": 3}, {}]
    assert [str(Message.from_json(each)) for each in remarks] == [each["message"] for each in remarks]
    assert failure
    assert failure.message == Message("scoring took longer than the limit of {limit} s", limit=600)
    (violation,), attackers = verdict["violations"], verdict["attackers"]
    assert wire.Said.model_validate(violation).model_dump() == {
        "code": "excessive_anonymization",
        "message": "the mean gower distance of individuals is 0.0798; at most 0.07 is allowed",
        "values": {"which": "mean", "distance": "gower", "found": 0.0798, "limit": 0.07},
    }
    assert (attackers["euc1"]["note_values"], attackers["id"]) == ({"rows": 60, "limit": 59}, {"rate": 0.25})
    assert verdict["utility"] == 0.1 + 0.2


@pytest.mark.parametrize(("revision", "written"), [("0014", UNKNOWN), ("0017", LEFT)])
def test_large_distances_and_missing_keys_get_their_values_whichever_version_stored_them(
    target: str, revision: str, written: str
) -> None:
    filled_at_0002(target)
    written_at(revision, target, written)
    migrate(target)
    with read_today(target) as session:
        missing, often = session.scalars(select(Evaluation.failure).order_by(Evaluation.id))
        verdict = session.scalars(select(Evaluation.verdict).where(Evaluation.current)).one() or {}
    no_key = Message("the private key {key_id} is not in ANONCUP_OPENING_KEYS_DIR", key_id="9f8e7d6c5b4a")
    assert missing == Statement("opening_key_missing", no_key)
    assert often
    assert (often.code, often.message.values["last"], str(often.message)) == (
        "attempts_used_up",
        no_key,
        OFTEN,
    )
    far, infinite, *others = verdict["violations"]
    assert (far["message"], far["values"]["found"], infinite["message"]) == (FAR, 1234570.0, INFINITE)
    for each in (far, infinite, *others):
        assert each["template"] == RULE
        assert str(Message.from_json(each)) == each["message"]


def test_a_report_keeps_its_remedy_with_its_values(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    migrate(target)
    with read_today(target) as session:
        report = session.scalars(select(ThresholdReport.report)).one() or {}
    remedy = message_under("remedy", report)
    assert remedy is not None
    assert (str(remedy), remedy.values) == (report["remedy"], {"alone": 7, "groups": 9})
    assert report["bits"] == 50


def test_a_failure_with_values_goes_back_as_a_sentence(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    migrate(target)
    engine, config = create_engine(target), configuration()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0014")
        found = connection.scalars(text("SELECT failure FROM evaluations WHERE NOT current")).one()
    engine.dispose()
    assert found == "scoring took longer than the limit of 600 s"


def test_a_failure_gets_its_code_and_keeps_its_sentence(target: str) -> None:
    filled_at_0002(target)
    written_at("0014", target, SAID)
    written_at("0015", target, FAILED)
    migrate(target)
    with read_today(target) as session:
        tried, other = session.scalars(select(Evaluation.failure).order_by(Evaluation.id.desc()))
        report = session.scalars(select(ThresholdReport.failure)).one()
    lost = Message("the file is not in the store")
    often = Message("scoring was tried {times} times and never finished; last: {last}", times=3, last=lost)
    assert (tried, report) == (Statement("attempts_used_up", often), Statement("file_lost", lost))
    assert other == Statement("scoring_failed", Message("the {disk} was full", disk="small"))


def test_what_the_service_announced_keeps_the_text_it_had(target: str) -> None:
    filled_at_0002(target)
    written_at("0016", target, ANNOUNCED)
    migrate(target)
    with read_today(target) as session:
        announced = session.scalars(select(Announcement)).one()
    assert (announced.said, announcements.texts(announced)) == (
        None,
        {"en": "It moved.", "ja": "変わりました。"},
    )

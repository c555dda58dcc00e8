"""Messages: templates with values, their storage, plural forms and errors."""

import json

import pytest

from anoncup.errors import DomainError, FileProblem, InvalidUpload, TooLarge, TooManyRequests, describe_error
from anoncup.messages import (
    Message,
    MessageValue,
    PluralMessage,
    RemoteMessage,
    deserialize_prefixed,
    fill_template,
    replace_control_characters,
    serialize_prefixed,
)


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("nothing of {all} this", {}, "nothing of {all} this"),
        ("row {row}: {what}", {"row": 3, "what": Message("not {a}", a="b")}, "row 3: not b"),
        ("one of {names}", {"names": ("a", "b")}, "one of a, b"),
        ("column {name!r} is {written!r}", {"name": "it's", "written": 'a"b'}, "column \"it's\" is 'a\"b'"),
        ("{most:,} in {age:.0f} s, {found}", {"most": 1000, "age": 1.7, "found": 0.3}, "1,000 in 2 s, 0.3"),
        ("{least} to {most}, {large}", {"least": -60.0, "most": 0.5, "large": 1e30}, "-60 to 0.5, 1e+30"),
        ("{a} and {b}", {"a": None}, "None and {b}"),
        ("{a}", {"a": "{b}", "b": 1}, "{b}"),
        ("{a:.0f} {b:,}", {"a": "many", "b": None}, "many None"),
    ],
)
def test_message_is_formatted_with_its_values(
    template: str, values: dict[str, MessageValue], expected: str
) -> None:
    assert str(Message(template, **values)) == expected


@pytest.mark.parametrize("template", ["{a.__class__}", "{a[0]}", "{a:1000000000}", "{a!s}", "{", "}", "{0}"])
def test_hostile_templates_cannot_access_attributes(template: str) -> None:
    assert str(Message(template, a="secret", b="9")) == template


def test_messages_round_trip_through_json() -> None:
    message = Message("{a} {b} {c}", a=1, b=("x", Message("y {z}", z=2.5)), c=None)
    assert Message.from_json(json.loads(json.dumps(message.to_json()))) == message


PLURAL_FORMS = ("{rows} row is left of {all}", "{rows} rows are left of {all}", "rows")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (1, "1 row is left of 9"),
        (0, "0 rows are left of 9"),
        (2, "2 rows are left of 9"),
        ("1", "1 rows are left of 9"),
    ],
)
def test_plural_messages_choose_the_form_for_their_count(rows: int | str, expected: str) -> None:
    assert str(PluralMessage(*PLURAL_FORMS, rows=rows, all=9)) == expected


def test_plural_messages_round_trip_and_degrade_to_plain_messages() -> None:
    for rows in (1, 2):
        message = PluralMessage(*PLURAL_FORMS, rows=rows, all=PluralMessage("{n} row", "{n} rows", "n", n=1))
        stored_json = json.loads(json.dumps(message.to_json()))
        assert Message.from_json(stored_json) == message
        assert (
            deserialize_prefixed("note", json.loads(json.dumps(serialize_prefixed("note", message))))
            == message
        )
        singular_message = Message.from_json({part: stored_json[part] for part in ("template", "values")})
        assert (
            type(singular_message),
            str(singular_message),
            singular_message.render_values_in_english(),
        ) == (
            Message,
            str(message),
            message.render_values_in_english(),
        )


def test_values_rendered_in_english_include_those_of_nested_messages() -> None:
    inner_message = Message("{low} of {deeper}", low=1, deeper=Message("{end}", end=9), name="inner")
    message = Message(
        "{name}: {parts}", name="outer", parts=("x", inner_message, Message("{low} {high}", low=2, high=3))
    )
    assert message.render_values_in_english() == {
        "name": "outer", "parts": ["x", "1 of 9", "2 3"], "low": 1, "deeper": "9", "end": 9, "high": 3
    }  # fmt: skip
    assert Message("{b}", b=Message("from {c} up", c=0)).render_values_in_english() == {
        "b": "from 0 up",
        "c": 0,
    }


def test_remote_message_keeps_its_text_and_values() -> None:
    remote_message = RemoteMessage("{row} is what somebody wrote", row=3, names=["a"])  # type: ignore[arg-type]
    assert str(remote_message) == "{row} is what somebody wrote"
    outer_message = Message("{reason}: again", reason=remote_message)
    assert str(outer_message) == "{row} is what somebody wrote: again"
    assert outer_message.render_values_in_english() == {
        "reason": str(remote_message),
        "row": 3,
        "names": ["a"],
    }
    restored_message = Message.from_json(json.loads(json.dumps(remote_message.to_json())))
    assert (str(restored_message), restored_message.values["row"]) == (str(remote_message), 3)


def test_control_characters_are_made_visible() -> None:
    assert replace_control_characters("a\0\x1b[2J\x7f\x9b日") == "a␀␛[2J␡\\x9b日"


def test_templates_are_filled_with_translated_words_and_numbers() -> None:
    values: dict[str, MessageValue] = {"rows": 8333, "what": Message("few")}
    sentence = fill_template(
        "{rows:,} {what}",
        values,
        render_message=lambda message: message.template.upper(),
        format_number="{1}{0:,}".format,
    )
    assert sentence == ",8,333 FEW"


def test_error_description_includes_its_values() -> None:
    error = TooManyRequests("used all {limit}", retry_after=3, code="used_up", limit=5)
    assert (str(error), error.code, error.retry_after) == ("used all 5", "used_up", 3)
    assert describe_error(error) == {"values": {"limit": 5}}
    assert DomainError(error.message).message == error.message


def test_upload_error_describes_each_problem() -> None:
    problem = FileProblem("guess", 2, None, "blank", Message("row {row} is blank", row=2), line=3, value=" ")
    assert describe_error(InvalidUpload([problem], total=7)) == {
        "values": {"row": 2},
        "errors": [
            {
                "file": "guess",
                "row": 2,
                "line": 3,
                "column": None,
                "code": "blank",
                "message": "row 2 is blank",
                "values": {"row": 2, "value": " "},
            }
        ],
        "total": 7,
    }
    assert describe_error(TooLarge("{file} is too large", file="guess"))["file"] == "guess"


def test_refusal_is_stored_and_restored_with_its_place() -> None:
    message = Message("{column}: {what}", column="a", what=Message("x"))
    plural_message = PluralMessage("{n} row", "{n} rows", "n", n=2)
    problems = (
        FileProblem("guess", 2, "person", "unknown_person", message, 3, "7"),
        FileProblem("guess", None, None, "row_count", plural_message),
    )
    restored = InvalidUpload.from_json(InvalidUpload(problems, total=9).to_json())
    assert (restored.problems, restored.total) == (problems, 9)

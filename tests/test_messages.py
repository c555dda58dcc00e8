"""A sentence is a template with values: what becomes of them on the way to whom they are said."""

import ast
import json
from pathlib import Path

import pytest

from anoncup import errors
from anoncup.errors import DomainError, InvalidUpload, Problem, TooLarge, TooMany, particulars
from anoncup.messages import Counted, Heard, Message, Value, filled, kept_under, message_under, visible

ROOT = Path(__file__).parents[1]
SENTENCES = {
    "Message",
    "Counted",
    *(
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, DomainError)
    ),
}


@pytest.mark.parametrize(
    ("template", "values", "said"),
    [
        ("nothing of {all} this", {}, "nothing of {all} this"),
        ("row {row}: {what}", {"row": 3, "what": Message("not {a}", a="b")}, "row 3: not b"),
        ("one of {names}", {"names": ("a", "b")}, "one of a, b"),
        ("column {name!r} is {written!r}", {"name": "it's", "written": 'a"b'}, "column \"it's\" is 'a\"b'"),
        ("{most:,} in {age:.0f} s, {found}", {"most": 1000, "age": 1.7, "found": 0.3}, "1,000 in 2 s, 0.3"),
        ("{a} and {b}", {"a": None}, "None and {b}"),
        ("{a}", {"a": "{b}", "b": 1}, "{b}"),
    ],
)
def test_the_english_has_the_values_in_their_places(
    template: str, values: dict[str, Value], said: str
) -> None:
    assert str(Message(template, **values)) == said


@pytest.mark.parametrize("hostile", ["{a.__class__}", "{a[0]}", "{a:1000000000}", "{a!s}", "{", "}", "{0}"])
def test_a_template_from_elsewhere_reaches_nothing_but_its_values(hostile: str) -> None:
    assert str(Message(hostile, a="secret", b="9")) == hostile


def test_a_form_of_numbers_leaves_other_values_alone() -> None:
    assert str(Message("{a:.0f} {b:,}", a="many", b=None)) == "many None"


def test_a_message_comes_back_from_where_it_was_stored() -> None:
    message = Message("{a} {b} {c}", a=1, b=("x", Message("y {z}", z=2.5)), c=None)
    assert Message.from_json(json.loads(json.dumps(message.to_json()))) == message


ROWS = ("{rows} row is left of {all}", "{rows} rows are left of {all}", "rows")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (1, "1 row is left of 9"),
        (0, "0 rows are left of 9"),
        (2, "2 rows are left of 9"),
        ("1", "1 rows are left of 9"),
    ],
)
def test_a_message_that_counts_has_the_form_for_its_number(rows: int | str, said: str) -> None:
    assert str(Counted(*ROWS, rows=rows, all=9)) == said


def test_a_message_that_counts_comes_back_with_its_forms_and_is_one_sentence_to_who_knows_of_none() -> None:
    for rows in (1, 2):
        message = Counted(*ROWS, rows=rows, all=Counted("{n} row", "{n} rows", "n", n=1))
        stored = json.loads(json.dumps(message.to_json()))
        assert Message.from_json(stored) == message
        assert message_under("note", json.loads(json.dumps(kept_under("note", message)))) == message
        older = Message.from_json({part: stored[part] for part in ("template", "values")})
        assert (type(older), str(older), older.plain()) == (Message, str(message), message.plain())


def test_programs_are_told_plain_values() -> None:
    message = Message("{a} {b}", a=("x", "y"), b=Message("from {c} up", c=0))
    assert message.plain() == {"a": ["x", "y"], "b": "from 0 up", "c": 0}


def test_programs_are_told_the_values_of_what_is_inside_a_sentence_but_for_names_that_stand_outside() -> None:
    deep = Message("{low} of {deeper}", low=1, deeper=Message("{end}", end=9), name="inner")
    message = Message(
        "{name}: {parts}", name="outer", parts=("x", deep, Message("{low} {high}", low=2, high=3))
    )
    assert message.plain() == {
        "name": "outer", "parts": ["x", "1 of 9", "2 3"], "low": 1, "deeper": "9", "end": 9, "high": 3
    }  # fmt: skip


def test_a_sentence_of_another_service_is_said_as_it_came_and_keeps_its_values() -> None:
    heard = Heard("{row} is what somebody wrote", row=3, names=["a"])  # type: ignore[arg-type]
    assert str(heard) == "{row} is what somebody wrote"
    around = Message("{reason}: again", reason=heard)
    assert str(around) == "{row} is what somebody wrote: again"
    assert around.plain() == {"reason": str(heard), "row": 3, "names": ["a"]}


def test_control_characters_are_made_visible() -> None:
    assert visible("a\0\x1b[2J\x7f\x9b日") == "a␀␛[2J␡\\x9b日"


def test_each_reader_has_words_and_numbers_of_its_own() -> None:
    values: dict[str, Value] = {"rows": 8333, "what": Message("few")}
    said = filled("{rows:,} {what}", values, say=lambda one: one.template.upper(), number="{1}{0:,}".format)
    assert said == ",8,333 FEW"


def test_an_error_says_its_values_beside_its_sentence() -> None:
    error = TooMany("used all {limit}", retry_after=3, code="used_up", limit=5)
    assert (str(error), error.code, error.retry_after) == ("used all 5", "used_up", 3)
    assert particulars(error) == {"values": {"limit": 5}}
    assert DomainError(error.message).message == error.message


def test_an_error_of_files_says_the_values_of_each_problem() -> None:
    problem = Problem("guess", 2, None, "blank", Message("row {row} is blank", row=2), line=3, value=" ")
    assert particulars(InvalidUpload([problem], total=7)) == {
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
    assert particulars(TooLarge("{file} is too large", file="guess"))["file"] == "guess"


def test_no_sentence_is_put_together_where_it_is_raised() -> None:
    """But for what is said by something else, such as another service: that is a ``Message`` as it is."""
    glued = [
        f"{file.relative_to(ROOT)}:{call.lineno}"
        for folder in ("anoncup", "app", "workers", "migrations")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and name_of(call) in SENTENCES - {"Message"}
        if call.args and isinstance(call.args[0], ast.JoinedStr | ast.BinOp)
    ]
    assert glued == []


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")

"""Rewriting a part of a competition file keeps the rest, and no text breaks the reader."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta, timezone

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import LONGEST_VALUE, InvalidCompetition
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive, MeasureSettings
from anoncup.rules.toml_text import with_scales, with_tables
from tests.scoring.competition_texts import EXAMPLE, LEAST, PHASE, refusal
from tests.support.hypothesis_profiles import examples
from tests.support.step_counter import steps_of

pytestmark = pytest.mark.full

hostile = examples(200)
JAPAN = timezone(timedelta(hours=9))
MEASURES = TRACKS["microdata"].measures

# Rewriting a part keeps the rest.

amounts = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
some_scales = st.dictionaries(st.sampled_from(sorted(MEASURES)), amounts)
AWKWARD = {
    "the template": template(2015),
    "the example": EXAMPLE,
    "the least": LEAST,
    "the line ends of Windows": EXAMPLE.replace("\n", "\r\n"),
    "no last line end": EXAMPLE.rstrip(),
    "indented headers": EXAMPLE.replace("[scales]", "  [scales]"),
    "spaces in a header": EXAMPLE.replace("[scales]", "[ scales ]"),
    "a quoted header": EXAMPLE.replace("[scales]", '["scales"]'),
    "a literal header": EXAMPLE.replace("[scales]", "['scales']"),
    "dotted at the top": "scales.mean_mae = 3.5\n" + LEAST,
    "inline at the top": "scales = { mean_mae = 3.5, cross_mean = 1 }\n" + LEAST,
    "brackets at the start of a line": LEAST.replace('["a", "b"]', '[\n"a",\n"b"\n]'),
    "a header in a text": LEAST.replace('"Demo cup"', "'Demo [scales] # cup'"),
    "a text of several lines": LEAST.replace('"x", "y"', '"""\n[scales]\nx = 1""", "x", "y"'),
    "a literal of several lines": LEAST.replace('"x", "y"', "'''\n[scales]\nit's''', 'x', \"y\""),
    "quotes at the end of a text": LEAST.replace('["x", "y"]', '["""\n[scales]\n"q""""", "x", "y"] # "'),
    "escaped quotes": LEAST.replace('"x", "y"', r'"\"[", "x\\", "x", "y"'),
    "line ends that TOML has not": LEAST.replace("Demo cup", "Demo\u2028cup\u0085."),
    "brackets in comments": LEAST.replace("[columns]", "# [[ {{ '''\n[columns] # \"\"\""),
    "a name that begins alike": EXAMPLE + "\n# [scales.x]\n",
}  # fmt: skip


def without_scales(rules: Rules) -> Rules:
    return replace(rules, scales={})


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_fixing_the_scales_keeps_everything_else(text: str) -> None:
    before = parse_competition(text)
    scales = {"mean_mae": 0.1, "cross_mean": 5e-324, "k_min": 1e300}
    written = with_scales(text, scales)
    after = parse_competition(written)
    assert after.scales == scales
    assert without_scales(after) == without_scales(before)
    assert with_scales(written, scales) == written


@hostile
@given(scales=some_scales, more=some_scales, text=st.sampled_from(sorted(AWKWARD.values())))
@example(
    scales={"mean_mae": 1 / 3, "cross_mean": 1e16, "cor_mae": 1.7976931348623157e308}, more={}, text=LEAST
)
def test_scales_are_written_to_the_last_bit(
    scales: dict[str, float], more: dict[str, float], text: str
) -> None:
    once = with_scales(text, scales)
    assert {name: value.hex() for name, value in parse_competition(once).scales.items()} == {
        name: value.hex() for name, value in scales.items()
    }
    assert with_scales(with_scales(text, more), scales) == once
    assert parse_competition(with_scales(once, more)).scales == more


def test_scales_may_be_numpy_s_or_whole_numbers() -> None:
    found = parse_competition(with_scales(LEAST, {"mean_mae": np.float64(0.1), "k_min": 3})).scales
    assert found == {"mean_mae": 0.1, "k_min": 3.0}


def test_comments_outside_of_what_is_replaced_stay() -> None:
    text = (
        "# first\n"
        + LEAST
        + "# above scales\n[scales] # own\n# inside\nk_min = 1.0\n\n"
        + "# of limits\n[limits]\nfile_mb = 1 # here\n# last\n"
    )
    written = with_scales(text, {"k_min": 2.0})
    assert [line for line in written.splitlines() if "#" in line] == [
        "# first", "# above scales", "# of limits", "file_mb = 1 # here", "# last"
    ]  # fmt: skip
    assert parse_competition(written).limits.file_mb == 1


def test_the_comments_of_the_template_all_stay() -> None:
    comments = [line for line in template(2015).splitlines() if line.startswith("#")]
    for name, body in [("scales", "[scales]"), ("phases", ""), ("excessive", "[excessive]\nthreshold = 0.1")]:
        written = with_tables(template(2015), name, body)
        assert [line for line in written.splitlines() if line.startswith("#")] == comments


def test_tables_of_a_name_are_replaced_with_all_their_parts() -> None:
    body = PHASE.format("anonymization", "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z")
    written = parse_competition(with_tables(template(2015), "phases", body))
    assert [phase.start.year for phase in written.phases] == [2030]
    assert replace(written, phases=()) == replace(parse_competition(template(2015)), phases=())
    fewer = parse_competition(with_tables(template(2015), "measures", "[measures.cor_mae]\nweight = 2"))
    assert fewer.measures == {"cor_mae": MeasureSettings(2.0)}
    more = parse_competition(with_tables(template(2015), "excessive", "[excessive]\nthreshold = 0.25"))
    assert more == replace(parse_competition(template(2015)), excessive=Excessive(threshold=0.25))


def test_what_is_written_in_several_lines_goes_as_a_whole() -> None:
    rest = "# a remark\u2028of one line\n\n[limits]\n"
    text = f"[scales]\nk_min = '''\n# not a remark'''\n{rest}"
    assert with_tables(text, "scales", "[x]") == f"{rest}\n[x]\n"


@pytest.mark.parametrize("eol", ["\n", "\r\n"], ids=["unix", "windows"])
def test_tables_that_lie_apart_go_and_nothing_between_them_moves(eol: str) -> None:
    between = f"# b{eol}[limits]  # c{eol}file_mb  =  1{eol}# d{eol}"
    lists = f"[[measures.y]]{eol}z = [ 1,{eol} 2 ]{eol}"
    text = f"scales . k_min=1{eol}# a{eol}[measures.x]{eol}{between}{lists}# e{eol}"
    rest = with_tables(with_tables(text, "measures", ""), "scales", "[scales]")
    assert rest == f"# a{eol}{between}# e\n\n[scales]\n"


def test_a_key_of_that_name_in_another_table_stays() -> None:
    text = LEAST + '[attackers.euc1]\nquasi_identifiers = ["a"]\n'
    written = with_tables(text, "quasi_identifiers", "")
    assert parse_competition(written) == parse_competition(text)


# Nothing else can happen.


BOMBS = {
    "arrays": "a = " + "[" * 100_000,
    "closed arrays": "a = " + "[" * 50_000 + "]" * 50_000,
    "inline tables": "a = " + "{a=" * 50_000,
    "a dotted key": ".".join("a" * 50_000) + " = 1",
    "a spaced dotted key": " . ".join("a" * 50_000) + " = 1",
    "a quoted dotted key": ".".join(['"a"'] * 50_000) + " = 1",
    "a dotted header": "[" + ".".join("a" * 50_000) + "]",
    "an integer": "format = " + "9" * 5_000,
    "an hexadecimal integer": "format = 0x" + "f" * 100_000,
    "an exponent": "format = 1e" + "9" * 100_000,
    "a comment": "# " + "x" * 50_000_000,
    "a text": 'slug = "' + "x" * 900_000 + '"',
    "an open text": 'slug = """' + "x" * 900_000,
    "many quotes": '"' * 900_000,
    "many keys": "\n".join(f"k{i} = 1" for i in range(80_000)),
    "many tables": "\n".join(f"[t{i}]" for i in range(80_000)),
    "an array of many tables": "[[phases]]\n" * 80_000,
    "line ends": "\n" * 900_000,
    "nothing": "",
    "a NUL": "\x00",
    "a mark": "\ufeff" + LEAST,
    "a lone surrogate": LEAST + "# \ud800",
    "carriage returns": LEAST.replace("\n", "\r"),
    "a date that is none": "format = 2027-02-30",
    "a key twice": LEAST + "sensitive = []",
}  # fmt: skip


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_file_made_to_break_the_parser_is_refused(text: str) -> None:
    if text.endswith("\ud800"):
        parse_competition(text)
    else:
        refusal(text)


def with_columns(count: int) -> str:
    listed = "[" + ", ".join(f'"c{i}"' for i in range(count)) + "]"
    return LEAST.replace('["a", "b"]', listed) + f"[attackers.euc1]\nquasi_identifiers = {listed}\n"


def test_very_many_columns_are_read() -> None:
    rules = parse_competition(with_columns(40_000))
    assert rules.attackers["euc1"].parameters["quasi_identifiers"] == tuple(f"c{i}" for i in range(40_000))


GROWING: dict[str, Callable[[int], str]] = {
    "columns": with_columns,
    "arrays": lambda count: "[" * count,
    "tables inside tables": lambda count: "a = " + "{a=" * count,
    "a dotted key": lambda count: ".".join("a" * count) + " = 1",
    "a text": lambda count: 'slug = "' + "x" * count + '"',
    "an open text": lambda count: 'slug = """' + "x" * count,
    "quotes": lambda count: '"' * count,
    "keys": lambda count: "\n".join(f"k{i} = 1" for i in range(count)),
    "tables": lambda count: "\n".join(f"[t{i}]" for i in range(count)),
    "an array of tables": lambda count: "[[phases]]\n" * count,
    "line ends": lambda count: "\n" * count,
}


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
def test_twice_as_long_a_file_is_at_most_twice_the_work(text: Callable[[int], str]) -> None:
    def work(count: int) -> int:
        content = text(count)
        return steps_of(lambda: suppressed(content))

    work(10)  # what the first call fetches
    assert work(4_000) < 2.1 * work(2_000) + 1_000


def suppressed(text: str) -> None:
    with suppress(InvalidCompetition):
        parse_competition(text)


def is_read_or_refused(text: str) -> None:
    try:
        rules = parse_competition(text)
    except InvalidCompetition as problem:
        assert str(problem)  # noqa: PT017
        return
    assert all(math.isfinite(value) for value in rules.scales.values())
    again = with_scales(text, {"mean_mae": 1.5})
    assert without_scales(parse_competition(again)) == without_scales(rules)


@hostile
@given(text=st.text(max_size=60))
def test_random_text_is_refused(text: str) -> None:
    refusal(text)


fragments = st.sampled_from(
    ["[", "]", "{", "}", '"', "'", '"""', "'''", "#", "\n", "\r", "=", ".", ",", "\\", "1", "[scales]\n"]
) | st.text(max_size=2)  # fmt: skip


@examples(1000)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_survives_new_scales(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([LEAST, EXAMPLE, AWKWARD["a text of several lines"]]))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + data.draw(fragments) + text[start + data.draw(st.integers(0, 3)) :]
    is_read_or_refused(text)


LONG = "k" * 300_000


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1\n{LEAST}",
        f"{LEAST}\n[measures.{LONG}]\n",
        f"{LEAST}\n[{LONG}]\n",
        f"{LEAST}\n[columns]\nquasi_identifiers = ['{LONG}']\nsensitive = ['{LONG}']",
        f"[{LONG}]\n[{LONG}]\n",
    ],
)
def test_little_is_repeated_of_a_file_that_is_refused(text: str) -> None:
    with pytest.raises(InvalidCompetition) as caught:
        parse_competition(text)
    assert len(str(caught.value)) < LONGEST_VALUE + 100
    assert all(len(str(value)) <= LONGEST_VALUE for value in caught.value.message.plain().values())

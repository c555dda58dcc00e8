"""Replacing a table of a competition file keeps the rest, and no text breaks the parser."""

import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import MAX_VALUE_LENGTH, InvalidCompetition
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import MeasureSettings
from anoncup.rules.toml_text import replace_scales, replace_tables
from tests.support.competition_texts import EXAMPLE, MINIMAL, PHASE, expect_refusal
from tests.support.hypothesis_profiles import limit_examples

pytestmark = pytest.mark.full

hostile_examples = limit_examples(200)
MEASURES = TRACKS["microdata"].measures

amounts = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
scale_tables = st.dictionaries(st.sampled_from(sorted(MEASURES)), amounts)
AWKWARD_FILES = {
    "the template": template(2015),
    "the example": EXAMPLE,
    "the least": MINIMAL,
    "the line ends of Windows": EXAMPLE.replace("\n", "\r\n"),
    "no last line end": EXAMPLE.rstrip(),
    "indented headers": EXAMPLE.replace("[scales]", "  [scales]"),
    "spaces in a header": EXAMPLE.replace("[scales]", "[ scales ]"),
    "a quoted header": EXAMPLE.replace("[scales]", '["scales"]'),
    "a literal header": EXAMPLE.replace("[scales]", "['scales']"),
    "dotted at the top": "scales.mean_mae = 3.5\n" + MINIMAL,
    "inline at the top": "scales = { mean_mae = 3.5, cross_mean = 1 }\n" + MINIMAL,
    "brackets at the start of a line": MINIMAL.replace('["a", "b"]', '[\n"a",\n"b"\n]'),
    "a header in a text": MINIMAL.replace('"Demo cup"', "'Demo [scales] # cup'"),
    "a text of several lines": MINIMAL.replace('"x", "y"', '"""\n[scales]\nx = 1""", "x", "y"'),
    "a literal of several lines": MINIMAL.replace('"x", "y"', "'''\n[scales]\nit's''', 'x', \"y\""),
    "quotes at the end of a text": MINIMAL.replace('["x", "y"]', '["""\n[scales]\n"q""""", "x", "y"] # "'),
    "escaped quotes": MINIMAL.replace('"x", "y"', r'"\"[", "x\\", "x", "y"'),
    "line ends that TOML has not": MINIMAL.replace("Demo cup", "Demo\u2028cup\u0085."),
    "brackets in comments": MINIMAL.replace("[columns]", "# [[ {{ '''\n[columns] # \"\"\""),
    "a name that begins alike": EXAMPLE + "\n# [scales.x]\n",
}  # fmt: skip


def drop_scales(rules: Rules) -> Rules:
    return replace(rules, scales={})


@pytest.mark.parametrize("text", AWKWARD_FILES.values(), ids=AWKWARD_FILES)
def test_replacing_scales_keeps_everything_else(text: str) -> None:
    old_rules = parse_competition(text)
    scales = {"mean_mae": 0.1, "cross_mean": 5e-324, "k_min": 1e300}
    new_text = replace_scales(text, scales)
    new_rules = parse_competition(new_text)
    assert new_rules.scales == scales
    assert drop_scales(new_rules) == drop_scales(old_rules)
    assert replace_scales(new_text, scales) == new_text


@hostile_examples
@given(scales=scale_tables, other_scales=scale_tables, text=st.sampled_from(sorted(AWKWARD_FILES.values())))
@example(
    scales={"mean_mae": 1 / 3, "cross_mean": 1e16, "cor_mae": 1.7976931348623157e308},
    other_scales={},
    text=MINIMAL,
)
def test_scales_are_written_exactly(
    scales: dict[str, float], other_scales: dict[str, float], text: str
) -> None:
    new_text = replace_scales(text, scales)
    assert {name: value.hex() for name, value in parse_competition(new_text).scales.items()} == {
        name: value.hex() for name, value in scales.items()
    }
    assert replace_scales(replace_scales(text, other_scales), scales) == new_text
    assert parse_competition(replace_scales(new_text, other_scales)).scales == other_scales


def test_comments_outside_the_replaced_table_are_kept() -> None:
    text = (
        "# first\n"
        + MINIMAL
        + "# above scales\n[scales] # own\n# inside\nk_min = 1.0\n\n"
        + "# of limits\n[limits]\nfile_mb = 1 # here\n# last\n"
    )
    new_text = replace_scales(text, {"k_min": 2.0})
    assert [line for line in new_text.splitlines() if "#" in line] == [
        "# first", "# above scales", "# of limits", "file_mb = 1 # here", "# last"
    ]  # fmt: skip
    assert parse_competition(new_text).limits.file_mb == 1


def test_tables_are_replaced_with_their_subtables() -> None:
    old_rules = parse_competition(template(2015))
    body = PHASE.format("anonymization", "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z")
    rules = parse_competition(replace_tables(template(2015), "phases", body))
    assert [phase.start.year for phase in rules.phases] == [2030]
    assert replace(rules, phases=()) == replace(old_rules, phases=())
    rules = parse_competition(replace_tables(template(2015), "measures", "[measures.cor_mae]\nweight = 2"))
    assert rules.measures == {"cor_mae": MeasureSettings(2.0)}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_scattered_tables_are_removed_and_the_rest_is_kept(line_end: str) -> None:
    middle = f"# b{line_end}[limits]  # c{line_end}file_mb  =  1{line_end}# d{line_end}"
    lists = f"[[measures.y]]{line_end}z = [ 1,{line_end} 2 ]{line_end}"
    text = f"scales . k_min=1{line_end}# a{line_end}[measures.x]{line_end}{middle}{lists}# e{line_end}"
    rest = replace_tables(replace_tables(text, "measures", ""), "scales", "[scales]")
    assert rest == f"# a{line_end}{middle}# e\n\n[scales]\n"


MALICIOUS_FILES = {
    "quotes in a long text": 'a = """' + 'x""' * 300_000 + '"""',
    "closed arrays": "a = " + "[" * 50_000 + "]" * 50_000,
    "a spaced dotted key": " . ".join("a" * 50_000) + " = 1",
    "a quoted dotted key": ".".join(['"a"'] * 50_000) + " = 1",
    "a dotted header": "[" + ".".join("a" * 50_000) + "]",
    "an integer": "format = " + "9" * 5_000,
    "an hexadecimal integer": "format = 0x" + "f" * 100_000,
    "an exponent": "format = 1e" + "9" * 100_000,
    "a comment": "# " + "x" * 50_000_000,
    "nothing": "",
    "a NUL": "\x00",
    "a mark": "\ufeff" + MINIMAL,
    "carriage returns": MINIMAL.replace("\n", "\r"),
    "a date that is none": "format = 2027-02-30",
    "a key twice": MINIMAL + "sensitive = []",
}


@pytest.mark.parametrize("text", MALICIOUS_FILES.values(), ids=MALICIOUS_FILES)
def test_malicious_files_are_refused(text: str) -> None:
    expect_refusal(text)


def check_parsed_or_refused(text: str) -> None:
    try:
        rules = parse_competition(text)
    except InvalidCompetition as error:
        assert str(error)  # noqa: PT017
        return
    assert all(math.isfinite(value) for value in rules.scales.values())
    new_text = replace_scales(text, {"mean_mae": 1.5})
    assert drop_scales(parse_competition(new_text)) == drop_scales(rules)


text_fragments = st.sampled_from(
    ["[", "]", "{", "}", '"', "'", '"""', "'''", "#", "\n", "\r", "=", ".", ",", "\\", "1", "[scales]\n"]
) | st.text(max_size=2)  # fmt: skip


@limit_examples(1000)
@given(data=st.data())
def test_damaged_files_are_refused_or_accept_new_scales(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([MINIMAL, EXAMPLE, AWKWARD_FILES["a text of several lines"]]))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + data.draw(text_fragments) + text[start + data.draw(st.integers(0, 3)) :]
    check_parsed_or_refused(text)


LONG_KEY = "k" * 300_000


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG_KEY} = 1\n{MINIMAL}",
        f"{MINIMAL}\n[measures.{LONG_KEY}]\n",
        f"{MINIMAL}\n[{LONG_KEY}]\n",
        f"{MINIMAL}\n[columns]\nquasi_identifiers = ['{LONG_KEY}']\nsensitive = ['{LONG_KEY}']",
        f"[{LONG_KEY}]\n[{LONG_KEY}]\n",
    ],
)
def test_errors_quote_only_short_parts_of_a_file(text: str) -> None:
    with pytest.raises(InvalidCompetition) as excinfo:
        parse_competition(text)
    assert len(str(excinfo.value)) < MAX_VALUE_LENGTH + 100
    assert all(
        len(str(value)) <= MAX_VALUE_LENGTH
        for value in excinfo.value.message.render_values_in_english().values()
    )

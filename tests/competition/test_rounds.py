"""Rounds of competition files: valid settings, defaults, derived files and refusals."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from anoncup.competition.parser import CompetitionFile, parse_competition, parse_rounds
from anoncup.competition.templates import template
from anoncup.errors import InvalidCompetition
from anoncup.rules.rounds import MAX_ROUNDS, RoundSettings
from anoncup.rules.settings import Limits, Phase, Publication, Ranking
from anoncup.rules.toml_text import replace_tables
from tests.support.competition_texts import EXAMPLE, MINIMAL

COMMON = MINIMAL.replace("format = 1", "format = 2")
TWO_ROUNDS = (
    COMMON
    + """
[ranking]
rule = "rank_sum"
finals = 3
[limits]
valid_total = 20
valid_per_day = 4
[publication]
digits = 3

[[rounds]]
name = "preliminary"
title = { en = "Preliminary", ja = "予選" }
weight = 0.1
finals = 1
[rounds.limits]
valid_total = 5
[[rounds.phases]]
name = "anonymization"
start = 2027-01-10T09:00:00
end = 2027-01-20T09:00:00Z

[[rounds]]
name = "final"
weight = 0.9
data = "previous"
finals = 1
ranking = { rule = "score" }
[rounds.publication]
feedback = "daily"
"""
)


def test_round_has_the_common_rules_except_its_own() -> None:
    rules = parse_rounds(TWO_ROUNDS)
    common = parse_competition(MINIMAL)
    start, end = datetime(2027, 1, 10, 0, tzinfo=UTC), datetime(2027, 1, 20, 9, tzinfo=UTC)
    assert list(rules) == ["preliminary", "final"]
    assert rules["preliminary"] == replace(
        common,
        round="preliminary",
        title={"en": "Demo cup – Preliminary", "ja": "Demo cup – 予選"},
        ranking=Ranking(rule="rank_sum", finals=1),
        limits=Limits(valid_total=5, valid_per_day=4),
        publication=Publication(digits=3),
        phases=(Phase("anonymization", start, end),),
    )
    assert rules["final"] == replace(
        common,
        round="final",
        title={"en": "Demo cup – final"},
        ranking=Ranking(finals=1),
        limits=Limits(valid_total=20, valid_per_day=4),
        publication=Publication(digits=3, feedback="daily"),
    )


def test_settings_of_rounds_have_defaults() -> None:
    first, second = (entry.settings for entry in CompetitionFile(TWO_ROUNDS).rounds.values())
    own = {"ranking", "limits"}, {"publication", "ranking"}
    assert first == RoundSettings(
        "preliminary",
        {"en": "Preliminary", "ja": "予選"},
        weight=0.1,
        own_tables=frozenset(own[0]),
    )
    assert second == RoundSettings("final", weight=0.9, data="previous", own_tables=frozenset(own[1]))
    practice, real = (
        entry.settings
        for entry in CompetitionFile(
            COMMON + '[[rounds]]\nname = "try"\npractice = true\n[[rounds]]\nname = "x"\ntitle = "Real"\n'
        ).rounds.values()
    )
    assert practice == RoundSettings("try", weight=0.0, practice=True)
    assert real == RoundSettings("x", {"en": "Real"}, weight=1.0)


@pytest.mark.parametrize("text", [MINIMAL, EXAMPLE, template(2015), template(2016)])
def test_file_of_format_1_is_one_round_without_a_name(text: str) -> None:
    assert [entry.settings for entry in CompetitionFile(text).rounds.values()] == [RoundSettings()]
    assert parse_rounds(text) == {"": parse_competition(text)}
    assert CompetitionFile(text).round_texts == {"": text}


FULL_EXAMPLE = replace_tables(EXAMPLE, "phases", '[[rounds]]\nname = "a"\n').replace(
    "format = 1", "format = 2"
)


LONG_DESCRIPTION = "[description]\nterms = true\nen = '''\n" + "\\\n" * 2500 + "'''\n[ranking]"


@pytest.mark.parametrize(
    "text", [TWO_ROUNDS, FULL_EXAMPLE, TWO_ROUNDS.replace("[ranking]", LONG_DESCRIPTION, 1)]
)
def test_extracted_file_has_the_rules_of_the_round(text: str) -> None:
    for name, rules in parse_rounds(text).items():
        file = CompetitionFile(text).round_texts[name]
        assert parse_competition(file) == rules
        assert CompetitionFile(text).timetables[name].phases == rules.phases
        assert CompetitionFile(file).round_texts == {"": file}


def build_rounds(*bodies: str) -> str:
    return COMMON + "".join(
        f'[[rounds]]\nname = "round-{index}"\n{body}\n' for index, body in enumerate(bodies)
    )


PHASES = """
[[rounds.phases]]
name = "anonymization"
start = 2027-01-10T09:00:00Z
end = 2027-01-20T09:00:00Z
"""
RANKING = "[rounds.ranking]\ndefence = 'utility'\n"
WRONG_VALUES = {
    "no rounds": (COMMON, "rounds"),
    "an empty list": ("rounds = []\n" + COMMON, "rounds"),
    "a table": (COMMON + "[rounds]\n", "rounds"),
    "too many": (build_rounds(*[""] * (MAX_ROUNDS + 1)), "rounds"),
    "an empty name": (COMMON + '[[rounds]]\nname = ""\n', "rounds[0].name"),
    "a path as a name": (COMMON + '[[rounds]]\nname = "../x"\n', "rounds[0].name"),
    "the same name": (COMMON + '[[rounds]]\nname = "a"\n[[rounds]]\nname = "a"\n', "rounds[1].name"),
    "phases that are no list": (build_rounds("phases = 1"), "rounds[0].phases"),
    "phases that overlap": (build_rounds("", PHASES + PHASES), "rounds[1].phases"),
    "a limit of 0": (build_rounds("", "limits = { valid_total = 0 }"), "rounds[1].limits.valid_total"),
    "a common limit of 0": (
        build_rounds("").replace("[columns]", "[limits]\nvalid_total = 0\n[columns]"),
        "limits.valid_total",
    ),
    "finals that are text": (build_rounds("finals = '1'"), "rounds[0].finals"),
    "a negative weight": (build_rounds("weight = -1"), "rounds[0].weight"),
    "a weight that is no number": (build_rounds("weight = nan"), "rounds[0].weight"),
    "a weight of practice": (build_rounds("practice = true\nweight = 0.5"), "rounds[0].weight"),
    "practice as a number": (build_rounds("practice = 1"), "rounds[0].practice"),
    "data before there are any": (build_rounds('data = "previous"'), "rounds[0].data"),
    "other data": (build_rounds('data = "all"'), "rounds[0].data"),
    "opposite orders without a total": (
        build_rounds(RANKING + "order = 'descending'", RANKING),
        "ranking.total",
    ),
    "format 3": (build_rounds("").replace("format = 2", "format = 3"), "format"),
}
REFUSALS = {
    **{name: (*refusal, "wrong_value") for name, refusal in WRONG_VALUES.items()},
    "no name": (COMMON + "[[rounds]]\n", "rounds[0].name", "missing_key"),
    "an unknown key": (build_rounds("", "slug = 'other'"), "rounds[1].slug", "unknown_key"),
    "a removed key": (build_rounds("", 'targets = "live"'), "rounds[1].targets", "unknown_key"),
    "a removed common key": ('targets = "live"\n' + build_rounds(""), "targets", "unknown_key"),
    "common phases": (build_rounds("") + PHASES.replace("rounds.", ""), "phases", "unknown_key"),
    "limits that are no table": (build_rounds("limits = 1"), "rounds[0].limits", "wrong_type"),
    "an unknown limit": (build_rounds("limits = { x = 1 }"), "rounds[0].limits.x", "unknown_key"),
    "a title that is a number": (build_rounds("title = 1"), "rounds[0].title", "wrong_type"),
    "a title in another language": (
        build_rounds('title = { xx = "x" }'),
        "rounds[0].title.xx",
        "unknown_key",
    ),
    "rounds in format 1": (MINIMAL + '[[rounds]]\nname = "a"\n', "rounds", "unknown_key"),
    "no format": (build_rounds("").replace("format = 2", ""), "format", "missing_key"),
}


@pytest.mark.parametrize(("text", "key", "code"), REFUSALS.values(), ids=REFUSALS.keys())
def test_invalid_rounds_are_refused_with_their_place(text: str, key: str, code: str) -> None:
    with pytest.raises(InvalidCompetition) as refusal:
        parse_rounds(text)
    assert (refusal.value.message.values["key"], refusal.value.code) == (key, code)

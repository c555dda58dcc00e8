"""What packages bring is named where organizers set a competition up, as far as its catalogues go."""

import re
from dataclasses import replace

import pytest

from anoncup.competition.drafts import STARTS
from anoncup.plugins import TRACKS
from anoncup.rules.parameters import Parameter
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.parts import Attacker
from app.locale.language import LANGUAGES
from app.web.organizer import setup
from app.web.site.labels import LABELS
from tests.support.arena import Arena
from tests.web.reader import page

pytestmark = pytest.mark.full


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_package_brings_to_start_from_is_named_by_it_or_by_its_track_or_by_nothing_else(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(setup, "STARTS", (*STARTS, "bets", "riddles", "riddles_2"))
    for name, text in (("choose_start_bets", "A cup of bets"), ("track_riddles", "Riddles")):
        monkeypatch.setitem(LABELS, name, text)
    shown = page(arena, "/organize/new", organizer=True, language=language)
    assert shown.status_code == 200
    labels = dict(re.findall(r'<label for="start-(\w+)">([^<]*)</label>', shown.text))
    assert list(labels) == [*STARTS, "bets", "riddles", "riddles_2"]
    assert [labels[name] for name in ("bets", "riddles", "riddles_2")] == [
        "A cup of bets",
        "Riddles",
        "riddles_2",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_parameter_that_a_package_brings_is_called_by_its_word_where_it_is_set(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    told = Parameter("coin", "amount", default=1.0), Parameter("of", "choice", ("gold", "tin"))
    thief = Attacker("thief", 1, lambda target, **_: target, told)
    monkeypatch.setitem(
        TRACKS, "microdata", replace(MICRODATA, attackers={**MICRODATA.attackers, "thief": thief})
    )
    for name, text in (("parameter_coin", "Its coin"), ("value_gold", "Of gold")):
        monkeypatch.setitem(LABELS, name, text)
    shown = page(arena, "/competitions/small/organize/measures", organizer=True, language=language).text
    assert re.search(r'<label for="[^"]*coin">Its coin</label>', shown)
    assert re.search(r'<label for="[^"]*of">of</label>', shown)
    assert re.findall(r'<option value="(?:gold|tin)"[^>]*>([^<]*)<', shown) == ["Of gold", "tin"]

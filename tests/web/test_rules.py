"""The rules of a competition as a page: everything in them comes from the registry, and has words."""

import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from markupsafe import Markup

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.ranking import overall
from anoncup.plugins import TRACKS
from anoncup.rules.parameters import Parameter
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.tables import files_of
from app.db.models import Competition
from app.locale.language import LANGUAGES
from app.storage import digest_of
from app.web.site.labels import LABELS
from app.web.site.notation import indexed, numeral
from app.web.visitor import formulas
from app.web.visitor.rules import attack_rules, measure_rules, source_of, worked
from tests.support.arena import Arena, competition_file
from tests.web.reader import page, words_of
from tests.web.spoken import said


def named(part: str) -> set[str]:
    """The names of all tracks' measures, attackers or distances."""

    def of(track: Track) -> Mapping[str, Any]:
        registry: Mapping[str, Any] = getattr(track, part)
        return registry

    return {name for track in TRACKS.values() for name in of(track)}


@pytest.mark.parametrize(
    ("part", "prefix"), [("measures", "measure_"), ("attackers", "attacker_"), ("distances", "distance_")]
)
def test_every_registered_name_has_a_title_and_a_sentence_and_no_other_name_has(
    part: str, prefix: str
) -> None:
    titles = {prefix + name for name in named(part)}
    assert {name for name in LABELS if name.startswith(prefix)} - {"measure_direction"} == titles | {
        f"{title}_said" for title in titles
    }


def test_every_method_has_a_name_and_no_other_has() -> None:
    methods = {f"method_{name}" for name in named("methods") | named("signatures")}
    assert {name for name in LABELS if name.startswith("method_")} == methods


def test_a_name_is_a_measures_or_an_attackers_so_that_it_can_be_an_anchor() -> None:
    assert named("measures") & named("attackers") == set()


def every_formula() -> list[Markup]:
    tables = (*formulas.MEASURES.values(), formulas.DISTANCES, formulas.SCORES)
    return [formula for table in tables for formula in table.values()]


def test_every_measure_and_distance_has_a_formula_and_no_other_name_has() -> None:
    assert set(formulas.MEASURES) == set(TRACKS)
    for name, track in TRACKS.items():
        assert set(formulas.MEASURES[name]) == set(track.measures)
    assert set(formulas.DISTANCES) == named("distances")


def test_every_formula_is_whole_and_its_parts_have_as_many_children_as_they_need() -> None:
    needed = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "msubsup": 3}
    for formula in every_formula():
        root = ElementTree.fromstring(formula)
        assert root.tag == "math"
        for element in root.iter():
            assert len(element) == needed.get(element.tag, len(element))
            assert not element.text or not len(element)


def test_what_formulas_say_beside_is_about_measures_that_there_are() -> None:
    said = {key.removeprefix("where_") for key in LABELS if key.startswith("where_")}
    assert said <= named("measures")


@pytest.mark.full
def test_a_part_that_nobody_has_described_is_shown_by_its_own_name(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    track = TRACKS["microdata"]
    heads = Parameter("faces", "choice", ("heads", "tails"))
    measure = Measure("coins", 1, track.measures["mean_mae"].compute, (heads,), weighs=True)
    attacker = Attacker("tosser", 1, track.attackers["own_row"].attack, (heads,))
    more = replace(
        track,
        measures={**track.measures, "coins": measure},
        attackers={**track.attackers, "tosser": attacker},
        methods={**track.methods, "toss": replace(track.methods["add_noise"], name="toss")},
    )
    monkeypatch.setitem(TRACKS, "microdata", more)
    assert formulas.of_measure("microdata", "coins") is None
    assert formulas.of_measure("chess", "coins") is None
    for language in LANGUAGES:
        shown = page(arena, f"/competitions/{arena.slug}/rules", language=language)
        assert shown.status_code == 200
        assert {"coins", "tosser"} <= set(ids(shown.text))
    for path in ("measures", "baselines", "threshold"):
        shown = page(arena, f"/competitions/{arena.slug}/organize/{path}", organizer=True)
        assert shown.status_code == 200, path


def text_of(arena: Arena, **reader: Any) -> str:
    return unescape(" ".join(words_of(page(arena, f"/competitions/{arena.slug}/rules", **reader).text)))


def ids(shown: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', shown)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_measure_and_attacker_of_the_track_stands_on_the_page_under_its_name(
    arena: Arena, language: str
) -> None:
    found = page(arena, f"/competitions/{arena.slug}/rules", language=language).text
    track = TRACKS["microdata"]
    assert {*track.measures, *track.attackers, "distance_gower"} <= set(ids(found))
    assert len(ids(found)) == len(set(ids(found)))
    assert set(re.findall(r'href="#([^"]+)"', found)) <= set(ids(found))
    for name in track.measures:
        assert said(f"measure_{name}_said", language) in unescape(found)
    assert found.count("<math") >= len(track.measures) + 5


def test_a_measures_weight_scale_and_parameters_are_the_competitions_own(client: TestClient) -> None:
    more = '[measures.cross_mean]\nweight = 4.0\ncolumns = ["age"]\ntarget = ["rent"]\n'
    arena = Arena.opened(client, file=competition_file(more=more))
    found = page(arena, f"/competitions/{arena.slug}/rules").text
    entry = found.split('id="cross_mean"')[1].split("</section>")[0]
    published = parse_competition(arena.get(f"/competitions/{arena.slug}/competition.toml").text)
    for text in (
        "Weight in U: 4 (share 50%)",
        f"Scale t: {numeral(published.scales['cross_mean'])}",
        "columns A: age",
        "mean of b: rent",
    ):
        assert text in entry
    assert "lower is better" in entry
    assert "higher is better" in found.split('id="k_min"')[1].split("</section>")[0]
    assert "reported only" in found.split('id="cor_mae"')[1].split("</section>")[0]


def test_an_attacker_that_does_not_count_is_said_to_be_reported_only(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more="[attackers.euc1]\ncounts = false\n"))
    found = page(arena, f"/competitions/{arena.slug}/rules").text
    assert "reported only" in found.split('id="euc1"')[1].split("</section>")[0]
    assert "reported only" not in found.split('id="euc2"')[1].split("</section>")[0]


@pytest.mark.parametrize(
    ("approach", "rule", "said"),
    [
        ("II", "average", "Rejected if the mean distance is above 0.2."),
        ("II", "strict", "Rejected if anybody’s distance is above 0.2."),
        ("I", "average", "Rejected if the released data of anybody lie within 0.2"),
    ],
)
def test_the_excessive_rule_is_said_with_its_threshold(
    client: TestClient, approach: str, rule: str, said: str
) -> None:
    file = competition_file().replace("[excessive]", f'[excessive]\napproach = "{approach}"\nrule = "{rule}"')
    assert said in text_of(Arena.opened(client, file=file))


@pytest.mark.parametrize("feedback", ["hidden", "immediate", "daily"])
@pytest.mark.parametrize("board", ["public", "teams"])
def test_who_sees_what_is_said(client: TestClient, feedback: str, board: str) -> None:
    publication = f'[publication]\nfeedback = "{feedback}"\nboard = "{board}"'
    found = text_of(Arena.opened(client, file=competition_file(more=publication)))
    assert said(f"feedback_{feedback}") in found
    assert said(f"board_{board}") in found


@pytest.mark.parametrize(("hours", "text"), [(0, ""), (1, " 1 hour."), (24, " 24 hours.")])
def test_the_notice_before_a_reveal_is_said_where_there_is_one(
    client: TestClient, hours: int, text: str
) -> None:
    found = text_of(Arena.opened(client, file=competition_file(notice=hours)))
    assert ("the reveal waits until that has been known for" in found) == bool(text)
    assert text in found


def test_limits_are_the_competitions_own(client: TestClient) -> None:
    arena = Arena.opened(
        client, file=competition_file(more="[limits]\nvalid_per_day = 7\nguesses_per_target = 1234")
    )
    found = text_of(arena)
    assert "Valid submissions a day 7" in found
    assert "Guesses on a target 1,234" in found


def test_data_and_kit_can_be_downloaded_as_soon_as_they_are_there(arena: Arena) -> None:
    found = page(arena, f"/competitions/{arena.slug}/rules").text
    links = re.findall(r'href="(/api/[^"]+(?:csv|zip|toml))"', found)
    assert [link.rsplit("/", 1)[1] for link in links] == ["kit.zip", "original.csv", "competition.toml"]
    assert [arena.client.get(link).status_code for link in links] == [200] * 3
    arena.post("/competitions", content=competition_file("bare"))
    bare = page(arena, "/competitions/bare/rules").text
    assert said(
        "The original data are not available yet. Once the organizers have uploaded them, you can download them and the kit here."
    ) in unescape(bare)
    assert "kit.zip<" not in bare
    assert 'href="/api/v1/competitions/bare/kit.zip"' not in bare


@pytest.mark.parametrize("year", [2015, 2016])
def test_the_worked_example_adds_up(year: int) -> None:
    """A quarter of one scale and half of the next, by equal weights."""
    competition = parse_competition(template(year))
    names = [name for name, settings in competition.measures.items() if settings.weight]
    found = worked(replace(competition, scales=dict.fromkeys(names, 8.0)), TRACKS[competition.track])
    assert found is not None
    assert list(found.values.values()) == [(2.0, 0.25), (4.0, 0.5)]
    assert found.utility == pytest.approx(0.75 / len(names))
    assert found.overall == overall(found.utility, found.security)
    assert worked(competition, TRACKS[competition.track]) is None


@pytest.mark.parametrize("year", [2015, 2016])
def test_what_weighs_stands_first_and_the_shares_are_of_all_weights(year: int) -> None:
    competition = parse_competition(template(year))
    track = TRACKS[competition.track]
    found = list(measure_rules(competition, track))
    assert sum(rule.share for rule in found) == pytest.approx(1)
    weighing = [rule.weight is not None for rule in found]
    assert weighing == sorted(weighing, reverse=True)
    attacks = {attack.attacker.name: attack for attack in attack_rules(competition, track)}
    assert list(attacks) == list(track.attackers)
    if year == 2015:
        assert attacks["sa_rank"].parameters == {"column": "Youto117"}
        assert attacks["euc1"].parameters["give_up"] == "=abstain"
    else:
        assert not attacks["random_in_cluster"].counts


def test_a_transactions_page_has_its_own_measures_and_names_the_source_of_its_data(
    client: TestClient,
) -> None:
    arena = Arena.opened(client)
    arena.post("/competitions", content=template(2016))
    found = page(arena, "/competitions/cup-2016/rules").text
    track = TRACKS["transactions"]
    assert {*track.measures, *track.attackers, "distance_jaccard_quantity"} <= set(ids(found))
    assert "mean_mae" not in found
    assert "customer_id,receipt_id,date,time,goods,unit_price,quantity" in found
    assert "CC BY" not in found  # its data are not there yet


def test_only_the_shipped_data_are_said_to_be_online_retail() -> None:
    shipped = {name: digest_of(content) for name, content in files_of(tc400()).items()}
    track = TRACKS["transactions"]
    assert source_of(Competition(scales={}, original=shipped), track) == "tc400"
    assert source_of(Competition(scales={}, original=shipped | {"customers": "0" * 64}), track) is None
    assert source_of(Competition(scales={}, original={}), track) is None


def test_symbols_in_sentences_are_set_as_in_the_formulas() -> None:
    assert indexed("row s_j of X, a < b, id_rand, S1_Age") == (
        "row <i>s<sub>j</sub></i> of X, a &lt; b, id_rand, S1_Age"
    )

"""The rules page of a competition describes every registered measure, attacker and distance."""

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.tracks.membership.tables import write_table
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.tables import files_of
from app.competitions.rules_pages import (
    iter_attacker_rules,
    iter_measure_rules,
    load_formulas,
    load_score_formulas,
)
from app.core.pages.mathematics import typeset
from app.core.pages.notation import format_number, mark_up_symbols
from app.core.storage import compute_digest
from tests.support import membership_contest
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import run_clock
from tests.support.membership_cases import build_survey
from tests.support.page_requests import extract_words, get_page
from tests.support.translations import LABEL_KEYS, translate

MATHML = "http://www.w3.org/1998/Math/MathML"
KNOWN_TAGS = {"math", "mrow", "mi", "mn", "mo", "mfrac", "msub", "msup", "msubsup", "munder", "msqrt"}


def list_names(kind: str) -> set[str]:
    """Return the names of the measures, attackers, distances or methods of all tracks."""
    return {name for track in TRACKS.values() for name in getattr(track, kind)}


@pytest.mark.parametrize(
    ("kind", "prefix"), [("measures", "measure_"), ("attackers", "attacker_"), ("distances", "distance_")]
)
def test_registered_names_have_a_title_and_a_sentence(kind: str, prefix: str) -> None:
    titles = {prefix + name for name in list_names(kind)}
    assert {name for name in LABEL_KEYS if name.startswith(prefix)} == titles | {
        f"{title}_description" for title in titles
    }


def test_measures_and_distances_have_a_formula_of_well_formed_mathml() -> None:
    child_counts = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "msubsup": 3}
    typeset_formulas = list(load_score_formulas().values())
    for name, track in TRACKS.items():
        tables = load_formulas(name)
        assert set(tables["measures"]) == set(track.measures)
        assert set(tables.get("distances", ())) == set(track.distances)
        typeset_formulas += [typeset(latex) for table in tables.values() for latex in table.values()]
    for formula in typeset_formulas:
        root = ElementTree.fromstring(formula)
        assert root.tag == f"{{{MATHML}}}math"
        for element in root.iter():
            tag = element.tag.removeprefix(f"{{{MATHML}}}")
            assert tag in KNOWN_TAGS
            assert len(element) == child_counts.get(tag, len(element))
            assert not element.text or not len(element)
            assert "\\" not in (element.text or "")  # a command that LaTeX does not know


def read_rules_text(arena: Arena, **viewer: Any) -> str:
    return unescape(
        " ".join(extract_words(get_page(arena, f"/competitions/{arena.slug}/rules", **viewer).text))
    )


def list_ids(html: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', html)


def test_page_describes_every_measure_and_attacker(arena: Arena) -> None:
    html = get_page(arena, f"/competitions/{arena.slug}/rules").text
    track, ids = TRACKS["microdata"], list_ids(html)
    assert {*track.measures, *track.attackers, "distance_gower"} <= set(ids)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    for name in track.measures:
        assert translate(f"measure_{name}_description") in unescape(html)
    assert html.count("<math") >= len(track.measures) + 5


def test_japanese_page_lists_columns_with_japanese_marks(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[attackers.id_rand]\nquasi_identifiers = ['sex', 'age']\n")
    text = read_rules_text(arena, language="ja")
    assert text.count("sex、age") == 2
    assert "sex, age" not in text


def test_page_shows_weights_scales_and_parameters(client: TestClient) -> None:
    measure = '[measures.cross_mean]\nweight = 4.0\ncolumns = ["age"]\ntarget = ["rent"]\n'
    attacker = "[attackers.euc1]\ncounts = false\n[limits]\nvalid_per_day = 7\nguesses_per_target = 1234"
    arena = Arena.create(client, extra_toml=measure + attacker)
    html = get_page(arena, f"/competitions/{arena.slug}/rules").text
    entries = {name: html.split(f'id="{name}"')[1].split("</section>")[0] for name in list_ids(html)}
    published = parse_competition(arena.get(f"/competitions/{arena.slug}/competition.toml").text)
    scale_text = f"Scale t: {format_number(published.scales['cross_mean'])}"
    parameters = ("columns A: age", "mean of b: rent", "lower is better")
    for text in ("Weight in U: 4 (share 50%)", scale_text, *parameters):
        assert text in entries["cross_mean"]
    assert "higher is better" in entries["k_min"]
    reported_only = {name for name in ("cor_mae", "euc1", "euc2") if "reported only" in entries[name]}
    assert reported_only == {"cor_mae", "euc1"}
    text = read_rules_text(arena)
    assert "Valid submissions a day, rejected ones too 7" in text
    assert "Guesses on a target 1,234" in text


def test_data_and_kit_can_be_downloaded_once_available(arena: Arena) -> None:
    html = get_page(arena, f"/competitions/{arena.slug}/rules").text
    links = re.findall(r'href="(/api/[^"]+(?:csv|zip|toml))"', html)
    assert [link.rsplit("/", 1)[1] for link in links] == ["kit.zip", "original.csv", "competition.toml"]
    assert [arena.client.get(link).status_code for link in links] == [200] * 3
    arena.post("/competitions", content=build_competition_toml("bare"))
    bare_html = get_page(arena, "/competitions/bare/rules", organizer=True).text
    assert "The original data are not available yet." in bare_html
    assert "kit.zip<" not in bare_html
    assert 'href="/api/v1/competitions/bare/kit.zip"' not in bare_html


def test_published_files_show_their_columns_and_an_example(arena: Arena) -> None:
    file = membership_contest.build_competition_toml().replace('slug = "small"', 'slug = "survey"')
    assert arena.post("/competitions", content=file).status_code == 201
    examples = arena.get("/competitions/survey").json()["original_examples"]
    assert examples.keys() == {"candidates.csv", "background.csv"}
    page = unescape(get_page(arena, "/competitions/survey/rules", organizer=True).text)
    for header, *rows in examples.values():
        assert len(rows) == 2
        assert ", ".join(header) in page
        assert "\n".join(",".join(line) for line in (header, *rows)) in page
    assert "hidden.csv" not in page  # only the organizers have it


def test_optional_file_that_is_missing_is_not_listed_and_the_draw_needs_the_organizers(arena: Arena) -> None:
    file = membership_contest.build_competition_toml().replace('slug = "small"', 'slug = "survey"')
    assert arena.post("/competitions", content=file).status_code == 201
    candidates = write_table(build_survey(60).candidates).decode().splitlines()
    content = "\n".join(line.rpartition(",")[0] for line in candidates)  # without the hidden column
    assert arena.put("/competitions/survey/original/candidates.csv", content=content).status_code == 200
    for path in ("rules", "organize/publish"):
        page = get_page(arena, f"/competitions/survey/{path}", organizer=True).text
        assert ("candidates.csv" in page, "background.csv" in page) == (True, False)
    run_clock()  # chooses the seed
    page = get_page(arena, "/competitions/survey/rules", organizer=True).text
    assert "to repeat them takes a file of the organizers as well" in page


@pytest.mark.parametrize("year", [2015, 2016])
def test_weighted_measures_come_first_and_their_shares_add_up(year: int) -> None:
    competition = parse_competition(template(year))
    track = TRACKS[competition.track]
    rules = list(iter_measure_rules(competition, track))
    assert sum(rule.share for rule in rules) == pytest.approx(1)
    weighing = [rule.weight is not None for rule in rules]
    assert weighing == sorted(weighing, reverse=True)
    attacks = {attack.attacker.name: attack for attack in iter_attacker_rules(competition, track)}
    assert list(attacks) == list(track.attackers)
    if year == 2015:
        assert attacks["sa_rank"].parameters == {"column": "Youto117"}
        assert attacks["euc1"].parameters["give_up"] == "=abstain"
    else:
        assert not attacks["random_in_cluster"].counts


def test_only_shipped_data_is_attributed_to_online_retail() -> None:
    shipped = {name: compute_digest(content) for name, content in files_of(load_tc400()).items()}
    examples = TRACKS["transactions"].examples
    assert examples.identify_dataset(shipped) == "tc400"
    assert examples.identify_dataset(shipped | {"customers": "0" * 64}) is None
    assert examples.identify_dataset({}) is None


def test_symbols_in_sentences_match_the_formulas() -> None:
    assert mark_up_symbols("row s_j of X, a < b, id_rand, S1_Age") == (
        "row <i>s<sub>j</sub></i> of X, a &lt; b, id_rand, S1_Age"
    )

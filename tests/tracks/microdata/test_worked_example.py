"""The worked example with four rows in Tables 2, 3, 4, 10 and 11 of P0."""

import pytest

from anoncup.tracks.linkage import attack_rates
from anoncup.tracks.microdata import MICRODATA, anonymity
from anoncup.tracks.microdata.registry import ATTACKERS, UTILITIES
from anoncup.tracks.microdata.release import MicrodataTarget
from tests.support.attacker_guesses import guess_rows
from tests.support.microdata_cases import MicrodataCase, build_case
from tests.support.microdata_reference import Cells, Texts

XQ: Texts = [("2", "1", "1"), ("2", "1", "1"), ("1", "1", "2"), ("1", "1", "2")]
XS = [[100.0, 100.0], [200.0, 400.0], [300.0, 200.0], [400.0, 500.0]]
UNIFIED: Texts = [("2", "1", "1"), ("2", "1", "1"), ("1", "1", "1"), ("1", "1", "1")]
RELEASES: dict[str, tuple[Texts, Cells]] = {
    "X": (XQ, XS),
    "B": (XQ, [[110.0, 90.0], [220.0, 390.0], [280.0, 210.0], [390.0, 520.0]]),
    "D": (UNIFIED, XS),
    "F": (XQ, [[150.0, 250.0], [150.0, 250.0], [350.0, 350.0], [350.0, 350.0]]),
    "G": (XQ, [[200.0, 100.0], [100.0, 400.0], [300.0, 500.0], [400.0, 200.0]]),
}
MEASURES = ("mean_mae", "cross_mean", "cross_count", "cor_mae", "information_loss")
MEASURE_VALUES = {
    "X": (0, 0, 0, 0, 0),
    "B": (1.25, 7.5, 0, 0.113856637, 0.040625),
    "D": (0, 175, 1, 0, 0),
    "F": (0, 0, 0, 0.292893219, 0.270833333),
    "G": (0, 0, 0, 0.848528137, 0.270833333),
}
ID_RAND_RATES = {"X": 0.5, "B": 0.5, "D": 0.25, "F": 0.5, "G": 0.5}
GUESSES = {
    "X": ("1234", "1234", "1234"),
    "B": ("1234", "1234", "1234"),
    "D": ("1234", "1234", "1234"),
    "F": ("1133", "1324", "1133"),
    "G": ("2134", "1342", "1243"),
}
each_release = pytest.mark.parametrize("name", RELEASES)


def build_paper_case(name: str) -> MicrodataCase:
    return build_case((XQ, XS, *RELEASES[name]), [0, 1, 2, 3])


def format_guess(attacker: str, target: MicrodataTarget, **parameters: object) -> str:
    return "".join(str(i + 1) for i in guess_rows(attacker, target, **parameters))


@each_release
def test_utilities_equal_the_papers(name: str) -> None:
    values = [UTILITIES[measure].compute(build_paper_case(name).release) for measure in MEASURES]
    assert values == pytest.approx(MEASURE_VALUES[name], abs=1e-9)


@each_release
def test_all_classes_have_two_rows(name: str) -> None:
    release = build_paper_case(name).release
    assert (anonymity.k_min(release), anonymity.k_mean(release)) == (2.0, 2.0)


@each_release
def test_attackers_guess_as_in_the_paper(name: str) -> None:
    target = build_paper_case(name).release.target
    guesses = tuple(format_guess(attacker, target) for attacker in ("id_sa", "sort", "euc2"))
    assert guesses == GUESSES[name]
    assert format_guess("euc1", target, give_up="own_row") == GUESSES[name][2]


@each_release
def test_id_rand_is_an_exact_expectation(name: str) -> None:
    release = build_paper_case(name).release
    rate = attack_rates.rate_guess(ATTACKERS["id_rand"].attack(release.target), release.answer, rows=4)
    assert (rate.value, rate.correct, rate.trials) == (ID_RAND_RATES[name], 4 * ID_RAND_RATES[name], 4)


def test_euc1_abstains_where_no_class_matches() -> None:
    assert guess_rows("euc1", build_paper_case("D").release.target) == [0, 1, -1, -1]


def test_sa_rank_guesses_as_in_the_paper() -> None:
    assert format_guess("sa_rank", build_paper_case("G").release.target) == "2134"


def test_sa_rank_spreads_the_ranks_of_fewer_rows() -> None:
    """Algorithm 4 of P1 matches rank r of two rows with rank floor((r - 1) 4 / 2) + 1 of four."""
    target = build_case((XQ, XS, XQ[:2], [[400.0, 0.0], [100.0, 0.0]]), [3, 0]).release.target
    assert format_guess("sa_rank", target) == "31"
    assert format_guess("sort", target, sensitive=("s0",)) == "21"


@pytest.mark.parametrize(("row", "distance"), [(0, 14.142), (1, 322.8)])
def test_euclidean_distances_equal_the_papers(row: int, distance: float) -> None:
    """P0 §3.1 compares the first row of B with the first two rows of X."""
    release = build_case((XQ, XS, XQ[:1], RELEASES["B"][1][:1]), [row]).release
    assert MICRODATA.distances["euclidean"].to_source(release)[0] == pytest.approx(distance, rel=2e-5)

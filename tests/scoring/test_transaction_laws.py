"""Laws over the registries of the transactions track: whatever is registered is tested here."""

import json
import math
import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from app.scoring import rates
from app.scoring.anonymity import CUSTOMER_ANONYMITY
from app.scoring.attackers import TRANSACTION_ATTACKERS, basket_assignment, baskets, records, spend
from app.scoring.competition_file import parse_competition
from app.scoring.evaluate import evaluate
from app.scoring.methods import TRANSACTION_METHODS
from app.scoring.rates import Noted, OwnCluster
from app.scoring.registry import Attacker, Measure
from app.scoring.scales import scales
from app.scoring.templates import template
from app.scoring.tracks.transactions import TRANSACTIONS
from app.scoring.tracks.transactions.steps import null_release
from app.scoring.transaction_release import TransactionTarget, target_of
from app.scoring.utility import TRANSACTION_UTILITIES
from app.scoring.utility import transactions as utilities
from tests.scoring.transactions_to_break import Case, cases
from tests.trying import tries

hostile = tries(20)
MEASURES = TRANSACTION_UTILITIES | CUSTOMER_ANONYMITY
every_utility = pytest.mark.parametrize("measure", TRANSACTION_UTILITIES.values(), ids=TRANSACTION_UTILITIES)
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
every_attacker = pytest.mark.parametrize(
    "attacker", TRANSACTION_ATTACKERS.values(), ids=TRANSACTION_ATTACKERS
)
BUILDING_BLOCKS = {"signed_row_difference", "deciles", "classes_above", "most_bought", "buyer_counts"}


def public_functions(module: object) -> dict[str, Callable[..., object]]:
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__  # type: ignore[attr-defined]
    }


def test_every_function_of_the_registered_files_has_its_entry() -> None:
    assert set(TRANSACTION_UTILITIES) == set(public_functions(utilities)) - BUILDING_BLOCKS
    files = (baskets, records, spend, basket_assignment)
    found = set().union(*map(public_functions, files))
    assert set(TRANSACTION_ATTACKERS) == (found | {"own_row"}) - {"ranked", "Keys"}


@pytest.mark.parametrize("registry", [MEASURES, TRANSACTION_ATTACKERS, TRANSACTION_METHODS])
def test_entries_stand_under_their_names(registry: dict[str, Measure | Attacker]) -> None:
    assert all(entry.name == name for name, entry in registry.items())


def test_a_target_has_no_field_for_the_answer() -> None:
    fields = set(TransactionTarget.__dataclass_fields__)
    assert fields == {"original", "tables", "words", "master", "history", "baskets", "kept"}


@every_utility
@hostile
@given(case=cases())
def test_an_untouched_table_scores_zero(measure: Measure, case: Case) -> None:
    assert measure.compute(TRANSACTIONS.untouched(case.release.original)) == 0.0


@every_measure
@hostile
@given(case=cases())
def test_measures_are_finite_builtin_floats_from_zero_up(measure: Measure, case: Case) -> None:
    value = measure.compute(case.release)
    assert type(value) is float
    assert math.isfinite(value)
    assert value >= 0.0


@every_attacker
@hostile
@given(case=cases())
def test_rates_lie_between_zero_and_one(attacker: Attacker, case: Case) -> None:
    answer = attacker.attack(case.release.target)
    if not isinstance(answer, OwnCluster):
        guess = answer.guess if isinstance(answer, Noted) else answer
        assert isinstance(guess, np.ndarray)
        assert ((guess >= -1) & (guess < case.release.original.rows)).all()
    rate = rates.rate_of(answer, case.release.source, rows=case.release.original.rows)
    assert type(rate.rate) is float
    assert 0.0 <= rate.rate <= 1.0
    assert rate.trials == case.release.target.rows


@hostile
@given(case=cases())
def test_measuring_and_attacking_leave_the_tables_alone(case: Case) -> None:
    tables = (case.release.original.tables, case.release.target.tables)
    before = [(each.customers.copy(deep=True), each.transactions.copy(deep=True)) for each in tables]
    for measure in MEASURES.values():
        measure.compute(case.release)
    for attacker in TRANSACTION_ATTACKERS.values():
        attacker.attack(case.release.target)
    for each, (customers, transactions) in zip(tables, before, strict=True):
        pd.testing.assert_frame_equal(each.customers, customers)
        pd.testing.assert_frame_equal(each.transactions, transactions)


@hostile
@given(case=cases())
def test_the_verdict_is_plain_finite_json_whatever_the_tables(case: Case) -> None:
    rules, original = parse_competition(template(2016)), case.release.original
    for distance in TRANSACTIONS.distances:
        chosen = replace(rules, excessive=replace(rules.excessive, distance=distance))
        found = evaluate(chosen, original, case.release.target.tables, case.release.source)
        json.dumps(found.to_json(), allow_nan=False)
        assert all(0.0 <= each <= 1.0 for each in (found.utility, found.security, found.overall))


@hostile
@given(case=cases())
def test_a_prepared_original_survives_pickling(case: Case) -> None:
    original, tables = case.release.original, case.release.target.tables
    for attacker in TRANSACTION_ATTACKERS.values():
        attacker.attack(case.release.target)
    again = target_of(pickle.loads(pickle.dumps(original)), tables)
    for name in ("record_keys", "jaccard", "sort_spend"):
        one, other = (TRANSACTION_ATTACKERS[name].attack(each) for each in (case.release.target, again))
        assert isinstance(one, np.ndarray)
        assert isinstance(other, np.ndarray)
        assert one.tolist() == other.tolist()


@hostile
@given(case=cases())
def test_scales_are_means_over_five_null_releases(case: Case) -> None:
    original = case.release.original
    found = scales(TRANSACTIONS, original, {})
    assert set(found) == set(TRANSACTION_UTILITIES)
    assert found["row_difference"] == len(original.tables.transactions)
    drawn = [TRANSACTION_UTILITIES["rfm"].compute(null_release(original, draw)) for draw in range(5)]
    assert found["rfm"] == pytest.approx(np.mean(drawn))


@hostile
@given(case=cases())
def test_a_null_release_permutes_every_column_but_the_customers(case: Case) -> None:
    records = case.release.original.tables.transactions
    released = null_release(case.release.original, 3).target.tables
    rng = np.random.Generator(np.random.PCG64(3))
    assert released.transactions["customer_id"].tolist() == records["customer_id"].tolist()
    for name in list(records.columns)[1:]:
        expected = records[name].iloc[rng.permutation(len(records))].tolist()
        assert released.transactions[name].tolist() == expected

"""Laws that every registered measure and attacker of the transactions track keeps."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.scales import scales
from anoncup.tracks.transactions import TRANSACTIONS
from anoncup.tracks.transactions import utility as utilities
from anoncup.tracks.transactions.adapter import null_release
from anoncup.tracks.transactions.attackers import assignment, baskets, records, spending
from anoncup.tracks.transactions.registry import TRANSACTION_ATTACKERS, TRANSACTION_UTILITIES
from anoncup.tracks.transactions.release import TransactionOriginal, TransactionTarget
from tests.support.hypothesis_profiles import limit_examples
from tests.support.public_functions import list_public_functions
from tests.support.transactions_cases import TransactionCase, build_tables, cases
from tests.support.transactions_reference import Customer, PlainTables, Record

hostile_examples = limit_examples(20)
HELPER_FUNCTIONS = {"signed_row_difference", "deciles", "count_original_records"}


def test_every_public_function_is_registered() -> None:
    assert set(TRANSACTION_UTILITIES) == list_public_functions(utilities) - HELPER_FUNCTIONS
    modules = (baskets, records, spending, assignment)
    functions = set().union(*map(list_public_functions, modules))
    assert set(TRANSACTION_ATTACKERS) == (functions | {"own_row"}) - {"KeyHolders"}


def test_target_has_no_field_for_the_answer() -> None:
    fields = set(TransactionTarget.__dataclass_fields__)
    assert fields == {"original", "tables", "vocabularies", "master", "history", "baskets", "memo"}


def test_later_changes_of_the_tables_have_no_effect() -> None:
    customer = Customer("c", "f", "1980-01-01", "France")
    record = Record("c", "r1", "2011-01-05", "08:45", "a", 2.5, 3)
    tables = build_tables(PlainTables([customer], [record]))
    original = TransactionOriginal(tables)
    tables.transactions.loc[0, "unit_price"] = 9.0
    tables.customers.loc[0, "country"] = "Japan"
    assert original.history.price.tolist() == [2.5]
    assert original.tables.customers["country"].tolist() == ["France"]


@hostile_examples
@given(case=cases())
def test_verdicts_of_hostile_tables_are_finite_json(case: TransactionCase) -> None:
    rules, original = parse_competition(template(2016)), case.release.original
    for distance in TRANSACTIONS.distances:
        distance_rules = replace(rules, excessive=replace(rules.required_excessive, distance=distance))
        verdict = evaluate(distance_rules, original, case.release.target.tables, case.release.answer)
        json.dumps(verdict.to_json(), allow_nan=False)
        assert all(0.0 <= score <= 1.0 for score in (verdict.utility, verdict.security, verdict.overall))


@hostile_examples
@given(case=cases())
def test_scales_are_means_over_five_null_releases(case: TransactionCase) -> None:
    original = case.release.original
    computed = scales(TRANSACTIONS, original, {})
    assert set(computed) == set(TRANSACTION_UTILITIES)
    assert computed["row_difference"] == len(original.tables.transactions)
    losses = [TRANSACTION_UTILITIES["rfm"].compute(null_release(original, number)) for number in range(5)]
    assert computed["rfm"] == pytest.approx(np.mean(losses))


@hostile_examples
@given(case=cases())
def test_null_releases_permute_all_columns_but_customers(case: TransactionCase) -> None:
    transactions = case.release.original.tables.transactions
    released = null_release(case.release.original, 3).target.tables
    rng = np.random.Generator(np.random.PCG64(3))
    assert released.transactions["customer_id"].tolist() == transactions["customer_id"].tolist()
    for name in list(transactions.columns)[1:]:
        expected = transactions[name].iloc[rng.permutation(len(transactions))].tolist()
        assert released.transactions[name].tolist() == expected

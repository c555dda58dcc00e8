"""Laws over the registries of the transactions track: whatever is registered is tested here."""

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
from anoncup.tracks.transactions.release import TransactionTarget
from tests.scoring.transactions_to_break import Case, cases
from tests.support.hypothesis_profiles import examples
from tests.support.public_functions import public_functions

hostile = examples(20)
BUILDING_BLOCKS = {
    "signed_row_difference", "deciles", "classes_above", "most_bought", "buyer_counts", "original_records"
}  # fmt: skip


def test_every_function_of_the_registered_files_has_its_entry() -> None:
    assert set(TRANSACTION_UTILITIES) == public_functions(utilities) - BUILDING_BLOCKS
    files = (baskets, records, spending, assignment)
    found = set().union(*map(public_functions, files))
    assert set(TRANSACTION_ATTACKERS) == (found | {"own_row"}) - {"ranked", "Keys"}


def test_a_target_has_no_field_for_the_answer() -> None:
    fields = set(TransactionTarget.__dataclass_fields__)
    assert fields == {"original", "tables", "words", "master", "history", "baskets", "kept"}


@hostile
@given(case=cases())
def test_the_verdict_is_plain_finite_json_whatever_the_tables(case: Case) -> None:
    rules, original = parse_competition(template(2016)), case.release.original
    for distance in TRANSACTIONS.distances:
        chosen = replace(rules, excessive=replace(rules.against_excess, distance=distance))
        found = evaluate(chosen, original, case.release.target.tables, case.release.source)
        json.dumps(found.to_json(), allow_nan=False)
        assert all(0.0 <= each <= 1.0 for each in (found.utility, found.security, found.overall))


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

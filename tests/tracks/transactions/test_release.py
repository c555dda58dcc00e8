"""Originals of the transactions track do not see later changes, and their null releases give the scales."""

import numpy as np
from hypothesis import given

from anoncup.tracks.transactions.release import TransactionOriginal, null_release
from tests.support.hypothesis_profiles import limit_examples
from tests.support.transactions_cases import TransactionCase, build_tables, cases
from tests.support.transactions_reference import Customer, PlainTables, Record

hostile_examples = limit_examples(20)


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
def test_null_releases_permute_all_columns_but_customers(case: TransactionCase) -> None:
    transactions = case.release.original.tables.transactions
    released = null_release(case.release.original, 3).target.tables
    rng = np.random.Generator(np.random.PCG64(3))
    assert released.transactions["customer_id"].tolist() == transactions["customer_id"].tolist()
    for name in list(transactions.columns)[1:]:
        expected = transactions[name].iloc[rng.permutation(len(transactions))].tolist()
        assert released.transactions[name].tolist() == expected

"""The shipped data of the transactions track."""

import csv

import numpy as np
import pandas as pd
import pytest

from anoncup.tracks.transactions.baskets import distance_matrix
from anoncup.tracks.transactions.example import derive, tc400
from anoncup.tracks.transactions.release import prepare
from anoncup.tracks.transactions.tables import files_of, iso_date, iso_time, parse_original
from tests.support.tc400 import folder, reference


def test_it_has_the_papers_numbers() -> None:
    tables = tc400()
    assert (len(tables.customers), len(tables.transactions)) == (400, 38_087)
    records = tables.transactions
    assert (records["goods"].nunique(), records["receipt_id"].nunique()) == (2_781, 1_763)
    assert tables.customers["country"].nunique() == 30


def test_its_customers_have_as_much_in_common_as_the_papers_say() -> None:
    original = prepare(tc400())
    alike = 1.0 - distance_matrix(original, "jaccard")
    others = alike[~np.eye(400, dtype=bool)]
    assert others.mean() == pytest.approx(0.0300133, abs=5e-8)
    assert others.max() == pytest.approx(0.400, abs=5e-4)
    assert original.baskets.nnz / 400 == 65.725
    quantities = distance_matrix(original, "jaccard_quantity")
    assert 1.0 - quantities[~np.eye(400, dtype=bool)].min() == pytest.approx(0.287, abs=5e-4)
    shifted = quantities[np.arange(400), np.roll(np.arange(400), -1)]
    assert shifted.mean() == pytest.approx(0.97973, abs=5e-6)


def test_it_is_read_back_from_its_own_files() -> None:
    tables = tc400()
    again, remarks = parse_original(files_of(tables))
    pd.testing.assert_frame_equal(again.customers, tables.customers)
    pd.testing.assert_frame_equal(again.transactions, tables.transactions)
    assert not remarks


def test_its_people_are_the_same_every_time() -> None:
    pd.testing.assert_frame_equal(tc400().customers, tc400().customers)
    assert tc400().customers.iloc[0].tolist() == ["12346", "m", "1979-10-07", "United Kingdom"]


@reference
def test_it_equals_the_contests_transactions_row_for_row() -> None:
    with (folder() / "Trans400.csv").open(newline="") as file:
        expected = [
            (who, receipt, iso_date(day), iso_time(time), goods, float(price), int(quantity))
            for who, receipt, day, time, goods, price, quantity in csv.reader(file)
        ]
    assert list(tc400().transactions.itertuples(index=False, name=None)) == expected


@reference
def test_it_is_what_the_recipe_derives() -> None:
    derived = derive(pd.read_parquet(folder() / "online_retail.parquet"))
    assert derived.drop(columns="country").values.tolist() == tc400().transactions.values.tolist()


@reference
def test_it_has_the_contests_customers_in_the_contests_order() -> None:
    with (folder() / "Master-Customer400.csv").open(newline="") as file:
        expected = [row[0] for row in csv.reader(file)]
    assert tc400().customers["customer_id"].tolist() == expected

"""The data set TC400 shipped with the transactions track."""

import csv

import numpy as np
import pandas as pd
import pytest

from anoncup.tracks.transactions.baskets import distance_matrix
from anoncup.tracks.transactions.example import derive_tc400, load_tc400
from anoncup.tracks.transactions.release import TransactionOriginal
from anoncup.tracks.transactions.tables import files_of, normalize_date, normalize_time, parse_original
from tests.support.reference_data import get_reference_folder, needs_reference_data

PAPER_RECORDS = {
    ("12583", "536370", "2010-12-01", "08:45", "22728", 3.75, 24),
    ("12431", "536389", "2010-12-01", "10:03", "21791", 1.25, 12),
    ("12748", "537429", "2010-12-06", "15:54", "84970S", 0.85, 12),
}
"""Three of the ten records in Table 2 of P3."""


def test_tc400_has_the_sizes_given_in_the_papers() -> None:
    tables = load_tc400()
    assert (len(tables.customers), len(tables.transactions)) == (400, 38_087)
    records = tables.transactions
    assert (records["goods"].nunique(), records["receipt_id"].nunique()) == (2_781, 1_763)
    assert tables.customers["country"].nunique() == 30


def test_tc400_has_the_ranges_and_records_of_the_papers_tables() -> None:
    """P3 Tables 2 and 3; the highest price is printed as 4161."""
    records = load_tc400().transactions
    ranges = records[["unit_price", "quantity", "date"]].agg(["min", "max"])
    assert ranges["unit_price"].tolist() == [0.04, 4161.06]
    assert ranges["quantity"].tolist() == [1, 74_215]
    assert ranges["date"].tolist() == ["2010-12-01", "2011-12-09"]
    assert set(records.itertuples(index=False, name=None)) >= PAPER_RECORDS


def test_tc400_has_the_similarities_given_in_the_papers() -> None:
    original = TransactionOriginal(load_tc400())
    similarities = 1.0 - distance_matrix(original, "jaccard")
    pair_similarities = similarities[~np.eye(400, dtype=bool)]
    assert pair_similarities.mean() == pytest.approx(0.0300133, abs=5e-8)
    assert pair_similarities.max() == pytest.approx(0.400, abs=5e-4)
    assert original.baskets.nnz / 400 == 65.725
    quantities = distance_matrix(original, "jaccard_quantity")
    assert 1.0 - quantities[~np.eye(400, dtype=bool)].min() == pytest.approx(0.287, abs=5e-4)
    shifted_distances = quantities[np.arange(400), np.roll(np.arange(400), -1)]
    assert shifted_distances.mean() == pytest.approx(0.97973, abs=5e-6)


def test_tc400_round_trips_through_files() -> None:
    tables = load_tc400()
    parsed, remarks = parse_original(files_of(tables))
    pd.testing.assert_frame_equal(parsed.customers, tables.customers)
    pd.testing.assert_frame_equal(parsed.transactions, tables.transactions)
    assert not remarks


def test_generated_customers_are_reproducible() -> None:
    pd.testing.assert_frame_equal(load_tc400().customers, load_tc400().customers)
    assert load_tc400().customers.iloc[0].tolist() == ["12346", "m", "1979-10-07", "United Kingdom"]


@needs_reference_data
def test_transactions_equal_those_of_the_contest() -> None:
    with (get_reference_folder() / "Trans400.csv").open(newline="") as file:
        expected = [
            (customer, receipt, normalize_date(day), normalize_time(time), goods, float(price), int(quantity))
            for customer, receipt, day, time, goods, price, quantity in csv.reader(file)
        ]
    assert list(load_tc400().transactions.itertuples(index=False, name=None)) == expected


@needs_reference_data
def test_transactions_can_be_derived_from_online_retail() -> None:
    derived_transactions = derive_tc400(pd.read_parquet(get_reference_folder() / "online_retail.parquet"))
    assert (
        derived_transactions.drop(columns="country").values.tolist()
        == load_tc400().transactions.values.tolist()
    )


@needs_reference_data
def test_customers_equal_those_of_the_contest() -> None:
    with (get_reference_folder() / "Master-Customer400.csv").open(newline="") as file:
        expected = [row[0] for row in csv.reader(file)]
    assert load_tc400().customers["customer_id"].tolist() == expected

"""The worked example of the monthly track."""

from tests.scoring.monthly_reference import Row

TRANSACTIONS: list[Row] = [
    ("c1", "i1", "2011-01-05", "8:45", "A12", "2.5", "3"),
    ("c1", "i1", "2011-01-31", "8:45", "B", "1", "1"),
    ("c1", "i2", "2011-02-01", "9:00", "A12", "2.5", "3"),
    ("c2", "i3", "2011-01-05", "9:00", "A13", "0", "12"),
]

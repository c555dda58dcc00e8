"""The worked example of the transactions track."""

from tests.support.transactions_cases import build_case
from tests.support.transactions_reference import Customer, PlainTables, Record

ORIGINAL_SIDE = PlainTables(
    [
        Customer("c1", "f", "", "France"),
        Customer("c2", "f", "", "Japan"),
        Customer("c3", "m", "", "France"),
        Customer("c4", "m", "", "Japan"),
    ],
    [
        Record("c1", "r1", "2011-01-05", "10:00", "A", 2.0, 3),
        Record("c1", "r1", "2011-01-05", "10:00", "B", 1.0, 1),
        Record("c1", "r2", "2011-03-01", "10:00", "C", 4.0, 2),
        Record("c2", "r3", "2011-02-01", "10:00", "A", 2.0, 1),
        Record("c2", "r3", "2011-02-01", "10:00", "B", 1.5, 4),
        Record("c3", "r4", "2011-06-30", "10:00", "D", 10.0, 1),
        Record("c4", "r5", "2011-05-20", "10:00", "A", 2.0, 2),
        Record("c4", "r6", "2011-06-01", "10:00", "D", 9.0, 1),
    ],
)
RELEASE_SIDE = PlainTables(
    [
        Customer("p1", "m", "", "France"),
        Customer("p2", "f", "", "France"),
        Customer("p3", "f", "", "Japan"),
    ],
    [
        *[record._replace(customer="p2") for record in ORIGINAL_SIDE.records[:3]],
        *[record._replace(customer="p3") for record in ORIGINAL_SIDE.records[3:5]],
        Record("p3", "r3", "2011-02-01", "10:00", "C", 4.0, 1),
        Record("p1", "r4", "2011-06-30", "10:00", "D", 9.0, 1),
    ],
)
CASE = build_case(ORIGINAL_SIDE, RELEASE_SIDE, [2, 0, 1])

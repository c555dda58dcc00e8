"""What the files of the monthly track are called and hold."""

from collections.abc import Mapping

from anoncup.messages import N_
from anoncup.tracks.files import GUESS, SECRET, FileSpec, as_lines, headed

CUSTOMER_COLUMNS = ("customer", "sex", "birth", "country")
TRANSACTION_COLUMNS = ("customer", "invoice", "date", "time", "good", "price", "quantity")
MOST_MONTHS = 12

DELETED = "DEL"
"""In the place of a customer: this row is deleted. In a guess: no pseudonym is named."""

SHARES = {"knowledge_25": 25, "knowledge_50": 50, "knowledge_75": 75, "knowledge_100": 100}
"""What per cent of the original's rows a table of partial knowledge keeps."""
QUESTIONS = {f"link_{share}": table for table, share in SHARES.items()}
"""What is asked about a release, and the table of partial knowledge it is asked with."""
KNOWN_CHARACTERS = 2
"""Of a good, in a table of partial knowledge."""
KNOWLEDGE = "knowledge"
"""The purpose that tables of partial knowledge are drawn for."""


def each_customer(sizes: Mapping[str, int], _: object) -> tuple[int, int]:
    return sizes["originals"], sizes["originals"]


CUSTOMERS = FileSpec(
    "customers",
    title="M",
    said="CSV of M",
    header=headed(*CUSTOMER_COLUMNS),
    individuals=True,
    example=as_lines(
        "customer,sex,birth,country", "12347,f,1963-04-02,Iceland", "12348,m,1985-11-20,Finland"
    ),
)
PURCHASES = FileSpec(
    "transactions",
    title="T",
    said="CSV of T",
    header=headed(*TRANSACTION_COLUMNS),
    example=as_lines(
        "customer,invoice,date,time,good,price,quantity",
        "12347,537626,2010-12-07,14:57,85116,2.1,12",
        "12348,539318,2010-12-16,19:09,84992,0.55,72",
    ),
)
KNOWN = tuple(
    FileSpec(
        name,
        title=f"{share}% of T",
        said=f"CSV like T: {share}% of its rows, goods cut to two characters, the others DEL",
        header=headed(*TRANSACTION_COLUMNS),
        required=False,
    )
    for name, share in SHARES.items()
)
RELEASED = FileSpec(
    "transactions",
    title="the anonymized purchases in the original's order",
    said="CSV of AT, row by row beside T, each under a pseudonym of its month or DEL",
    header=headed(*TRANSACTION_COLUMNS),
    like="transactions",
    kind="purchases",
)
SHUFFLED = FileSpec(
    "transactions",
    title="the purchases of a target",
    said="CSV of the rows of AT that are not deleted, in a new order",
    header=headed(*TRANSACTION_COLUMNS),
)
_SAMPLES = (("customer,2010-12,2011-01", "12347,p07,x-3", "12348,DEL,p11"),)
ANSWER = FileSpec(
    SECRET,
    title="F",
    said=N_(
        "CSV with the header customer and the months of T: "
        "the pseudonym of each customer in each month, or DEL"
    ),
    rows=each_customer,
    kind="months",
    samples=_SAMPLES,
    excerpts=_SAMPLES,
)
ASKED = FileSpec(
    GUESS,
    title="the guess",
    said="CSV headed customer and the months of T: a pseudonym for each customer in each month; DEL = none",
    rows=each_customer,
    kind="months",
    samples=_SAMPLES,
    excerpts=_SAMPLES,
)

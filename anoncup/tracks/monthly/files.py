"""Names, columns and specifications of the files of the monthly track.

M are the customers, T their transactions, AT the anonymized transactions and F the answer, as in the contest
of 2017.
"""

from collections.abc import Mapping

from anoncup.messages import N_
from anoncup.tracks.files import GUESS_FILE, SECRET_FILE, FileSpec, fixed_header, fixed_lines

CUSTOMER_COLUMNS = ("customer", "sex", "birth", "country")
TRANSACTION_COLUMNS = ("customer", "invoice", "date", "time", "good", "price", "quantity")
MAX_MONTHS = 12

DELETED_MARK = "DEL"
"""As a customer, it marks a deleted row; as a pseudonym, that there is none."""

KNOWLEDGE_PERCENTAGES = {"knowledge_25": 25, "knowledge_50": 50, "knowledge_75": 75, "knowledge_100": 100}
"""The percentage of the original's rows that each table of partial knowledge contains."""
QUESTIONS = {f"link_{share}": table for table, share in KNOWLEDGE_PERCENTAGES.items()}
"""The table of partial knowledge of each question about a release."""
KNOWN_GOOD_LENGTH = 2
"""Number of characters of a good that a table of partial knowledge keeps."""
KNOWLEDGE_PURPOSE = "knowledge"
"""The purpose for which tables of partial knowledge request a generator."""


def _require_row_per_customer(sizes: Mapping[str, int], _: object) -> tuple[int, int]:
    return sizes["originals"], sizes["originals"]


CUSTOMERS_SPEC = FileSpec(
    "customers",
    title="M",
    format_description="CSV of M",
    header=fixed_header(*CUSTOMER_COLUMNS),
    rows_are_individuals=True,
    example_lines=fixed_lines(
        ",".join(CUSTOMER_COLUMNS), "12347,f,1963-04-02,Iceland", "12348,m,1985-11-20,Finland"
    ),
)
TRANSACTIONS_SPEC = FileSpec(
    "transactions",
    title="T",
    format_description="CSV of T",
    header=fixed_header(*TRANSACTION_COLUMNS),
    example_lines=fixed_lines(
        ",".join(TRANSACTION_COLUMNS),
        "12347,537626,2010-12-07,14:57,85116,2.1,12",
        "12348,539318,2010-12-16,19:09,84992,0.55,72",
    ),
)
KNOWLEDGE_SPECS = tuple(
    FileSpec(
        name,
        title=f"{share}% of T",
        format_description=f"CSV like T: {share}% of its rows, goods cut to two characters, the others DEL",
        header=fixed_header(*TRANSACTION_COLUMNS),
        required=False,
    )
    for name, share in KNOWLEDGE_PERCENTAGES.items()
)
RELEASE_SPEC = FileSpec(
    "transactions",
    title="the anonymized purchases in the original's order",
    format_description="CSV of AT, row by row beside T, each under a pseudonym of its month or DEL",
    header=fixed_header(*TRANSACTION_COLUMNS),
    header_like="transactions",
    kind="purchases",
)
TARGET_SPEC = FileSpec(
    "transactions",
    title="the purchases of a target",
    format_description="CSV of the rows of AT that are not deleted, in a new order",
    header=fixed_header(*TRANSACTION_COLUMNS),
)
_PSEUDONYM_SAMPLES = (("customer,2010-12,2011-01", "12347,p07,x-3", "12348,DEL,p11"),)
ANSWER_SPEC = FileSpec(
    SECRET_FILE,
    title="F",
    format_description=N_(
        "CSV with the header customer and the months of T: "
        "the pseudonym of each customer in each month, or DEL"
    ),
    row_limits=_require_row_per_customer,
    kind="months",
    samples=_PSEUDONYM_SAMPLES,
    excerpts=_PSEUDONYM_SAMPLES,
)
GUESS_SPEC = FileSpec(
    GUESS_FILE,
    title="the guess",
    format_description="CSV headed customer and the months of T: "
    "a pseudonym for each customer in each month; DEL = none",
    row_limits=_require_row_per_customer,
    kind="months",
    samples=_PSEUDONYM_SAMPLES,
    excerpts=_PSEUDONYM_SAMPLES,
)

"""The files of the transactions track: their columns, limits and examples."""

from anoncup.tracks.files import FileSpec, allow_subset, fixed_header, fixed_lines

CUSTOMER_COLUMNS = ("customer_id", "sex", "birthday", "country")
TRANSACTION_COLUMNS = ("customer_id", "receipt_id", "date", "time", "goods", "unit_price", "quantity")
MASTER_COLUMNS = ("sex", "birthday", "country")
"""The quasi-identifiers of a customer."""

CUSTOMERS_SPEC = FileSpec(
    "customers",
    title="the anonymized customers",
    format_description="CSV of M', 1 to n customers",
    header=fixed_header(*CUSTOMER_COLUMNS),
    header_like="customers",
    row_limits=allow_subset,
    rows_are_individuals=True,
    example_lines=fixed_lines(
        "customer_id,sex,birthday,country",
        "12347,f,1963-04-02,Iceland",
        "12348,m,1985-11-20,Finland",
    ),
)
TRANSACTIONS_SPEC = FileSpec(
    "transactions",
    title="the anonymized purchases",
    format_description="CSV of T'",
    header=fixed_header(*TRANSACTION_COLUMNS),
    header_like="transactions",
    example_lines=fixed_lines(
        "customer_id,receipt_id,date,time,goods,unit_price,quantity",
        "12347,537626,2010-12-07,14:57,85116,2.1,12",
        "12348,539318,2010-12-16,19:09,84992,0.55,72",
    ),
)

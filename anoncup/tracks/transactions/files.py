"""Columns and example lines of the files of the transactions track."""

CUSTOMER_COLUMNS = ("customer_id", "sex", "birthday", "country")
TRANSACTION_COLUMNS = ("customer_id", "receipt_id", "date", "time", "goods", "unit_price", "quantity")
CUSTOMER_EXAMPLE_LINES = (
    "customer_id,sex,birthday,country",
    "12347,f,1963-04-02,Iceland",
    "12348,m,1985-11-20,Finland",
)
TRANSACTION_EXAMPLE_LINES = (
    "customer_id,receipt_id,date,time,goods,unit_price,quantity",
    "12347,537626,2010-12-07,14:57,85116,2.1,12",
    "12348,539318,2010-12-16,19:09,84992,0.55,72",
)
"""First lines of an example of each file."""
MASTER_COLUMNS = ("sex", "birthday", "country")
"""The quasi-identifiers of a customer."""

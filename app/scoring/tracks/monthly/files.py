"""What the files of the monthly track are called and hold."""

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

"""Tables as files, for packages with tracks of their own: typed columns, and problems with their places.

What is wrong with a file is an ``InvalidUpload`` that names file, row, column and code of all problems, the
first few one by one; what is read ``with unrepeated():`` is told without its cells, as an answer must be.
Importing this loads NumPy: a module that only describes does not.
"""

from app.scoring.csv_text import Problems, table_csv, unrepeated
from app.scoring.tracks.membership.schema import Categorical, Numeric, Schema
from app.scoring.tracks.membership.tables import Table, parse_rows, written

__all__ = [
    "Categorical",
    "Numeric",
    "Problems",
    "Schema",
    "Table",
    "parse_rows",
    "table_csv",
    "unrepeated",
    "written",
]

"""The tests start hundreds of processes: what those import is compiled by the first of them alone."""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

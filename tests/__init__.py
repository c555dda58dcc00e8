"""Let processes that tests start write bytecode, so that only the first of hundreds compiles."""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

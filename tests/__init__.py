"""Let processes that tests start write bytecode: there are hundreds, and only the first compiles."""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

"""Compare our functions with common alternatives: ``python -m benchmarks.peers [--large]``.

Everything runs in one thread. The environment variables only work if they are set before numpy is imported.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

"""Compare our functions with common alternatives: ``python -m benchmarks.peers [--large]``.

All use one thread. The variables must be set before other packages are imported.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

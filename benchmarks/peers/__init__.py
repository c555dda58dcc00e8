"""Our functions beside what people would otherwise use: ``python -m benchmarks.peers [--large]``.

One thread each: what is imported from here on must find these set.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

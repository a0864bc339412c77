"""Measurements. Each module runs by `python -m benchmarks.NAME` and writes to results/."""

import os

# One thread a process, in the libraries that would take more; set before any of them loads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

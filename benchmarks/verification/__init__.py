"""Verification of candidates: how fast each rung is, whether it is right, what each mode rejects.

python -m benchmarks.verification --data DIR --json results/verification.json --plot figure.png
python -m benchmarks.verification --data DIR --soak 1000000
python -m benchmarks.verification --data DIR --rejections

DIR holds tokenizers/ and corpora/ (see `places` and `texts`); without it, name tokenizers with
`--tokenizer BACKEND:LOCATION` and texts with `--texts FILE`, or take the little that comes along.
"""

import os

# One thread, in the libraries that would take more; set before any of them loads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

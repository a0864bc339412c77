"""Programs that measure ticore. `python -m benchmarks.NAME --help` says what each one does.

round_trip      random messages into text and back
steganography   disambiguations and codecs
watermarking    schemes with and without rollback; calibration, detecting, learning, lists
verification    speed and correctness of `Verifier`
backends        agreement and speed of model backends; random_llama
embedded        the bundled model
"""

import os

# One thread per process, in the libraries that would start more. Set before any of them loads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

"""Programs that measure ticore. `python -m benchmarks.NAME --help` says what each one does.

round_trip      random messages into text and back
steganography   disambiguations and codecs
methods         every disambiguation and codec on the same sealed messages
sizes           how long texts of short messages get
observer        whether an observer tells sealed texts from free samples
channels        messages through mail, messengers and the like
edits           messages in texts that were edited
watermarking    schemes with and without rollback; calibration, detecting, engines, learning, lists
verification    speed and correctness of `Verifier`
rollouts        ids of a chat model's replies that change when they are read again
scaling         what consistency adds to a step with many texts
paper           the experiments of Yan & Murawaki
backends        agreement and speed of model backends; random_llama
embedded        the bundled model
"""

import os

# One thread per process, in the libraries that would start more. Set before any of them loads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

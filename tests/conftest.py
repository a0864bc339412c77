"""Settings for all tests. `HYPOTHESIS_PROFILE=thorough` searches longer, and at random."""

import os

# Workers are as many as cores already. Set before anything imports NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.tokenizer_contract")

# The same examples on every run: a failure in continuous integration is a failure everywhere.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

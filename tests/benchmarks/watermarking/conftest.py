"""Samples that several tests look at."""

import pytest

from benchmarks.watermarking.samples import TextSampler
from tests.benchmarks.watermarking.toy import MODEL, PLAN, PROMPTS


@pytest.fixture(scope="session")
def samples():
    """Six samples of each scheme and of the model without a watermark."""
    sampler = TextSampler(MODEL, PLAN, PROMPTS)
    return [sampler.take(name, n) for n in range(6) for name in ("none", *PLAN.schemes)]

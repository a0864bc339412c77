"""A model and a plan that are small, and write inconsistent texts often without rollback."""

from benchmarks.watermarking.plan import Plan
from tests.support.toy_models import ToyModel, ToyTokenizer

# Pieces never spell "ab", so that plain sampling is inconsistent all the time.
LETTERS = ToyTokenizer([*"abcd", "ab", "cd", "<end>"])
MODEL = ToyModel(LETTERS, seed=1, sharpness=1.0, eos_ids={6})
PROMPTS = ["ba", "ddb"]
PLAN = Plan(
    schemes=("unigram", "gumbel"), max_tokens=40, attacks=("replacement 0.3", "word drop 0.1")
)

"""A model and a plan that are small, and misread texts often without disambiguation."""

from benchmarks.steganography.plan import NAIVE, Plan
from benchmarks.steganography.samples import Sampler
from tests.support.toy_models import ToyModel, ToyTokenizer

# Pieces never spell "ab", so that texts are often misread without disambiguation.
LETTERS = ToyTokenizer([*"abcd", "ab", "cd"])
MODEL = ToyModel(LETTERS, seed=1, sharpness=1.0)
PROMPTS = ["ba", "ddb"]
PLAN = Plan(
    bits=16,
    top_k=(4, 6),
    disambiguations=("none", "basic", "mwis", "syncpool", "stepwise", "basic:decoded", NAIVE),
)


def take_samples(plan, count, model=MODEL):
    take = Sampler(model, plan, PROMPTS).take
    return [take(*task) for task in plan.tasks(count)]


def report_of(summary):
    """The summary in a report, as a command makes it."""
    machine = {"processor": "any"}
    return summary | {"settings": {"model": "toy", "bits": PLAN.bits}, "machine": machine}

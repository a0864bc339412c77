"""Samples of the benchmark of backends, and how they are counted."""

import numpy as np
import pytest

import ticore
from benchmarks.backends.perturbed_model import PerturbedModel, logits_before
from benchmarks.backends.plan import EXCHANGE, PORTABLE, SAME_STACK, Plan
from benchmarks.backends.samples import MessageSampler
from benchmarks.backends.summary import exchange, robustness

PLAN = Plan(models=("tiny-en",), bits=16, noise_levels=(1e-12, 1e-9, 1.0))
PROMPTS = ["Once", "The old"]


def test_plan_tasks_have_each_kind_once():
    tasks = list(Plan().robustness_tasks(2))
    assert len(tasks) == len(set(tasks)) == 2 * 7 * (3 + 1)
    writers = [task[1] for task in Plan().exchange_tasks(1)]
    assert writers == ["tiny-en", "torch:tiny-en", "jax:tiny-en"]


def test_plan_shared_settings_have_the_models_that_read():
    assert Plan().shared_settings() != PLAN.shared_settings()
    assert Plan().shared_settings()["models"] == Plan().models
    assert Plan().shared_settings() == Plan(codecs=("meteor",)).shared_settings()


def test_perturbed_model_differs_by_no_more_than_its_noise():
    model = ticore.load_model("tiny-en")
    prompt_ids, ids = [5, 6], [7, 8, 9]
    logits = logits_before(model, prompt_ids, ids)
    other = PerturbedModel(model, prompt_ids, logits, 0.5, (1,))
    decoder, original = other.start(prompt_ids), model.start(prompt_ids)
    perturbed = []
    for token in ids:
        perturbed.append(decoder.logits())
        assert 0.4 < np.abs(perturbed[-1] - original.logits()).max() <= 0.5
        decoder.push(token)
        original.push(token)
    assert np.array_equal(other.score([*prompt_ids, *ids])[2:], perturbed)
    decoder.rewind(3)
    assert list(decoder.ids) == prompt_ids
    assert other.portable_digest() == model.portable_digest()


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["arithmetic", "discop"])
def test_message_sampler_take_tells_who_misreads_a_message(codec):
    sampler = MessageSampler(PLAN, PROMPTS)
    same, portable = (sampler.take(part, codec, 10, 3) for part in (SAME_STACK, PORTABLE))
    assert same["misread"] == portable["misread"] == [1.0]
    assert sampler.take(EXCHANGE, "tiny-en", 10, 3)["misread"] == []


def sample(part, subject, index, misread):
    task = {"part": part, "subject": subject, "grid_bits": 10, "index": index}
    return task | {"misread": misread}


SAMPLES = [
    sample(SAME_STACK, "meteor", 0, [0.1]),
    sample(SAME_STACK, "meteor", 1, []),
    sample(SAME_STACK, "meteor", 2, None),  # nothing was written
    sample(PORTABLE, "meteor", 0, []),
    sample(EXCHANGE, "a", 0, ["b"]),
    sample(EXCHANGE, "a", 1, []),
    sample(EXCHANGE, "b", 0, []),
    sample(EXCHANGE, "b", 1, None),
]


def test_robustness_counts_messages_by_codec_and_noise():
    portable, same = robustness(SAMPLES, [0.01, 0.1])
    assert [rate["value"] for rate in same["misread"]] == [0.0, 0.5]
    assert (same["text_count"], portable["text_count"], portable["numerics"]) == (2, 1, PORTABLE)


def test_exchange_counts_messages_by_writer_and_reader():
    cells = [tuple(cell.values()) for cell in exchange(SAMPLES, ["a", "b"])]
    assert cells == [("a", "a", 2, 0), ("a", "b", 2, 1), ("b", "a", 1, 0), ("b", "b", 1, 0)]

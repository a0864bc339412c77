"""The schemes of other engines also write: they keep the contract, and write as the engines do."""

from importlib.util import find_spec

import numpy as np
import pytest

from ticore.schemes.external import (
    SGLangGumbel,
    TextSealGumbel,
    TransformersKGW,
    TransformersSynthID,
    VLLMBernoulli,
    VLLMDualKeyGumbel,
    VLLMGumbel,
)
from ticore.testing import SchemeContract

SIZE = 500
SYNTHID = {
    "keys": np.random.default_rng(5).integers(1 << 40, size=20).tolist(),
    "ngram_len": 3,
    "sampling_table_size": 1 << 12,
    "sampling_table_seed": 3,
}
LEFT = {"seeding_scheme": "lefthash", "context_width": 3, "greenlist_ratio": 0.4, "bias": 1.5}
SELF = {"seeding_scheme": "selfhash", "context_width": 4, "hashing_key": -77}
SCHEMES = {
    "sglang": SGLangGumbel("1f"),
    "sglang, two keys": SGLangGumbel("1f", key_b="0x2e", context_window=2),
    "synthid": TransformersSynthID(**SYNTHID),
    "textseal, gumbelmax": TextSealGumbel(42, ngram=2),
    "textseal, two keys": TextSealGumbel(42, watermark_type="textseal", mixing_alpha=0.6),
    "transformers, lefthash": TransformersKGW(SIZE, **LEFT),
    "transformers, selfhash": TransformersKGW(SIZE, **SELF),
    "transformers, no context": TransformersKGW(SIZE, seeding_scheme="selfhash"),
    "transformers, on a GPU": TransformersKGW(SIZE, **LEFT, cuda_threads=270_336),
    "vllm, gumbel": VLLMGumbel(42, context_width=5),
    "vllm, dual_key_gumbel": VLLMDualKeyGumbel(42, alpha=0.3),
    "vllm, sbw, lefthash": VLLMBernoulli(9, sbw_scheme="lefthash"),
    "vllm, sbw, selfhash": VLLMBernoulli(9),
}
OF_TWO_KEYS = {
    "vllm, dual_key_gumbel": (VLLMGumbel.of_two_keys(42), 0.3),
    "textseal, two keys": ((TextSealGumbel(42), TextSealGumbel(42 + 12345)), 0.4),
}
NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="compares with torch")
NEEDS_TRANSFORMERS = pytest.mark.skipif(
    find_spec("transformers") is None, reason="compares with transformers"
)
NEEDS_VLLM = pytest.mark.skipif(find_spec("vllm") is None, reason="compares with vLLM")
EVERY = pytest.mark.parametrize("name", SCHEMES)


class TestContract(SchemeContract):
    vocab_size = SIZE
    temperature = 2.0

    @pytest.fixture(params=SCHEMES)
    def scheme(self, request):
        return SCHEMES[request.param]

    def test_bias_never_prefers_logits_without_a_token(self, scheme):
        """The engines mark all logits. Those without a token are left out before, and stay out."""
        context = list(range(scheme.context))
        logits = np.concatenate([np.linspace(0, 1, SIZE), np.full(12, -np.inf)])
        biased = scheme.bias(context, logits)
        assert (biased[SIZE:] == -np.inf).all()
        np.testing.assert_allclose(
            biased[:SIZE], scheme.bias(context, logits[:SIZE]), rtol=1e-9, atol=1e-12
        )


@NEEDS_TORCH
@EVERY
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bias_is_the_same_in_torch(name, dtype):
    import torch  # noqa: PLC0415  # not always there

    scheme, rng = SCHEMES[name], np.random.default_rng(1)
    contexts = rng.integers(SIZE, size=(3, scheme.context))
    logits = rng.normal(size=(3, SIZE)).astype(dtype)
    logits[:, 7] = -np.inf
    found = scheme.bias(torch.from_numpy(contexts), torch.from_numpy(logits))
    assert str(found.dtype) == f"torch.{dtype}"
    expected = scheme.bias(contexts, logits)
    # Exponentials, logarithms and sums may differ in their last bits.
    if name == "synthid" or name in OF_TWO_KEYS:
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)
    else:
        assert (found.numpy() == expected).all()


@pytest.mark.skipif(find_spec("jax") is None, reason="compares with JAX")
@EVERY
def test_bias_is_the_same_in_jax(name):
    import jax.numpy as jnp  # noqa: PLC0415  # not always there

    scheme, rng = SCHEMES[name], np.random.default_rng(2)
    contexts = rng.integers(SIZE, size=(3, scheme.context))
    logits = rng.normal(size=(3, SIZE)).astype(np.float32)
    found = np.asarray(scheme.bias(jnp.asarray(contexts), jnp.asarray(logits)))
    np.testing.assert_allclose(found, scheme.bias(contexts, logits), rtol=1e-4)


@EVERY
def test_the_numbers_that_write_are_those_that_are_read(name):
    """A score after a context grows with what was added to the logit of its token."""
    scheme = SCHEMES[name]
    context = list(range(11, 11 + scheme.context))
    # A flat distribution: a selfhash of transformers looks at the first 40 ids then.
    count = 40
    biased = scheme.bias(context, np.zeros(SIZE))[:count]
    scores = [scheme.evidence([*context, token]).scores[-1] for token in range(count)]
    if name == "synthid":
        bits = [scheme.g_values([*context, token])[-1].tolist() for token in range(count)]
        assert all(
            (bits[a] == bits[b]) == (abs(biased[a] - biased[b]) < 1e-9)
            for a in range(count)
            for b in range(count)
        )
    elif name in OF_TWO_KEYS:  # the scores are sums: see the two keys by themselves
        keys, share = OF_TWO_KEYS[name]
        a, b = (int(one.bias(context, np.zeros(SIZE)).argmax()) for one in keys)
        biased = scheme.bias(context, np.zeros(SIZE))
        assert np.exp(biased[[a, b]]).tolist() == pytest.approx([1 - share, share])
        assert np.isfinite(biased).sum() == 2
    else:
        assert (np.argsort(biased, kind="stable") == np.argsort(scores, kind="stable")).all()


def test_two_keys_that_choose_the_same_token_leave_no_other():
    logits = np.zeros(SIZE)
    logits[3] = 1e6
    found = SCHEMES["vllm, dual_key_gumbel"].bias([1, 2, 3, 4], logits)
    assert found[3] == pytest.approx(0)
    assert np.isfinite(found).sum() == 1


@NEEDS_TRANSFORMERS
@pytest.mark.parametrize("config", [{}, LEFT, SELF, {**SELF, "context_width": 1}])
def test_green_lists_are_written_as_by_transformers(config):
    import torch  # noqa: PLC0415  # not always there
    from transformers import generation  # noqa: PLC0415  # not always there

    engine = generation.WatermarkLogitsProcessor(SIZE, "cpu", **config)
    scheme, rng = TransformersKGW(SIZE, **config), np.random.default_rng(4)
    for _ in range(20):
        ids = rng.integers(SIZE, size=9)
        logits = rng.normal(size=SIZE).astype(np.float32)
        logits[rng.integers(SIZE, size=10)] = -np.inf
        expected = engine(torch.from_numpy(ids[None]), torch.from_numpy(logits[None].copy()))[0]
        found = scheme.bias(ids[len(ids) - scheme.context :], logits)
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-6)


@NEEDS_TRANSFORMERS
def test_synthid_is_written_as_by_transformers():
    import torch  # noqa: PLC0415  # not always there
    from transformers import generation  # noqa: PLC0415  # not always there

    engine = generation.SynthIDTextWatermarkLogitsProcessor(
        **SYNTHID, context_history_size=64, device=torch.device("cpu")
    )
    scheme, rng, ids = TransformersSynthID(**SYNTHID), np.random.default_rng(6), [1]
    for _ in range(30):
        logits = 2 * rng.normal(size=SIZE).astype(np.float32)
        expected = engine(torch.tensor([ids]), torch.from_numpy(logits[None]))[0].numpy()
        if len(ids) > scheme.context:  # the engine takes tokens before the text to be zeros
            found = scheme.bias(ids[len(ids) - scheme.context :], logits)
            np.testing.assert_allclose(np.exp(found), np.exp(expected), rtol=1e-4, atol=1e-7)
        ids.append(int(rng.integers(SIZE)))


@NEEDS_VLLM
@pytest.mark.parametrize("width", [1, 4, 6])
def test_vllms_gumbel_takes_the_same_tokens(width):
    import torch  # noqa: PLC0415  # not always there
    from vllm.v1.watermarking.gumbel import GumbelWatermarker  # noqa: PLC0415  # not always there

    rng = np.random.default_rng(7)
    contexts = rng.integers(1 << 17, size=(200, width))
    logits = rng.normal(size=(200, SIZE)).astype(np.float32)
    engine = GumbelWatermarker(42, width)
    expected = engine.sample(torch.from_numpy(logits), torch.from_numpy(contexts)).token_ids
    found = VLLMGumbel(42, context_width=width).bias(contexts, logits).argmax(axis=-1)
    assert found.tolist() == expected.tolist()

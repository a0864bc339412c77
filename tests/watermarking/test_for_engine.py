"""Texts with the watermark of another engine: its own detector finds them, and so does ticore."""

from importlib.util import find_spec

import numpy as np
import pytest

import ticore
from tests.support.tiny_models import tiny_model
from ticore.errors import SettingsError
from ticore.schemes import EXTERNAL_SCHEMES

PROMPT = "The weather in spring"
KGW = {"greenlist_ratio": 0.25, "bias": 4.0, "seeding_scheme": "lefthash", "context_width": 1}
SYNTHID = {"ngram_len": 5, "keys": list(range(100, 130))}
CONFIGS = [
    ("sglang", {"key": "1f"}),
    ("sglang", {"key": "1f", "key_b": "2e"}),
    ("synthid", SYNTHID),
    ("textseal", {"secret_key": 42, "ngram": 3}),
    ("textseal", {"secret_key": 42, "watermark_type": "textseal", "ngram": 3}),
    ("transformers", KGW),
    ("vllm", {"key": 42}),
    ("vllm", {"key": 42, "algorithm": "dual_key_gumbel"}),
    ("vllm", {"key": 42, "algorithm": "sbw", "sbw_delta": 4.0}),
]


@pytest.fixture(scope="module")
def model():
    return tiny_model()


@pytest.mark.parametrize(("engine", "config"), CONFIGS)
def test_text_is_found_and_read_as_the_tokens_that_were_written(model, engine, config):
    mark = ticore.Watermarker.for_engine(model, engine, config, seed=3, end_of_text=False)
    written = mark.generate(PROMPT, max_new_tokens=80)
    detector = getattr(ticore.WatermarkDetector, f"for_{engine}")(model.tokenizer, config)
    found = detector.detect(written.text)
    assert found.ids.tolist() == list(written.ids)
    assert found.p_value < 1e-5
    other = {"keys": [1, 2, 3]} if engine == "synthid" else {}
    other |= {"hashing_key": 5} if engine == "transformers" else {}
    names = {"key", "key_b", "secret_key"} & config.keys()
    other |= dict.fromkeys(names, "3" if engine == "sglang" else 3)
    stranger = getattr(ticore.WatermarkDetector, f"for_{engine}")(model.tokenizer, config | other)
    assert stranger.detect(written.text).p_value > 1e-4


@pytest.mark.skipif(find_spec("transformers") is None, reason="asks transformers' own detector")
@pytest.mark.parametrize("scheme", ["lefthash", "selfhash"])
def test_transformers_finds_its_green_lists(model, scheme):
    import torch  # noqa: PLC0415  # not always there
    from transformers import (  # noqa: PLC0415  # not always there
        LlamaConfig,
        WatermarkDetector,
        WatermarkingConfig,
    )

    own = WatermarkingConfig(**KGW | {"seeding_scheme": scheme, "context_width": 2})
    mark = ticore.Watermarker.for_engine(model, "transformers", own, seed=1, end_of_text=False)
    text = mark.generate(PROMPT, max_new_tokens=80).text
    ids = model.tokenizer.encode(text)  # as its receiver reads it
    detector = WatermarkDetector(
        LlamaConfig(vocab_size=model.logit_width, bos_token_id=1), "cpu", own
    )
    assert detector(torch.tensor([ids]), return_dict=True).prediction[0]


@pytest.mark.skipif(find_spec("transformers") is None, reason="asks transformers' own g-values")
def test_transformers_finds_synthid(model):
    import torch  # noqa: PLC0415  # not always there
    from transformers.generation import (  # noqa: PLC0415  # not always there
        SynthIDTextWatermarkingConfig,
    )

    own = SynthIDTextWatermarkingConfig(**SYNTHID)
    mark = ticore.Watermarker.for_engine(model, "synthid", own, seed=1, end_of_text=False)
    texts = [mark.generate(PROMPT, max_new_tokens=60).text for _ in range(2)]
    plain = ticore.Generator(model, seed=1, end_of_text=False)
    texts += [plain.generate(PROMPT, max_new_tokens=60).text for _ in range(2)]
    engine = own.construct_processor(model.logit_width, torch.device("cpu"))
    means = []
    for text in texts:
        ids = torch.tensor([model.tokenizer.encode(text)])
        counted = engine.compute_context_repetition_mask(ids)[0].bool()
        means.append(float(engine.compute_g_values(ids)[0][counted].float().mean()))
    assert min(means[:2]) > 0.55  # of bits that are 1 by chance in half of the cases
    assert max(means[2:]) < 0.53


def test_batches_and_copies_are_marked_too(model):
    mark = ticore.Watermarker.for_engine(model, "vllm", {"key": 7}, seed=1)
    texts = mark.generate_batch([PROMPT, "It was late"], max_new_tokens=60)
    detector = ticore.WatermarkDetector.for_vllm(model.tokenizer, {"key": 7})
    assert all(one.p_value < 1e-4 for one in detector.detect_batch([str(t) for t in texts]))


@pytest.mark.parametrize(
    ("engine", "config", "message"),
    [
        ("nobody", {"key": 1}, "engine"),
        ("vllm", {}, "key: expected"),
        ("synthid", {"keys": [1]}, "ngram_len"),
        ("vllm", 7, "mapping"),
    ],
)
def test_wrong_settings_are_refused(model, engine, config, message):
    with pytest.raises(SettingsError, match=message):
        ticore.Watermarker.for_engine(model, engine, config)


@pytest.mark.parametrize("engine", EXTERNAL_SCHEMES)
def test_an_engine_is_no_scheme_of_ticore(model, engine):
    with pytest.raises(SettingsError, match=r"another engine's.*use Watermarker\.for_engine"):
        ticore.Watermarker(model, engine, key=bytes(32))


def test_exact_rollback_is_refused_where_the_key_alone_chooses(model):
    with pytest.raises(SettingsError, match="rollback"):
        ticore.Watermarker.for_engine(model, "vllm", {"key": 7}, rollback="exact")


def test_probabilities_of_synthid_sum_up_to_one(model):
    scheme = ticore.Watermarker.for_engine(model, "synthid", SYNTHID).scheme
    logits = np.random.default_rng(1).normal(size=(5, model.logit_width))
    context = np.arange(20).reshape(5, 4)
    shares = np.exp(scheme.bias(context, logits)).sum(axis=-1)
    np.testing.assert_allclose(shares, 1, rtol=1e-9)

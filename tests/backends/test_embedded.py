"""The embedded runner: what it promises, and the files that it refuses."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

import ticore
from tests.support.embedded_checkpoints import (
    CONTEXT,
    GEMMA3,
    GROUPED,
    TOLERANCE,
    NumberTokenizer,
    Tensors,
    load,
    random_tensors,
    some_ids,
    write_model,
)
from ticore.backend_kit.network_config import Rope, angle_tables, parse_config
from ticore.errors import ModelFilesError, SettingsError
from ticore.evaluation._metrics import log_likelihood
from ticore.interfaces import LanguageModel, ModelBackend
from ticore.testing import ModelContract, ModelLimitsContract, ModelThreadsContract
from ticore_embedded import BACKEND, _attention, _network
from ticore_embedded import _loading as loading
from ticore_embedded._cache import FIRST_CAPACITY, LayerCache
from ticore_embedded._forward import EmbeddedForward
from ticore_embedded._network import CHUNK
from ticore_embedded._rotations import BLOCK, Rotations

DATA = Path(os.environ.get("TICORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
STORIES = DATA / "models" / "stories260K"

TYPES = ("float64", "float32")


class Pieces(sentencepiece.SentencePieceProcessor):
    """A SentencePiece file, opened without the adapter that this backend must not know."""

    def __init__(self, place: str) -> None:
        super().__init__(model_file=place.removeprefix("sentencepiece:"))

    def digest(self) -> str:
        return "pieces"

    @property
    def vocab_size(self) -> int:
        return len(self)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("grouped"), GROUPED, random_tensors(GROUPED))


@pytest.fixture(scope="module")
def model(folder: Path) -> LanguageModel:
    return load(folder)


def test_feed_forward_is_finite_for_very_negative_gates(tmp_path: Path) -> None:
    """exp overflows there, and the result is still a number."""
    tensors = random_tensors(GROUPED)
    tensors["model.layers.0.mlp.gate_proj.weight"] *= 1000
    ids = some_ids(20)
    scored = load(write_model(tmp_path, GROUPED, tensors), dtype="float32").score(ids)
    assert np.isfinite(scored).all()


@pytest.mark.parametrize("ids", [[0], [], [3, 1, 4]])
def test_arrays_of_ids_are_scored_as_lists_are(ids: list[int]) -> None:
    model = ticore.load_model("tiny-en", dtype="float32")
    expected = model.score(ids)
    for array in (np.array(ids, np.int64), np.array(ids, np.uint8), tuple(ids)):
        assert np.array_equal(model.score(array), expected)


class TestReading(ModelContract):
    tolerance = 1e-9
    lengths = (CHUNK - 2, CHUNK - 1, CHUNK)

    def test_decoder_steps_equal_score_after_an_empty_prompt(self, model: LanguageModel) -> None:
        """The start token stays before what is pushed."""
        ids = some_ids(20)
        decoder = model.start([])
        for token, row in zip(ids, model.score(ids), strict=True):
            np.testing.assert_allclose(decoder.logits(), row, rtol=0, atol=self.tolerance)
            decoder.push(token)


class TestReadingWithWindows(ModelContract):
    """Gemma 3, which computes in another order, without a start token before its texts."""

    tolerance = 1e-9

    @pytest.fixture
    def model(self, tmp_path: Path) -> LanguageModel:
        short = GEMMA3 | {"max_position_embeddings": 34}
        folder = write_model(tmp_path, short, random_tensors(short))
        (folder / "tokenizer_config.json").write_text('{"add_bos_token": false}')
        return load(folder)


class TestLimits(ModelLimitsContract):
    pass


class TestThreads(ModelThreadsContract):
    pass


class TestCache:
    def test_cache_gives_the_same_bits_after_rewinding_across_growth(
        self, model: LanguageModel
    ) -> None:
        decoder, ids = model.start([9]), some_ids(3 * FIRST_CAPACITY)
        rows = []
        for token in ids:
            rows.append(decoder.logits().copy())
            decoder.push(token)
        decoder.rewind(len(ids))
        for token, row in zip(ids, rows, strict=True):
            assert np.array_equal(decoder.logits(), row)
            decoder.push(token)

    def test_cache_doubles_up_to_the_context(self) -> None:
        cache = LayerCache(parse_config({"model_type": "llama"} | GROUPED), None, np.float64)
        sizes = []
        for count in (FIRST_CAPACITY, 1, FIRST_CAPACITY, CONTEXT - 2 * FIRST_CAPACITY - 1):
            ones = np.ones((2, count, 8))
            cache.add(ones, ones)
            sizes.append(cache.keys.shape[1])
        assert sizes == [FIRST_CAPACITY, 2 * FIRST_CAPACITY, 4 * FIRST_CAPACITY, CONTEXT]
        assert cache.values.shape == cache.keys.shape
        assert (cache.keys == 1).all()

    def test_cache_of_a_window_keeps_what_a_rewound_text_sees(self, tmp_path: Path) -> None:
        """And no more of a long prompt, in layers with a window."""
        loaded = load(write_model(tmp_path, GEMMA3, random_tensors(GEMMA3)))
        ids = some_ids(CONTEXT - 1)
        forward, scored = EmbeddedForward(loaded.network), loaded.score(ids)
        after_prompt = forward.begin([1, *ids[:-20]])
        assert [layer.first for layer in forward._cache.layers] == [CHUNK - 6, CHUNK - 6, 0]
        for _ in range(2):
            last = after_prompt
            for token, row in zip(ids[-20:], scored[-20:], strict=True):
                np.testing.assert_allclose(last, row, rtol=0, atol=1e-9)
                last = forward.push(token)
            forward.rewind(20)

    def test_portions_of_a_prompt_change_no_logit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither chunks, nor the rows whose scores are held at once."""
        loaded = load(write_model(tmp_path, GEMMA3, random_tensors(GEMMA3)))
        ids = some_ids(60)
        whole = loaded.score(ids)
        for chunk, scores in ((5, 1), (16, 16 * 60 * 4 * 3), (60, 60 * 4 * 8 * 7)):
            monkeypatch.setattr(_network, "CHUNK", chunk)
            monkeypatch.setattr(_attention, "MOST_SCORES", scores)
            np.testing.assert_allclose(loaded.score(ids), whole, rtol=0, atol=1e-9)


class TestRotations:
    @given(
        ends=st.lists(st.integers(1, 3000), min_size=1, max_size=5), dtype=st.sampled_from(TYPES)
    )
    @example(ends=[BLOCK, BLOCK + 1, 1], dtype="float64")
    @example(ends=[3000, 1], dtype="float32")
    def test_rotations_of_a_position_do_not_depend_on_longer_texts(
        self, ends: list[int], dtype: str
    ) -> None:
        """And as one table for the whole context, to the last bit."""
        rope = Rope("default", 10000.0)
        rotations = Rotations(rope, 8, dtype)
        whole = [table[:, None].astype(dtype) for table in angle_tables(rope, 8, 4096)]
        for end in ends:
            for positions in (slice(max(0, end - 7), end), [end - 1, 0]):
                for found, expected in zip(rotations.at(positions), whole, strict=True):
                    assert (found == expected[positions]).all()
            assert len(rotations._tables.cos) <= max(BLOCK, 2 * max(ends) + BLOCK)

    def test_rotations_of_an_unread_context_are_not_made(
        self, model: LanguageModel, tmp_path: Path
    ) -> None:
        wide = GROUPED | {"max_position_embeddings": 10**8}
        loaded = load(write_model(tmp_path, wide, random_tensors(GROUPED)))
        assert loaded.context_length == 10**8 - 1
        (rotations,) = {block.attention.rotations for block in loaded.network.blocks}
        assert len(rotations._tables.cos) == BLOCK
        ids = some_ids(CONTEXT - 1)
        assert (loaded.score(ids) == model.score(ids)).all()


class TestModel:
    def test_model_reports_width_and_context_of_its_config(self, model: LanguageModel) -> None:
        backend: ModelBackend = BACKEND
        assert backend.summary
        assert (model.logit_width, model.context_length) == (50, CONTEXT - 1)
        assert model.eos_ids == {2}

    def test_digest_changes_with_what_shapes_the_logits(self, folder: Path, tmp_path: Path) -> None:
        tensors = random_tensors(GROUPED)
        reordered = write_model(tmp_path / "a", GROUPED, dict(reversed(tensors.items())))
        assert load(reordered).digest() == load(folder).digest()

        tensors["model.norm.weight"][0] += 1e-3
        theta = GROUPED | {"rope_theta": 10001.0}
        others = [
            load(folder, dtype="float32"),
            load(write_model(tmp_path / "b", GROUPED, tensors)),
            load(write_model(tmp_path / "c", theta, random_tensors(theta))),
            BACKEND.load(str(folder), lambda place: NumberTokenizer(name="other"), {}),
        ]
        digests = {load(folder).digest(), *(other.digest() for other in others)}
        assert len(digests) == 5

    def test_digests_of_the_bundled_model_last(self) -> None:
        """Agreements of earlier versions name them."""
        narrow, wide = (ticore.load_model("tiny-en", dtype=dtype) for dtype in TYPES[::-1])
        assert narrow.digest() == "0e59c2d3819e3b1eb3ec35b2225c10f6119ed664b7b27384678457da48f5502f"
        assert wide.digest() == "dec8256c1fd4e1fa8ae1129a55bcbd111397acef8848dacc011b58ce7755aaef"
        assert wide.portable_digest() == (
            "cd034099014c23be7913d420373afeccf1e5ccf74e6e8c64934b037b260ad728"
        )

    @pytest.mark.parametrize(
        ("name", "digest"),
        [
            ("tiny-ja", "033e671e5a0d85f375474ebe07bae67a701473ab67a4524b2b0bf4b9d2af327f"),
            ("tiny-zh", "2da0b659cc660d378ac1a3104379ed23fd6e431c4efe1af9afcfb8c0ff1e53fe"),
        ],
    )
    def test_digests_of_later_bundled_models_last(self, name: str, digest: str) -> None:
        assert ticore.load_model(name).digest() == digest

    def test_networks_of_the_first_version_add_in_its_order(
        self, folder: Path, tmp_path: Path
    ) -> None:
        """Their texts are read again by the same bits; others need no slower product."""
        biased = GROUPED | {"attention_bias": True}
        other = load(write_model(tmp_path, biased, random_tensors(biased)))
        later = GROUPED | {"ticore_version": 2}
        newer = load(write_model(tmp_path, later, random_tensors(later)))
        assert not load(folder).network.head.dots
        assert other.network.head.dots
        assert newer.network.head.dots

    def test_digest_says_whether_texts_begin_with_a_start_token(
        self, folder: Path, tmp_path: Path
    ) -> None:
        other = write_model(tmp_path, GROUPED, random_tensors(GROUPED))
        (other / "tokenizer_config.json").write_text('{"add_bos_token": false}')
        assert load(other).digest() != load(folder).digest()

    def test_load_ignores_rotary_tensors_of_old_exports(
        self, tmp_path: Path, model: LanguageModel
    ) -> None:
        tensors = random_tensors(GROUPED)
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].copy()
        tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = np.ones(4, np.float32)
        same = load(write_model(tmp_path, GROUPED, tensors))
        assert np.array_equal(same.score([5, 6]), model.score([5, 6]))


class TestBadFiles:
    @pytest.fixture
    def copy(self, tmp_path: Path) -> Path:
        return write_model(tmp_path / "model", GROUPED, random_tensors(GROUPED))

    def rewrite(self, copy: Path, change: Callable[[Tensors], object]) -> None:
        tensors = random_tensors(GROUPED)
        change(tensors)
        write_model(copy, GROUPED, tensors)

    def test_load_refuses_a_place_that_is_no_directory(self, tmp_path: Path) -> None:
        with pytest.raises(ModelFilesError, match="found no directory"):
            load(tmp_path / "nowhere")

    def test_load_refuses_a_directory_without_config(self, copy: Path) -> None:
        (copy / "config.json").unlink()
        with pytest.raises(ModelFilesError, match=r"config\.json: .*no readable file"):
            load(copy)

    def test_load_refuses_a_directory_without_weights(self, copy: Path) -> None:
        (copy / "model.safetensors").unlink()
        with pytest.raises(ModelFilesError, match=r"model\.safetensors: .*no readable file"):
            load(copy)

    def test_load_refuses_truncated_weights(self, copy: Path) -> None:
        path = copy / "model.safetensors"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(ModelFilesError, match="damaged or truncated"):
            load(copy)

    def test_load_refuses_weights_with_a_missing_tensor(self, copy: Path) -> None:
        self.rewrite(copy, lambda tensors: tensors.pop("model.norm.weight"))
        with pytest.raises(ModelFilesError, match=r"model\.norm\.weight of shape \(32,\), found"):
            load(copy)

    def test_load_refuses_absurd_sizes_before_it_allocates(self, copy: Path) -> None:
        """Tensors are compared first, and the first that is missing ends it."""
        for name, value, found in (
            ("num_hidden_layers", 10_000, r"a tensor model\.layers\.3\."),
            ("head_dim", 2 * 10**9, r"to have shape \(8000000000, 32\)"),
            ("vocab_size", 2**31 - 1, r"to have shape \(2147483647, 32\)"),
        ):
            write_model(copy, GROUPED | {name: value}, random_tensors(GROUPED))
            with pytest.raises(ModelFilesError, match=found):
                load(copy)

    def test_load_says_when_memory_is_not_enough(
        self, copy: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, dots: bool) -> None:
            raise MemoryError

        monkeypatch.setattr(loading, "build", fail)
        with pytest.raises(ModelFilesError, match="model: expected a model that this machine's"):
            load(copy)

    def test_load_refuses_untied_weights_without_a_head(self, copy: Path) -> None:
        untied = GROUPED | {"tie_word_embeddings": False}
        write_model(copy, untied, random_tensors(GROUPED))
        with pytest.raises(ModelFilesError, match=r"lm_head\.weight of shape \(50, 32\)"):
            load(copy)

    def test_load_refuses_a_tied_head_with_other_numbers(self, copy: Path) -> None:
        """transformers would use it, and the digests would be the same."""
        self.rewrite(
            copy,
            lambda t: t.update({"lm_head.weight": t["model.embed_tokens.weight"] + np.float32(1)}),
        )
        with pytest.raises(
            ModelFilesError, match=r"expected lm_head\.weight to equal model\.embed"
        ):
            load(copy)

    def test_load_refuses_a_tensor_of_another_shape(self, copy: Path) -> None:
        self.rewrite(copy, lambda t: t.update({"model.norm.weight": np.ones(31, np.float32)}))
        with pytest.raises(ModelFilesError, match=r"norm\.weight.* \(32,\), found \(31,\)"):
            load(copy)

    def test_load_refuses_a_tensor_of_another_dtype(self, copy: Path) -> None:
        self.rewrite(copy, lambda t: t.update({"model.norm.weight": np.ones(32, np.int64)}))
        with pytest.raises(ModelFilesError, match=r"norm\.weight.* BF16, F16, F32, found I64"):
            load(copy)

    def test_load_refuses_a_superfluous_tensor(self, copy: Path) -> None:
        name = "model.layers.0.self_attn.q_proj.bias"
        self.rewrite(copy, lambda t: t.update({name: np.ones(32, np.float32)}))
        with pytest.raises(ModelFilesError, match=r"1 others, such as .*q_proj\.bias"):
            load(copy)

    def test_load_refuses_a_tokenizer_with_more_ids_than_logits(self, copy: Path) -> None:
        with pytest.raises(ModelFilesError, match=r"at most 50 ids.* found 51"):
            BACKEND.load(str(copy), lambda place: NumberTokenizer(vocab_size=51), {})

    def test_load_refuses_another_architecture(self, copy: Path) -> None:
        settings = json.loads((copy / "config.json").read_text()) | {"model_type": "phi3"}
        (copy / "config.json").write_text(json.dumps(settings))
        with pytest.raises(ModelFilesError, match=r"one of llama, .*gpt2, found 'phi3'; use anoth"):
            load(copy)

    def test_load_refuses_an_unknown_dtype(self, copy: Path) -> None:
        with pytest.raises(SettingsError, match="float64, float32, found 'float16'"):
            load(copy, dtype="float16")

    def test_load_refuses_an_unknown_option(self, copy: Path) -> None:
        with pytest.raises(SettingsError, match=r"unknown option 'device'.*the options are dtype"):
            load(copy, device="cuda")


def perplexity(model: LanguageModel, text: str) -> float:
    ids = model.tokenizer.encode(text)
    logits = model.score(ids)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return float(np.exp(-log_probabilities[np.arange(len(ids)), ids].mean()))


def greedy(model: LanguageModel, prompt: str, count: int) -> str:
    decoder = model.start(model.tokenizer.encode(prompt))
    for _ in range(count):
        decoder.push(int(decoder.logits().argmax()))
    return str(model.tokenizer.decode(list(decoder.ids)))


class TestPretrained:
    @pytest.mark.skipif(not STORIES.is_dir(), reason=f"no model at {STORIES}; set TICORE_DATA")
    @pytest.mark.parametrize("dtype", TOLERANCE)
    def test_stories_model_continues_a_story(self, dtype: str) -> None:
        model = BACKEND.load(str(STORIES), Pieces, {"dtype": dtype})
        story = "Once upon a time, there was a little girl named Lily. She loved to play outside."
        assert perplexity(model, story) < 3
        assert greedy(model, "Once upon a time", 4).startswith("Once upon a time, there was")

    def test_bundled_model_predicts_english(self) -> None:
        model = BACKEND.load("tiny-en", Pieces, {})
        english = "He looked at her for a moment, and then he said that he would come with them."
        assert perplexity(model, english) < 60
        shuffled = "At moment for a he said, her looked and then them that with come would he He."
        assert perplexity(model, shuffled) > 2 * perplexity(model, english)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("tiny-ja", "彼はしばらく彼女の顔を見ていたが、やがて一緒に行こうと言った。"),
            ("tiny-zh", "他看了她一会儿，然后说他要和他们一起去。"),
        ],
    )
    def test_bundled_models_predict_their_language(self, name: str, text: str) -> None:
        model = ticore.load_model(name)
        shuffled = "".join(random.Random(0).sample(text, len(text)))
        ids, others = model.tokenizer.encode(text), model.tokenizer.encode(shuffled)
        likely, unlikely = (log_likelihood(model, [], each) for each in (ids, others))
        assert likely is not None
        assert unlikely is not None
        assert likely > unlikely / 2

    @pytest.mark.parametrize("name", BACKEND.shipped)
    def test_bundled_models_load(self, name: str) -> None:
        model = ticore.load_model(name)
        assert model.tokenizer.vocab_size == model.logit_width

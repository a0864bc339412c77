"""The promises of a Decoder, on random models of several architectures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.backends.torch.tiny import CONFIGS, CONTEXT, WIDTH, load, plain_pass, write
from ticore.errors import CapacityError, PromptError, SettingsError
from ticore.interfaces import LanguageModel
from ticore_torch import TorchModel

TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


def some_ids(count: int, seed: int = 7) -> list[int]:
    return np.random.default_rng(seed).integers(0, WIDTH, count).tolist()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    written: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in written:
            written[name] = write(tmp_path_factory.mktemp(name), CONFIGS[name])
        return written[name]

    return folder


@pytest.fixture(scope="module")
def model(folders: Callable[[str], Path]) -> TorchModel:
    return load(folders("llama"))


@pytest.fixture(scope="module")
def without_start(tmp_path_factory: pytest.TempPathFactory) -> TorchModel:
    return load(write(tmp_path_factory.mktemp("gpt2"), CONFIGS["gpt2"], pieces=False))


class TestReading:
    @pytest.mark.parametrize("dtype", TOLERANCE)
    @pytest.mark.parametrize("name", CONFIGS)
    def test_any_way_of_reading_is_a_pass_without_cache(
        self, name: str, dtype: str, folders: Callable[[str], Path]
    ) -> None:
        model, ids = load(folders(name), dtype=dtype), some_ids(CONTEXT)
        plain = plain_pass(folders(name), [1, *ids[:-1]]).numpy()
        expected = model.score(ids)
        assert expected.dtype == np.dtype(dtype)
        np.testing.assert_allclose(expected, plain, rtol=0, atol=1e-4)

        decoder = model.start(ids[:5])
        for i in range(5, CONTEXT - 1):
            assert decoder.logits().dtype == np.dtype(dtype)
            np.testing.assert_allclose(decoder.logits(), expected[i], rtol=0, atol=TOLERANCE[dtype])
            # A detour that is rewound leaves no trace.
            for token in (3, 4, 5)[: (0, 0, 0, 1, 3)[i % 5]]:
                if len(decoder.ids) < model.context_length:
                    decoder.push(token)
            decoder.rewind(len(decoder.ids) - i)
            decoder.push(ids[i])

    @pytest.mark.parametrize("name", ["llama", "mistral-window", "lfm2"])
    def test_rewinds_leave_no_trace(self, name: str, folders: Callable[[str], Path]) -> None:
        """Negative numbers rewind, others push; every state is the same bits as a direct one."""
        model = load(folders(name))

        @settings(max_examples=12)
        @given(
            ops=st.lists(st.integers(-6, WIDTH - 1), max_size=24),
            prompt=st.lists(st.integers(0, WIDTH - 1), max_size=9),
        )
        def check(ops: list[int], prompt: list[int]) -> None:
            decoder, pushed, seen = model.start(prompt), list[int](), dict[tuple[int, ...], bytes]()
            for op in ops:
                if op >= 0:
                    decoder.push(op)
                    pushed.append(op)
                else:
                    count = min(-op, len(pushed))
                    decoder.rewind(count)
                    del pushed[len(pushed) - count :]
                assert decoder.ids == (*prompt, *pushed)
                now = decoder.logits().tobytes()
                assert seen.setdefault(tuple(pushed), now) == now
            direct = model.start(prompt)
            for token in pushed:
                direct.push(token)
            assert direct.logits().tobytes() == decoder.logits().tobytes()

        check()

    def test_rewinding_calls_no_network(
        self, model: TorchModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        decoder = model.start([9])
        rows = []
        for token in some_ids(20):
            rows.append(decoder.logits())
            decoder.push(token)
        monkeypatch.setattr(model.network, "read", None)
        for row in reversed(rows):
            decoder.rewind(1)
            assert decoder.logits() is row

    def test_the_largest_logits_alone(self, model: TorchModel) -> None:
        decoder = model.start(some_ids(3))
        decoder.push(5)
        ids, largest = decoder.top(6)
        np.testing.assert_array_equal(largest, np.sort(decoder.logits())[::-1][:6])
        np.testing.assert_array_equal(largest, decoder.logits()[ids])

    def test_two_loads_give_the_same_bits(self, folders: Callable[[str], Path]) -> None:
        one, other = load(folders("mixtral")), load(folders("mixtral"))
        assert np.array_equal(one.score(some_ids(30)), other.score(some_ids(30)))

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_half_precision_comes_out_as_float32(
        self, dtype: str, folders: Callable[[str], Path]
    ) -> None:
        half, full = load(folders("llama"), dtype=dtype), load(folders("llama"))
        assert half.score([5]).dtype == half.start([5]).logits().dtype == np.float32
        np.testing.assert_allclose(half.score([5, 6]), full.score([5, 6]), rtol=0, atol=0.2)

    def test_settings_of_the_process_are_as_before(self, folders: Callable[[str], Path]) -> None:
        def state() -> list[object]:
            places = torch.backends.cuda.matmul, torch.backends.cudnn.conv
            precisions: list[object] = [place.fp32_precision for place in places]
            return [
                *precisions,
                torch.get_default_dtype(),
                torch.are_deterministic_algorithms_enabled(),
                torch.is_inference_mode_enabled(),
            ]

        before = state()
        load(folders("llama"), dtype="float64").score([5, 6])
        assert state() == before


class TestWithoutStartToken:
    def test_scores_are_what_a_decoder_computes(self, without_start: TorchModel) -> None:
        """`bos_token_id` stands in where nothing precedes a prediction, and only there."""
        ids = some_ids(9)
        rows = without_start.score(ids)
        for i, row in enumerate(rows):
            logits = without_start.start(ids[:i]).logits()
            np.testing.assert_allclose(logits, row, rtol=0, atol=1e-5)
        read = without_start.network.read_all(ids[:-1]).numpy()
        assert np.array_equal(rows[1:], read)
        assert np.array_equal(rows[0], without_start.network.read_all([1])[0].numpy())
        assert len(without_start.score(ids[:1])) == 1

    def test_nothing_to_read(self, tmp_path: Path) -> None:
        config = CONFIGS["gpt2"].__class__.from_dict(
            CONFIGS["gpt2"].to_dict() | {"bos_token_id": None, "eos_token_id": None}
        )
        model = load(write(tmp_path, config, pieces=False))
        assert model.eos_ids == frozenset()
        for call in (lambda: model.start([]), lambda: model.score([5])):
            with pytest.raises(PromptError, match="at least one token"):
                call()
        assert len(model.start([5]).logits()) == WIDTH


class TestLimits:
    def test_sizes(self, model: TorchModel) -> None:
        assert isinstance(model, LanguageModel)
        assert model.logit_width == WIDTH > model.tokenizer.vocab_size
        assert (model.context_length, model.eos_ids) == (CONTEXT - 1, {2})

    def test_decoders_are_independent(self, model: TorchModel) -> None:
        one, other = model.start([5]), model.start([5])
        before = other.logits().copy()
        one.push(6)
        assert other.ids == (5,)
        assert np.array_equal(other.logits(), before)

    def test_logits_are_read_only(self, model: TorchModel) -> None:
        for logits in (model.start([5]).logits(), model.score([5])):
            with pytest.raises(ValueError, match="read-only"):
                logits[..., 0] = 0

    def test_the_caller_keeps_its_list(self, model: TorchModel) -> None:
        prompt = [5, 6]
        model.start(prompt).push(7)
        assert prompt == [5, 6]

    def test_full_context(self, model: TorchModel) -> None:
        decoder = model.start(some_ids(model.context_length - 1))
        decoder.push(3)
        with pytest.raises(CapacityError, match="context full with 39"):
            decoder.push(3)
        assert len(decoder.ids) == model.context_length
        decoder.rewind(1)
        decoder.push(4)

    def test_prompt_too_long(self, model: TorchModel) -> None:
        with pytest.raises(PromptError, match=r"at most 39 tokens, found 40"):
            model.start(some_ids(40))

    def test_score_too_long(self, model: TorchModel) -> None:
        with pytest.raises(CapacityError, match=r"at most 40 tokens to score, found 41"):
            model.score(some_ids(41))

    def test_score_of_nothing(self, model: TorchModel) -> None:
        assert model.score([]).shape == (0, WIDTH)

    @pytest.mark.parametrize("token", [-1, WIDTH])
    def test_ids_without_logits(self, model: TorchModel, token: int) -> None:
        decoder = model.start([5])
        calls: list[Callable[[], object]] = [
            lambda: decoder.push(token),
            lambda: model.start([token]),
            lambda: model.score([5, token]),
        ]
        for call in calls:
            with pytest.raises(SettingsError, match=rf"from 0 to 703, found {token}"):
                call()
        assert decoder.ids == (5,)

    @pytest.mark.parametrize("count", [-1, 2])
    def test_rewinding_more_than_was_pushed(self, model: TorchModel, count: int) -> None:
        decoder = model.start([5, 6, 7])
        decoder.push(8)
        with pytest.raises(SettingsError, match=rf"the 1 pushed tokens, found {count}"):
            decoder.rewind(count)
        assert decoder.ids == (5, 6, 7, 8)

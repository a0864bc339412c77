"""The promises of a model and its Decoders, on random models of several architectures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import numpy as np
import torch
import transformers

from tests.support.torch_checkpoints import (
    COMMON,
    CONFIGS,
    CONTEXT,
    WIDTH,
    load,
    plain_pass,
    write,
)
from ticore.errors import CapacityError, PromptError
from ticore.testing import (
    ModelContract,
    ModelLimitsContract,
    ModelThreadsContract,
    TopDecoderContract,
)
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


class TestReading(ModelContract):
    tolerance = 1e-4

    @pytest.fixture(params=["llama", "mistral-window", "lfm2"])
    def model(self, request: pytest.FixtureRequest, folders: Callable[[str], Path]) -> TorchModel:
        return load(folders(request.param))


class TestThreads(ModelThreadsContract):
    """In float64 a pass changes settings of the process, which other passes must not see."""

    @pytest.fixture(params=["float64", "float32"])
    def model(self, request: pytest.FixtureRequest, folders: Callable[[str], Path]) -> TorchModel:
        return load(folders("llama"), dtype=request.param)


class TestTop(TopDecoderContract):
    pass


class TestNetwork:
    @pytest.mark.slow
    @pytest.mark.parametrize("dtype", TOLERANCE)
    @pytest.mark.parametrize("name", CONFIGS)
    def test_decoder_logits_equal_a_pass_without_cache(
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

    def test_rewind_runs_no_forward_pass(
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

    def test_two_loaded_models_give_the_same_bits(self, folders: Callable[[str], Path]) -> None:
        one, other = load(folders("mixtral")), load(folders("mixtral"))
        assert np.array_equal(one.score(some_ids(30)), other.score(some_ids(30)))

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_logits_are_float32_when_the_model_is_bfloat16(
        self, dtype: str, folders: Callable[[str], Path]
    ) -> None:
        half, full = load(folders("llama"), dtype=dtype), load(folders("llama"))
        assert half.score([5]).dtype == half.start([5]).logits().dtype == np.float32
        np.testing.assert_allclose(half.score([5, 6]), full.score([5, 6]), rtol=0, atol=0.2)

    def test_forward_pass_gives_the_settings_of_the_process_back(
        self, folders: Callable[[str], Path]
    ) -> None:
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
    def test_score_equals_decoders_when_there_is_no_start_token(
        self, without_start: TorchModel
    ) -> None:
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

    def test_start_and_score_refuse_an_empty_text_when_nothing_can_be_read_instead(
        self, tmp_path: Path
    ) -> None:
        config = CONFIGS["gpt2"].__class__.from_dict(
            CONFIGS["gpt2"].to_dict() | {"bos_token_id": None, "eos_token_id": None}
        )
        model = load(write(tmp_path, config, pieces=False))
        assert model.eos_ids == frozenset()
        for call in (lambda: model.start([]), lambda: model.score([5])):
            with pytest.raises(PromptError, match="at least one token"):
                call()
        assert len(model.start([5]).logits()) == WIDTH


def test_texts_end_where_a_longrope_would_change_its_angles(tmp_path: Path) -> None:
    short = CONTEXT // 2
    config = transformers.Phi3Config(
        **COMMON,
        pad_token_id=0,
        original_max_position_embeddings=short,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 1e4,
            "short_factor": [1.0] * 4,
            "long_factor": [3.0, 4.0, 5.0, 6.0],
            "original_max_position_embeddings": short,
        },
    )
    folder = write(tmp_path, config)
    model = load(folder, dtype="float64")
    assert model.context_length == short - 1  # one is the start token's
    ids = some_ids(short - 1)
    decoder = model.start(ids[:4])
    for token in ids[4:]:
        decoder.push(token)
    np.testing.assert_allclose(model.score([*ids, 0])[-1], decoder.logits(), rtol=0, atol=1e-9)
    with pytest.raises(CapacityError):
        decoder.push(0)
    # Beyond it, what follows would change what was before.
    plain = plain_pass(folder, [*ids, 0, 0, 0])[: len(ids)]
    assert (plain - plain_pass(folder, ids)).abs().max() > 0.1


class TestLimits(ModelLimitsContract):
    def test_model_reports_width_and_context_of_its_config(self, model: TorchModel) -> None:
        assert model.logit_width == WIDTH > model.tokenizer.vocab_size
        assert (model.context_length, model.eos_ids) == (CONTEXT - 1, {2})

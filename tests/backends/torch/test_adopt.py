"""Models of transformers that are in memory already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import numpy as np
import transformers
from tokenizers.processors import TemplateProcessing

from tests.support.torch_checkpoints import CONFIGS, load, write
from ticore import Watermarker
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import LanguageModel
from ticore.registry import wrap


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("gpt2"), CONFIGS["gpt2"], pieces=False)


@pytest.fixture
def tokenizer(folder: Path) -> Any:
    file = str(folder / "tokenizer.json")
    return transformers.PreTrainedTokenizerFast(tokenizer_file=file)


@pytest.fixture
def module(folder: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(folder)


def test_adopted_model_computes_what_the_loaded_one_does(
    folder: Path, module: Any, tokenizer: Any
) -> None:
    adopted, loaded = wrap(module, tokenizer), load(folder)
    assert isinstance(adopted, LanguageModel)
    ids = tokenizer("It was a cold morning")["input_ids"]
    assert adopted.tokenizer.encode("It was a cold morning") == ids
    assert np.array_equal(adopted.score(ids), loaded.score(ids))
    assert adopted.eos_ids == loaded.eos_ids
    assert adopted.context_length == loaded.context_length
    assert adopted.digest() == wrap(module, tokenizer).digest()


def test_what_a_tokenizer_puts_after_every_text_starts_none(
    folder: Path, module: Any, tokenizer: Any
) -> None:
    ids = tokenizer("It was a cold morning")["input_ids"]
    end = tokenizer.convert_ids_to_tokens(5)
    tokenizer.add_special_tokens({"eos_token": end})
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, 5)]
    )
    assert tokenizer("")["input_ids"] == [5]
    assert np.array_equal(wrap(module, tokenizer).score(ids), load(folder).score(ids))


def test_adopted_model_writes_consistent_text(module: Any, tokenizer: Any) -> None:
    model = wrap(module, tokenizer)
    written = Watermarker(model, "unigram", key=bytes(range(32)), seed=1).generate(
        "It", max_new_tokens=20
    )
    assert tokenizer(written.text)["input_ids"] == list(written.ids)


def test_adopted_model_has_no_portable_digest(module: Any, tokenizer: Any) -> None:
    model = wrap(module.double(), tokenizer)
    with pytest.raises(SettingsError, match="expected a model opened from its files"):
        model.portable_digest()  # type: ignore[attr-defined]  # of a PortableModel


def test_model_in_training_mode_is_refused(module: Any, tokenizer: Any) -> None:
    with pytest.raises(SettingsError, match=r"training mode.*call model.eval"):
        wrap(module.train(), tokenizer)


def test_model_without_a_head_is_refused(module: Any, tokenizer: Any) -> None:
    expected = r"found GPT2Model, which gives none; .*AutoModelForCausalLM"
    with pytest.raises(ModelFilesError, match=expected):
        wrap(module.base_model, tokenizer)


def test_model_with_an_encoder_is_refused(tokenizer: Any) -> None:
    sizes = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    config = transformers.T5Config(vocab_size=704, **sizes)
    expected = r"causal language model, found T5ForConditionalGeneration, .*an encoder"
    with pytest.raises(ModelFilesError, match=expected):
        wrap(transformers.T5ForConditionalGeneration(config).eval(), tokenizer)


def test_model_that_cannot_run_is_refused(module: Any, tokenizer: Any) -> None:
    del module.transformer.h[0].mlp
    with pytest.raises(ModelFilesError, match=r"the model in memory: expected .* can run"):
        wrap(module, tokenizer)


def test_tokenizer_of_another_library_is_refused_beside_a_model(
    module: Any, tokenizer: Any
) -> None:
    with pytest.raises(SettingsError, match=r"found a tokenizers\.Tokenizer"):
        wrap(module, tokenizer.backend_tokenizer)


def test_tokenizer_with_more_ids_than_logits_is_refused(module: Any, tokenizer: Any) -> None:
    tokenizer.add_tokens([f"<more {number}>" for number in range(5000)])
    with pytest.raises(SettingsError, match="expected a tokenizer of at most"):
        wrap(module, tokenizer)


def test_object_of_no_known_library_is_refused(tokenizer: Any) -> None:
    with pytest.raises(SettingsError, match="expected a model that a backend knows"):
        wrap(object(), tokenizer)

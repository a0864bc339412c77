"""Candidates masked where llama-cpp-python itself writes a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")

import llama_cpp

from tests.support.gguf_files import pieces_of, write_gguf
from tests.support.small_checkpoints import SETTINGS, tensors_of
from tests.support.tokenizers import SENTENCEPIECE
from ticore.consistency import Verifier
from ticore.errors import InconsistentStateError, PromptError, SettingsError, TicoreError
from ticore_llamacpp import ConsistentLogitsProcessor

TOKENIZER = SENTENCEPIECE["sp-bpe"]()
WIDTH = TOKENIZER.vocab_size
END = 2


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = SETTINGS["llama"] | {"vocab_size": WIDTH, "head_dim": 8}
    path = tmp_path_factory.mktemp("llama") / "model.gguf"
    write_gguf(path, "llama", settings, tensors_of("llama", settings), more=pieces_of(TOKENIZER))
    return llama_cpp.Llama(str(path), n_ctx=64, verbose=False)


@pytest.mark.slow
def test_every_text_is_read_back(llama: Any) -> None:
    """Random models write mostly what is not."""
    prompt = TOKENIZER.encode("the quick brown fox")
    changed = 0
    for seed in range(10):
        for masks in (False, True):
            processor = ConsistentLogitsProcessor(TOKENIZER, eos_ids=[END])
            llama.set_seed(seed)
            written = []
            given = llama_cpp.LogitsProcessorList([processor] if masks else [])
            for token in llama.generate([1, *prompt], logits_processor=given):
                if token == END or len(written) == 20:
                    break
                written.append(token)
            processor.check()
            survives = TOKENIZER.encode(TOKENIZER.decode(written)) == written
            assert survives or not masks
            changed += not survives
    assert changed


def test_mask_is_that_of_a_verifier() -> None:
    """Texts grow, shrink and become others; scores that are no candidates' stay masked."""
    given = TOKENIZER.encode("it was late")
    ids = TOKENIZER.encode("nobody had yet put out the lights")
    scores = np.arange(WIDTH + 9, dtype=np.float32)
    for view in ("whole", "continuation"):
        processor = ConsistentLogitsProcessor(TOKENIZER, eos_ids=[END], view=view)
        for length in (0, 1, 4, 2, 6):
            row = [*ids[: length // 2], *ids[: length - length // 2]]
            verification = Verifier(TOKENIZER, mode="prefix", view=view).start(given)
            for token in row:
                verification.push(token)
            found = processor(np.array([1, *given, *row], np.intc), scores)
            if not verification.admissible:
                assert np.flatnonzero(found > -np.inf).tolist() == [END]
                with pytest.raises(InconsistentStateError):
                    processor.check()
                break
            expected = np.zeros(WIDTH + 9, bool)
            expected[:WIDTH] = verification.mask()
            expected[END] = True
            assert np.array_equal(found, np.where(expected, scores, -np.inf))
            processor.check()


def test_text_that_cannot_be_held_consistent_ends() -> None:
    split = [t for t in range(3, WIDTH) if TOKENIZER.encode(TOKENIZER.decode([t, t])) != [t, t]]
    prompt = [split[0], split[0]]
    failing: list[tuple[type[TicoreError], dict[str, Any], list[list[int]], int]] = [
        (PromptError, {"view": "whole"}, [prompt], WIDTH),
        (SettingsError, {}, [[1, 5]], WIDTH - 1),
        (SettingsError, {"eos_ids": [END, WIDTH - 1]}, [[1, 5]], WIDTH - 1),
        (SettingsError, {}, [[1, 5], [1, 6, 7]], WIDTH),
        (InconsistentStateError, {"prompt_length": 1}, [[1, *prompt]], WIDTH),
    ]
    for error, settings, calls, width in failing:
        processor = ConsistentLogitsProcessor(TOKENIZER, **({"eos_ids": [END]} | settings))
        for ids in calls:
            found = processor(np.array(ids, np.intc), np.zeros(width, np.float32))
        assert np.flatnonzero(found > -np.inf).tolist() == [END]
        with pytest.raises(error):
            processor.check()


def test_bad_settings_are_refused() -> None:
    for settings in ({"eos_ids": []}, {"eos_ids": [WIDTH]}, {"eos_ids": [2], "prompt_length": -1}):
        with pytest.raises(SettingsError):
            ConsistentLogitsProcessor(TOKENIZER, **settings)

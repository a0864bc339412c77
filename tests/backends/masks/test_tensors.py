"""Packed masks as tensors are the masks of the texts."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from tests.support.tokenizers import SENTENCEPIECE
from ticore.consistency import Verifier
from ticore_masks import refused_tokens


def test_tensor_holds_the_mask_of_each_text() -> None:
    tokenizer = SENTENCEPIECE["sp-bpe"]()
    ids = tokenizer.encode("nobody had yet put out the lights")
    size = tokenizer.vocab_size
    texts = [Verifier(tokenizer).start(ids[:length]) for length in range(len(ids))]
    for width in (size - 3, size, size + 1, size + 70):
        words = -(-max(width, size) // 32)
        found = refused_tokens([*texts, None], words, width, torch.device("cpu"))
        assert found.dtype == torch.bool
        assert found.shape == (len(texts) + 1, width)
        assert not found[-1].any()
        expected = np.zeros((len(texts), width), bool)
        common = min(size, width)
        expected[:, :common] = np.stack([text.mask() for text in texts])[:, :common]
        assert np.array_equal(found[:-1].numpy(), ~expected)

"""What the model has read of a text that grows."""

from itertools import pairwise

import pytest

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Steganographer

NESTED = ToyTokenizer(["a", "b", "ab", "ba", "aab", "c"])


@pytest.mark.parametrize("seed", range(4))
def test_model_reads_the_text_also_where_tokens_are_taken_back(seed):
    contexts, key = [], bytes([seed]) * 32
    model = ToyModel(NESTED, seed)
    stego = Steganographer(model, key=key, prompt="c", disambiguation="lookahead")
    written = stego.embed_bits(
        [1, 0] * 32, observer=lambda step, _: contexts.append(tuple(step._decoder.ids))
    )
    read = [NESTED.decode(ids) for ids in contexts]
    assert all(written.text.startswith(text) for text in read)
    assert all(len(before) < len(after) for before, after in pairwise(read))
    assert any(after[: len(before)] != before for before, after in pairwise(contexts))

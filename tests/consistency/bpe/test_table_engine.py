"""Answers about one token are those of the whole table."""

import random

import numpy as np
import pytest

from tests.histories import PASSAGES
from tests.tokenizers import REAL, TRAINED
from ticore.consistency import Verifier
from ticore.consistency.bpe.table_engine import TableEngine
from ticore.consistency.modes import Mode
from ticore.consistency.verifier import forget


@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
@pytest.mark.parametrize("name", [*TRAINED, *REAL])
def test_one_token_is_decided_as_in_the_whole_table(name: str, mode: Mode) -> None:
    tokenizer = {**TRAINED, **REAL}[name]()
    engine = Verifier(tokenizer, mode).start()._engine
    if not isinstance(engine, TableEngine):
        pytest.skip("no table is used for this tokenizer and mode")
    draw = random.Random(name)
    for text in draw.sample(sorted(PASSAGES.values()), 3):
        state = engine.start()
        for token in tokenizer.encode(text)[:25]:
            if engine._key(state) is not None:
                whole = engine._decide(state)
                admitted = np.flatnonzero(whole).tolist()
                some = [token, *draw.choices(range(tokenizer.vocab_size), k=8)]
                some += draw.choices(admitted, k=8) if admitted else []
                for one in some:
                    assert engine._decide_one(state, one) == whole[one], (text, one)
            state = engine.step(state, token)


def test_a_text_that_is_only_followed_fills_no_table() -> None:
    tokenizer = TRAINED["hf-cl100k"]()
    forget(tokenizer)
    verifier = Verifier(tokenizer)
    engine = verifier.start()._engine
    text = verifier.start(tokenizer.encode("what stood here before"))
    kept = len(engine._masks._values)
    for token in tokenizer.encode(" and something else, 123 times"):
        text.push(token)
    assert text.admissible
    assert len(engine._masks._values) == kept

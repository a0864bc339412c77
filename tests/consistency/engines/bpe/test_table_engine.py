"""Answers about one token are those of the whole table."""

import random

import numpy as np
import pytest

from tests.support.sample_texts import PASSAGES
from tests.support.slow import FEW_TOKENIZERS, pairs_of, slow_unless, some_pairs
from tests.support.tokenizers import REAL, TRAINED
from ticore.consistency._engines.bpe.table_engine import TableEngine
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._modes import Mode
from ticore.consistency._unsupported import Unsupported

CASES = some_pairs([*TRAINED, *REAL], ["prefix", "open", "viable"], one_in=3)


@pytest.mark.parametrize(("name", "mode"), slow_unless(pairs_of(FEW_TOKENIZERS, CASES), CASES))
def test_decide_one_says_what_decide_all_says(name: str, mode: Mode) -> None:
    tokenizer = {**TRAINED, **REAL}[name]()
    try:
        engine = table_engine(Oracle(tokenizer, mode))
    except Unsupported as why:
        pytest.skip(f"there are no tables for this tokenizer and mode: {why}")
    if not isinstance(engine, TableEngine):
        pytest.skip("a unigram tokenizer: its engine has no tables of this kind")
    draw = random.Random(name)
    for text in draw.sample(sorted(PASSAGES.values()), 2):
        state = engine.start()
        for token in tokenizer.encode(text)[:5]:
            if engine.table_key(state) is not None:
                whole = engine.decide_all(state)
                admitted = np.flatnonzero(whole).tolist()
                some = [token, *draw.choices(range(tokenizer.vocab_size), k=8)]
                some += draw.choices(admitted, k=8) if admitted else []
                for one in some:
                    assert engine.decide_one(state, one) == whole[one], (text, one)
            state = engine.step(state, token)


def test_step_if_admitted_makes_no_table() -> None:
    tokenizer = TRAINED["hf-cl100k"]()
    engine = table_engine(Oracle(tokenizer))
    assert isinstance(engine, TableEngine)
    states = [engine.start()]
    for token in tokenizer.encode("what stands here and something else, 123 times"):
        states.append(engine.step_if_admitted(states[-1], token))
        assert states[-1] is not None
    assert not any(map(engine.is_cached, states))
    engine.mask(states[3])
    assert engine.is_cached(states[3])

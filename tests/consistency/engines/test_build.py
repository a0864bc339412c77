"""Engines that decide from tables: which there are, and that they leave no garbage."""

import gc
from weakref import ref

import numpy as np
import pytest

from tests.support.tokenizers import TRAINED
from ticore.consistency._channels import PASSAGES
from ticore.consistency._engines.bpe.pretokenized_engine import PretokenizedEngine
from ticore.consistency._engines.bpe.unsplit_engine import UnsplitEngine
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.channel_engine import ChannelEngine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._engines.unigram.engine import UnigramEngine

KINDS = {
    "hf-cl100k-nfc": PretokenizedEngine,
    "hf-ignore-merges": PretokenizedEngine,
    "sp-bpe": UnsplitEngine,
    "sp-bpe-nfkc": UnsplitEngine,
    "sp-unigram-nfkc": UnigramEngine,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_table_engine_is_deleted_without_the_garbage_collector(name):
    """No cache makes a cycle with its engine, whose tables take many megabytes."""
    tokenizer = TRAINED[name]()
    engine = table_engine(Oracle(tokenizer, "viable"))
    assert type(engine) is KINDS[name]
    parts = [ref(engine)]
    engine = ChannelEngine(engine, PASSAGES["nfc"], Oracle(tokenizer, "viable", "nfc"))
    parts.append(ref(engine))
    state = engine.start()
    for token in tokenizer.encode("It's naïve, e\u0301 あ 12345  !\n"):
        engine.mask(state)
        engine.admits(state, np.array([token]))
        engine.is_consistent(state)
        state = engine.step(state, token)
    gc.collect()
    gc.disable()
    try:
        del engine
        assert [part() for part in parts] == [None] * len(parts)
    finally:
        gc.enable()

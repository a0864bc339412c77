"""What an engine has cached, and what it has to compute."""

from __future__ import annotations

from typing import Literal

from ticore.consistency import Verification
from ticore.consistency._engines.bpe.pretokenized_engine import PretokenizedEngine
from ticore.consistency._engines.bpe.table_engine import TableEngine

MaskWork = Literal["cached", "new_token", "new_tail", "retokenized"]


def mask_work(verification: Verification) -> MaskWork:
    """What an engine has to compute when it is asked for the mask of an admissible list.

    Returns:
        `cached`: nothing.
        `new_token`: what the last token forbids.
        `new_tail`: that, and how the end of the text is split.
        `retokenized`: everything, with the tokenizer itself.
        An engine without a cache gives `new_token` each time.
    """
    engine, state = verification._engine, verification._state()
    if not isinstance(engine, TableEngine):
        return "new_token"
    if engine.table_key(state) is None:
        return "retokenized"
    if engine.is_cached(state):
        return "cached"
    if isinstance(engine, PretokenizedEngine) and not engine.knows_shape(state):
        return "new_tail"
    return "new_token"

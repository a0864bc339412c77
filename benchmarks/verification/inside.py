"""What an engine keeps: it alone knows, so this looks inside."""

from __future__ import annotations

from typing import Literal

from ticore.consistency import Verification
from ticore.consistency.bpe.split_engine import SplitEngine
from ticore.consistency.bpe.table_engine import TableEngine

New = Literal["kept", "new_token", "new_tail", "by_tokenizer"]


def what_is_new(verification: Verification) -> New:
    """What an engine has to find out if it is asked for the mask of an admissible list.

    Returns:
        `kept`: nothing; `new_token`: what the last token forbids; `new_tail`: also how the end of
        the text is split; `by_tokenizer`: everything, by retokenising. An engine that keeps no
        answers has a new token each time.
    """
    engine, state = verification._engine, verification._state()
    if not isinstance(engine, TableEngine):
        return "new_token"
    key = engine._key(state)
    if key is None:
        return "by_tokenizer"
    if key in engine._masks._values:
        return "kept"
    if isinstance(engine, SplitEngine) and state.tail.shape not in engine._meetings._values:
        return "new_tail"
    return "new_token"

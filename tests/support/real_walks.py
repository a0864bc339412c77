"""Lists of tokens of real libraries' tokenizers, along which an engine is compared with the oracle.

`random_bpe` does the same for tokenizers that are made from a description. Here a library is asked,
so the description that the adapter gives is tested along with the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from tests.support.random_bpe import CHARACTERS, check_list, few_characters
from ticore.backend_kit import NoStructure
from ticore.consistency._engines import build, retokenizing
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Tokenizer


def table_of(tokenizer: Tokenizer, mode: str) -> tuple[Any, retokenizing.Oracle] | None:
    """The table engine and the oracle; None if there are no tables for this tokenizer."""
    judge = retokenizing.Oracle(tokenizer, mode)
    try:
        return build.table_engine(judge), judge
    except (NoStructure, Unsupported):
        return None


def check_library_walk(
    tokenizer: Tokenizer,
    text: str,
    mode: str,
    choices: Sequence[int],
    characters: str = CHARACTERS,
    shown: Sequence[int] | None = None,
) -> bool:
    """Compare the table engine's answers with the oracle's along a list, as `check_walk` does.

    The list begins with the tokens of `text`, up to the first special id. It goes on with admitted
    tokens, and with any token where a choice is 90 or more.

    Args:
        tokenizer: of any library.
        text: where the list begins.
        mode: of verification.
        choices: one for each further token.
        characters: those that may complete unfinished bytes.
        shown: the ids to compare answers about; None for all that are not special.

    Returns:
        Whether there is a table engine; if not, nothing was compared.
    """
    special = tokenizer.special_ids
    tokens = [i for i in range(tokenizer.vocab_size) if i not in special]
    tokens = tokens if shown is None else [i for i in tokens if i in set(shown)]
    true = list(takewhile(lambda token: token not in special, tokenizer.encode(text)))
    with few_characters(characters):
        found = table_of(tokenizer, mode)
        if found is None:
            return False
        engine, judge = found
        judge.boundaries = frozenset()  # an engine knows one part of a list, without boundaries
        history: list[int] = []
        state = engine.start()
        for choice in [*true, *choices, 0]:
            some = tokens
            if judge.may_begin(history):
                admitted = check_list(engine, judge, state, history, tokens)
                some = admitted if admitted and choice < 90 else tokens
            follows = len(history) < len(true)
            token = choice if follows else some[choice % len(some)]
            if judge.may_begin([*history, token]):
                assert not engine.never_recovers(state, token), (history, token)
            history.append(token)
            followed = engine.step_if_admitted(state, token) if len(history) % 2 else None
            state = engine.step(state, token) if followed is None else followed
    return True


def differences(
    tokenizer: Tokenizer, engine: Any, judge: retokenizing.Oracle, ids: Sequence[int]
) -> list[int]:
    """The ids about which the engine's mask after a list differs from the oracle's."""
    state = engine.start()
    for token in ids:
        state = engine.step(state, token)
    expected = judge.admits(ids, range(tokenizer.vocab_size))
    return np.flatnonzero(engine.mask(state) != expected).tolist()

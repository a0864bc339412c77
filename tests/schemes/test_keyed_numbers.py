"""Prepared tokens are split into contexts and the tokens after them."""

import numpy as np
import pytest

from ticore.schemes._keyed_numbers import keyed_numbers

NUMBERS = keyed_numbers(2, bytes(16), "any", 50)


@pytest.mark.parametrize(
    ("width", "before", "tokens"),
    [
        (0, [], [7, 5, 9, 6]),
        (1, [[7, 5, 9]], [5, 9, 6]),
        (3, [[7], [5], [9]], [6]),
        (4, [[], [], [], []], []),
        (6, [[], [], [], [], [], []], []),
    ],
)
def test_each_token_has_its_context(width, before, tokens):
    row = NUMBERS.known_tokens(np.array([7, 5, 9, 6], np.uint32))
    contexts, after = row.contexts_and_tokens(width)
    assert [column.ids.tolist() for column in contexts] == before
    assert after.ids.tolist() == tokens
    for column in (*contexts, after):
        assert column.words.tolist() == NUMBERS.any_tokens(column.ids).words.tolist()

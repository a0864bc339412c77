"""The ids of a list that grows."""

from __future__ import annotations

from ticore.consistency._engines.token_history import TokenHistory


def test_a_long_list_is_remembered_whole():
    history = TokenHistory()
    for token in range(200):
        assert history.ids() == list(range(token))
        assert history == TokenHistory.of(range(token))
        history = history.and_then(token)

"""Which prompts are read together."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

from hypothesis import given
from hypothesis import strategies as st

from ticore_torch._prompts import MOST_IDS, SHORT, passes

LENGTHS = st.lists(st.integers(1, 2 * MOST_IDS) | st.integers(1, 2 * SHORT), max_size=40)


@given(LENGTHS)
def test_each_prompt_is_read_once_with_little_padding(lengths: list[int]) -> None:
    found = passes(lengths)
    assert sorted(place for places in found for place in places) == list(range(len(lengths)))
    for places in found:
        together = [lengths[place] for place in places]
        longest, shortest = together[0], min(together)
        assert longest == max(together)
        assert longest <= SHORT or longest - shortest < shortest / 4
        assert len(together) == 1 or len(together) * longest <= MOST_IDS


@pytest.mark.parametrize(
    ("lengths", "expected"), [([], 0), ([500] * 32, 1), (range(1, 65), 1), ([16_384] * 2, 2)]
)
def test_prompts_of_like_lengths_share_a_pass(lengths: list[int], expected: int) -> None:
    assert len(passes(lengths)) == expected

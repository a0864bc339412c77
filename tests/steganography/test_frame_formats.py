"""The kinds of frames: which lengths padded ones have."""

from __future__ import annotations

import pytest

from ticore.steganography._frame_formats import FORMATS, Security


@pytest.mark.parametrize("security", FORMATS)
def test_padded_lengths_has_every_length_up_to_the_most(security: Security) -> None:
    """Also one that is just the most."""
    frames = FORMATS[security]
    lengths = list(frames.padded_lengths(600))
    assert len(lengths) > 3
    for number, length in enumerate(lengths):
        assert list(frames.padded_lengths(length)) == lengths[: number + 1]
        assert list(frames.padded_lengths(length - 1)) == lengths[:number]

"""The ways to cut texts into two others."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ticore.consistency._engines.bpe import two_parts


def cut_as_it_is_written(texts):
    last = {text: at for at, text in enumerate(texts)}
    return [
        (last[text[:at]], last[text[at:]], whole)
        for whole, text in enumerate(texts)
        for at in range(1, len(text))
        if text[:at] in last and text[at:] in last
    ]


def rows(found):
    return list(zip(*(column.tolist() for column in found), strict=True))


texts = st.lists(st.text("\0ab\xff", min_size=1, max_size=6).map(lambda t: t.encode("latin-1")))


@pytest.mark.parametrize("base", [two_parts._BASE, 1], ids=["", "with-equal-hashes"])
@given(texts=texts)
@example(texts=[b"a", b"a", b"aa"])
@example(texts=[b"ab", b"ba", b"a", b"b"])
@example(texts=[])
def test_cut_in_two_finds_every_cut_into_two_of_the_texts(base, texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_parts, "_BASE", base)
        patch.setattr(two_parts, "_INVERSE", pow(base, -1, 1 << 64))
        assert rows(two_parts.cut_in_two(texts)) == cut_as_it_is_written(texts)


def test_cut_in_two_compares_parts_whose_hash_is_that_of_another_text(monkeypatch):
    """Of "ab", the first part has the hash of "c" here."""
    real = two_parts.KeyIndex

    class Careless(real):
        def find(self, keys):
            found = super().find(keys)
            return np.where(found < 0, 0, found).astype(np.int32)

    monkeypatch.setattr(two_parts, "KeyIndex", Careless)
    assert rows(two_parts.cut_in_two([b"c", b"ab", b"cc"])) == [(0, 0, 2)]

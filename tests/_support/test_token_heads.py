"""Lengths and first bytes of tokens."""

from ticore._support.token_heads import NONE, heads_of


def test_heads_are_those_of_each_token():
    heads = heads_of([b"", b"a", b"\x00", b"\xffb", b"abc", b""])
    assert heads.lengths.tolist() == [0, 1, 1, 2, 3, 0]
    assert heads.first.tolist() == [NONE, 0x61, 0, 0xFF, 0x61, NONE]
    assert heads.second.tolist() == [NONE, NONE, NONE, 0x62, 0x62, NONE]

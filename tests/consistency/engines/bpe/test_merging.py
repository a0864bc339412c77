"""BPE for many texts side by side."""

import numpy as np
from hypothesis import given

from tests.support.random_bpe import Bpe, BpeWithTrees, models
from ticore.consistency._engines.bpe.merge_rules import atoms
from ticore.consistency._engines.bpe.merging import merge_side_by_side


def in_atoms(bpe, token):
    """The atoms of a token's text."""
    letters = {bpe.spelled[i]: i for i in atoms(bpe.structure, bpe.spelled)}
    text = bpe.spelled[token]
    if bpe.structure.atoms == "bytes":
        return [letters[bytes([byte])] for byte in text]
    return [letters[character.encode()] for character in text.decode()]


@given(model=models)
def test_merging_leaves_what_the_library_gives_for_each_text(model):
    bpe = BpeWithTrees(model)
    lists = [np.array(in_atoms(bpe, token), dtype=np.int32) for token in bpe.pieces]
    for token, found in zip(bpe.pieces, merge_side_by_side(lists, bpe.rules), strict=True):
        assert list(found) == bpe.tokenizer.merge(bpe.spelled[token])


def test_merging_takes_the_leftmost_of_equally_ranked_merges():
    bpe = BpeWithTrees(Bpe(rules=((b"a", b"a"),), more=(b"aaa",), pattern="gpt2"))
    a, aa, aaa = map(bpe.id_of, (b"a", b"aa", b"aaa"))
    lists = [np.array(in_atoms(bpe, token), dtype=np.int32) for token in (aaa, a, aaa)]
    assert merge_side_by_side(lists, bpe.rules) == [(aa, a), (a,), (aa, a)]

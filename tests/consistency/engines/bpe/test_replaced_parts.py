"""Which ends of a list are replaced as a part, and which tokens complete such a part."""

import pytest

from tests.support.random_bpe import Bpe, BpeWithTrees
from ticore.consistency._engines.bpe.replaced_parts import ReplacedParts
from ticore.consistency._engines.bpe.token_pairs import TokenPairs, build_tables
from ticore.consistency._engines.chain import Chain

# Merging gives `ab c` for abc, and `a ab c` for aabc.
MODEL = Bpe(
    pattern="gpt2",
    rules=((b"a", b"b"), (b"b", b"c")),
    more=(b"abc", b"aabc"),
    ignore_merges=True,
)


@pytest.fixture
def bpe():
    return BpeWithTrees(MODEL)


def replaced_parts(bpe, mode="prefix"):
    tables = build_tables(bpe.structure, bpe.spelled)
    return ReplacedParts(TokenPairs(tables, bpe.spelled), mode)


def chain(bpe, *texts):
    tokens = Chain()
    for text in texts:
        tokens = tokens.then(bpe.id_of(text))
    return tokens


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        ((b"ab", b"c"), [2]),
        ((b"x", b"ab", b"c"), [2]),
        ((b"a", b"ab", b"c"), [2, 3]),
        ((b"c",), []),
        ((), []),
    ],
)
def test_find_replaced_gives_the_lengths_of_all_ends_that_are_replaced(bpe, texts, counts):
    assert list(replaced_parts(bpe).find_replaced(chain(bpe, *texts))) == counts


def test_find_completing_gives_the_token_that_completes_a_part(bpe):
    found = list(replaced_parts(bpe).find_completing(chain(bpe, b"a", b"ab")))
    completing = frozenset({bpe.id_of(b"c")})
    assert found == [(1, completing), (2, completing)]


def test_find_completing_counts_a_continuation_when_the_mode_is_viable():
    """After a, the token ! and the continuation "1" make the part a!1 of its own."""
    bpe = BpeWithTrees(Bpe(pattern="gpt2", more=(b"a!1",), ignore_merges=True))
    after_a, mark = chain(bpe, b"a"), bpe.id_of(b"!")
    assert list(replaced_parts(bpe).find_completing(after_a)) == []
    assert list(replaced_parts(bpe, "viable").find_completing(after_a)) == [(1, frozenset({mark}))]


def test_completing_alone_has_the_first_token_of_a_part_that_a_continuation_completes():
    bpe = BpeWithTrees(Bpe(pattern="gpt2", more=(b"!1",), ignore_merges=True))
    assert replaced_parts(bpe).completing_alone == frozenset()
    assert replaced_parts(bpe, "viable").completing_alone == frozenset({bpe.id_of(b"!")})

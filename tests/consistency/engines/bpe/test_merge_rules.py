"""Merge rules, from a list of rules or from ranks."""

from tests.support.random_bpe import Bpe, BpeWithTrees
from ticore.consistency._engines.bpe.merge_rules import atoms


def named_rules(model):
    """The texts of left side, right side and result of each rule, with its rank."""
    bpe = BpeWithTrees(model)
    rules = bpe.rules
    columns = (rules.left, rules.right, rules.result, rules.rank)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {bpe.named(*tokens): rank for *tokens, rank in rows}


def test_merge_rules_take_the_later_rule_when_a_list_has_two_for_a_pair():
    rules = ((b"a", b"b"), (b"b", b"a"), (b"a", b"b"))
    assert named_rules(Bpe(rules=rules, pattern="gpt2")) == {
        (b"b", b"a", b"ba"): 1,
        (b"a", b"b", b"ab"): 2,
    }


def test_merge_rules_have_every_way_to_cut_a_piece_when_they_come_from_ranks():
    ranks = ((b"ab", 7), (b"bc", 5), (b"abc", 3))
    assert named_rules(Bpe(ranks=ranks, pattern="gpt2")) == {
        (b"a", b"b", b"ab"): 7,
        (b"b", b"c", b"bc"): 5,
        (b"ab", b"c", b"abc"): 3,
        (b"a", b"bc", b"abc"): 3,
    }


def test_atoms_are_single_bytes_or_single_characters():
    word = "né".encode()
    in_bytes = BpeWithTrees(Bpe(more=(word,), pattern="gpt2"))
    found = in_bytes.named(*atoms(in_bytes.structure, in_bytes.spelled))
    assert sorted(found) == [bytes([byte]) for byte in range(256)]
    in_characters = BpeWithTrees(Bpe(more=(word,)))
    found = in_characters.named(*atoms(in_characters.structure, in_characters.spelled))
    assert sorted(found) == [b" ", b"n", "é".encode()]

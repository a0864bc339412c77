"""Merge trees, against runs of the algorithm as it is written."""

from itertools import pairwise

from hypothesis import example, given

from tests.support.random_bpe import Bpe, BpeWithTrees, models
from ticore.consistency._engines.bpe.merge_rules import atoms


def run_bpe(bpe, symbols):
    """Best-first merging: what is left, and (rank, start, middle, end) of every merge."""
    rules = bpe.rules
    columns = (rules.left, rules.right, rules.result, rules.rank)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    table = {(a, b): (rank, c) for a, b, c, rank in rows}
    spans = [(n, n + 1) for n in range(len(symbols))]
    merges = []
    while found := [(*table[p], at) for at, p in enumerate(pairwise(symbols)) if p in table]:
        rank, result, at = min(found, key=lambda merge: (merge[0], merge[2]))
        merges.append((rank, *spans[at], spans[at + 1][1]))
        symbols = [*symbols[:at], result, *symbols[at + 2 :]]
        spans = [*spans[:at], (spans[at][0], spans[at + 1][1]), *spans[at + 2 :]]
    return symbols, merges


def deadline(merges, start, end):
    """The highest rank merged after a part of the text was made."""
    made = [n for n, (_, a, _, b) in enumerate(merges) if (a, b) == (start, end)]
    return max(rank for rank, *_ in merges[made[0] + 1 if made else 0 :])


@given(model=models)
@example(model=Bpe(rules=((b"ab", b"c"), (b"b", b"c"), (b"a", b"b")), pattern="gpt2"))
def test_merge_trees_reach_the_tokens_that_bpe_gives_for_their_own_text(model):
    bpe = BpeWithTrees(model)
    for token in bpe.pieces:
        again = bpe.tokenizer.merge(bpe.spelled[token])
        assert bpe.trees.reachable[token] == (again == [token]), bpe.named(token)


@given(model=models)
def test_merge_trees_reach_pieces_only(model):
    bpe = BpeWithTrees(model)
    assert not (bpe.trees.reachable & ~bpe.structure.pieces).any()


@given(model=models)
@example(model=Bpe(rules=((b"ab", b"c"), (b"a", b"b")), pattern="gpt2"))
@example(model=Bpe(rules=((b"ab", b"cd"), (b"c", b"d"), (b"a", b"b")), pattern="gpt2"))
@example(model=Bpe(ranks=((b"ab", 1), (b"abab", 1), (b"aba", 1)), pattern="gpt2"))
def test_merge_trees_have_the_parts_clock_and_deadlines_of_bpe(model):
    bpe = BpeWithTrees(model)
    trees, spelled = bpe.trees, bpe.spelled
    letters = {spelled[i]: i for i in atoms(bpe.structure, spelled)}
    for token in bpe.reachable:
        text = spelled[token]
        if text in letters:
            found = (trees.made_at[token], trees.left_part[token], trees.right_part[token])
            assert found == (-1, -1, -1)
            continue
        in_bytes = bpe.structure.atoms == "bytes"
        parts = [bytes([b]) for b in text] if in_bytes else [c.encode() for c in text.decode()]
        left, merges = run_bpe(bpe, [letters[part] for part in parts])
        assert left == [token]
        _, start, middle, end = merges[-1]
        assert spelled[trees.left_part[token]] == b"".join(parts[start:middle])
        assert spelled[trees.right_part[token]] == b"".join(parts[middle:end])
        assert trees.made_at[token] == max(rank for rank, *_ in merges)
        assert trees.left_deadline[token] == deadline(merges, start, middle)
        assert trees.right_deadline[token] == deadline(merges, middle, end)


def test_merge_trees_keep_the_clock_when_a_rule_has_a_lower_rank_than_its_sides():
    bpe = BpeWithTrees(Bpe(rules=((b"ab", b"c"), (b"a", b"b")), pattern="gpt2"))
    ab, abc = bpe.id_of(b"ab"), bpe.id_of(b"abc")
    assert bpe.trees.made_at[[ab, abc]].tolist() == [1, 1]
    assert bpe.trees.left_deadline[abc] == 0


def test_merge_trees_have_the_numbers_of_the_example_of_their_docstring():
    rules = ((b"a", b"b"), (b"c", b"d"), (b"ab", b"cd"))
    bpe = BpeWithTrees(Bpe(rules=rules, pattern="gpt2"))
    ab, cd, abcd = map(bpe.id_of, (b"ab", b"cd", b"abcd"))
    assert bpe.trees.made_at[[bpe.id_of(b"a"), ab, cd, abcd]].tolist() == [-1, 0, 1, 2]
    assert (bpe.trees.left_deadline[abcd], bpe.trees.right_deadline[abcd]) == (2, 2)


def test_merge_trees_do_not_reach_a_token_when_its_rule_never_gets_its_turn():
    rules = ((b"b", b"c"), (b"a", b"b"), (b"ab", b"c"))
    bpe = BpeWithTrees(Bpe(rules=rules, pattern="gpt2"))
    assert bpe.trees.reachable[bpe.id_of(b"ab")]
    assert not bpe.trees.reachable[bpe.id_of(b"abc")]

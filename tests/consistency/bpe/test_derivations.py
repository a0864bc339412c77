"""How each token is built, against runs of the algorithm as it is written."""

from itertools import pairwise

from hypothesis import example, given

from tests.consistency.random_bpe import Bpe, Learned, models
from ticore.consistency.bpe.derivations import PairTest, atoms


def run(learned, symbols):
    """Best-first merging: what is left, and (rank, start, middle, end) of every merge."""
    table = {(a, b): (rank, c) for a, b, c, rank in listed(learned.rules)}
    spans = [(n, n + 1) for n in range(len(symbols))]
    steps = []
    while found := [(*table[p], at) for at, p in enumerate(pairwise(symbols)) if p in table]:
        rank, result, at = min(found, key=lambda merge: (merge[0], merge[2]))
        steps.append((rank, *spans[at], spans[at + 1][1]))
        symbols = [*symbols[:at], result, *symbols[at + 2 :]]
        spans = [*spans[:at], (spans[at][0], spans[at + 1][1]), *spans[at + 2 :]]
    return symbols, steps


def listed(rules):
    columns = (rules.left, rules.right, rules.result, rules.rank)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def peak(steps, start, end):
    """The highest rank merged after a part of the text had come about."""
    made = [n for n, (_, a, _, b) in enumerate(steps) if (a, b) == (start, end)]
    return max(rank for rank, *_ in steps[made[0] + 1 if made else 0 :])


@given(model=models)
@example(model=Bpe(rules=((b"ab", b"c"), (b"b", b"c"), (b"a", b"b")), pattern="gpt2"))
def test_reachable_tokens_are_what_bpe_gives_for_their_own_text(model):
    learned = Learned(model)
    for token in learned.pieces:
        again = learned.tokenizer.merge(learned.spelled[token])
        assert learned.runs.reachable[token] == (again == [token]), learned.named(token)


@given(model=models)
def test_only_pieces_are_reachable(model):
    learned = Learned(model)
    assert not (learned.runs.reachable & ~learned.structure.pieces).any()


@given(model=models)
@example(model=Bpe(rules=((b"ab", b"c"), (b"a", b"b")), pattern="gpt2"))
@example(model=Bpe(rules=((b"ab", b"cd"), (b"c", b"d"), (b"a", b"b")), pattern="gpt2"))
@example(model=Bpe(ranks=((b"ab", 1), (b"abab", 1), (b"aba", 1)), pattern="gpt2"))
def test_derivations_are_runs_of_the_algorithm(model):
    """Parts, clock and peaks of every reachable token are those of its run."""
    learned = Learned(model)
    runs, spelled = learned.runs, learned.spelled
    letters = {spelled[i]: i for i in atoms(learned.structure, spelled)}
    for token in learned.reachable:
        text = spelled[token]
        if text in letters:
            assert (runs.clock[token], runs.left[token], runs.right[token]) == (-1, -1, -1)
            continue
        in_bytes = learned.structure.atoms == "bytes"
        parts = [bytes([b]) for b in text] if in_bytes else [c.encode() for c in text.decode()]
        left, steps = run(learned, [letters[part] for part in parts])
        assert left == [token]
        _, start, middle, end = steps[-1]
        assert spelled[runs.left[token]] == b"".join(parts[start:middle])
        assert spelled[runs.right[token]] == b"".join(parts[middle:end])
        assert runs.clock[token] == max(rank for rank, *_ in steps)
        assert runs.left_peak[token] == peak(steps, start, middle)
        assert runs.right_peak[token] == peak(steps, middle, end)


@given(model=models)
@example(model=Bpe(rules=((b"b", b"a"), (b"a", b"b")), pattern="gpt2"))
@example(model=Bpe(ranks=((b"ab", 0), (b"ba", 0)), pattern="gpt2"))
@example(model=Bpe(rules=((b"ab", b"ab"), (b"b", b"a"), (b"a", b"b")), pattern="gpt2"))
def test_two_tokens_merge_where_bpe_gives_others_for_their_text(model):
    learned = Learned(model)
    pairs = PairTest(learned.rules, len(learned.spelled))
    for name in ("left", "right", "clock", "left_peak", "right_peak"):
        setattr(pairs, name, getattr(learned.runs, name).tolist())
    for a in learned.reachable:
        for b in learned.reachable:
            assert pairs.merges(a, b) != learned.stay_apart(a, b), learned.named(a, b)


def test_of_two_rules_for_a_pair_the_later_one_holds():
    learned = Learned(Bpe(rules=((b"a", b"b"), (b"b", b"a"), (b"a", b"b")), pattern="gpt2"))
    assert {learned.named(*tokens): rank for *tokens, rank in listed(learned.rules)} == {
        (b"b", b"a", b"ba"): 1,
        (b"a", b"b", b"ab"): 2,
    }


def test_ranks_are_rules_for_all_ways_to_spell_a_piece():
    learned = Learned(Bpe(ranks=((b"ab", 7), (b"bc", 5), (b"abc", 3)), pattern="gpt2"))
    assert {learned.named(*tokens): rank for *tokens, rank in listed(learned.rules)} == {
        (b"a", b"b", b"ab"): 7,
        (b"b", b"c", b"bc"): 5,
        (b"ab", b"c", b"abc"): 3,
        (b"a", b"bc", b"abc"): 3,
    }


def test_the_clock_does_not_run_backwards():
    """The last rule is the most urgent one here: the clock stays where it was before."""
    learned = Learned(Bpe(rules=((b"ab", b"c"), (b"a", b"b")), pattern="gpt2"))
    assert learned.runs.clock[learned.id_of(b"ab")] == 1
    assert learned.runs.clock[learned.id_of(b"abc")] == 1


def test_a_rule_that_never_has_its_turn_makes_nothing_reachable():
    rules = ((b"b", b"c"), (b"a", b"b"), (b"ab", b"c"))
    learned = Learned(Bpe(rules=rules, pattern="gpt2"))
    assert learned.runs.reachable[learned.id_of(b"ab")]
    assert not learned.runs.reachable[learned.id_of(b"abc")]

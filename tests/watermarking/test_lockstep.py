"""Many texts in lockstep are the texts that each of them is alone, and as many passes fewer."""

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models import ToyBatchModel, ToyBrackets, ToyModel, ToyTokenizer
from ticore.consistency import Verifier
from ticore.errors import SettingsError
from ticore.schemes import Gumbel
from ticore.watermarking import Rollback, greedy, marked, multinomial
from ticore.watermarking.lockstep import Row, in_lockstep
from ticore.watermarking.rollback import most_rewound
from ticore.watermarking.serial import start_batch

# Inconsistent most of the time. What follows a "<" is mended by a ">"; nothing may follow a "z".
VOCABULARIES = [
    ["a", "b", "c", "ab", "bc", "abc", "ca"],
    ["a", "aa", "aaa", "aaaa", "b"],
    ["a", "b", "aba", "bab", "abab"],
    ["a", "z", "za", "zz"],
    ["a", "b", "ab", "<", ">", "?"],
    ["a", "z", "zz", "za", "z<", "z>", "z?", "<", ">", "?"],
]
KEY = bytes(range(16))


def sampler(name, row, vocab_size):
    draw = random.Random(f"{name} {row}")
    return {
        "greedy": greedy,
        "multinomial": multinomial(draw),
        "gumbel": marked(Gumbel(KEY, vocab_size), draw),
    }[name]


def outcome(text):
    counts = text.rollbacks, text.temporary, text.undone, text.forwards
    return text.committed, text.end, counts


@settings(max_examples=150)
@given(
    kind=st.sampled_from([ToyModel, ToyBatchModel]),
    pieces=st.sampled_from(VOCABULARIES),
    prompts=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    names=st.lists(st.sampled_from(["greedy", "multinomial", "gumbel"]), min_size=5, max_size=5),
    lengths=st.lists(st.integers(0, 25), min_size=5, max_size=5),
    observation=st.integers(0, 10),
    undo=st.sampled_from([0, 1, 8]),
    seed=st.integers(0, 99),
    sharpness=st.sampled_from([0.0, 2.0, 30.0]),
    end=st.booleans(),
)
def test_each_text_is_what_it_is_alone(
    kind, pieces, prompts, names, lengths, observation, undo, seed, sharpness, end
):
    tokenizer = ToyBrackets([*pieces, "."] if end else pieces)
    model = kind(tokenizer, seed=seed, sharpness=sharpness)
    verifier = Verifier(tokenizer)
    read = [tokenizer.encode("a" * count) for count in prompts]

    def text(row, decoder):
        return Rollback(
            decoder,
            verifier.start(read[row]),
            sampler(names[row], row, tokenizer.vocab_size),
            tokens=lengths[row],
            observation=observation,
            eos_ids=frozenset({len(pieces)} if end else ()),
            undo=undo,
        )

    # No more can be rewound than is said to be: a batch refuses it.
    batch = start_batch(model, read, most_rewound(observation, undo))
    together = [text(row, Row(batch, row)) for row in range(len(read))]
    ended = Counter(in_lockstep(batch, together))
    assert ended == Counter(range(len(read)))
    with pytest.raises(SettingsError, match="none are left"):
        batch.ids(0)

    apart = [text(row, model.start(ids)) for row, ids in enumerate(read)]
    for one in apart:
        for _ in one.run():
            pass
    assert list(map(outcome, together)) == list(map(outcome, apart))
    for one, prompt in zip(together, read, strict=True):
        ids = [*prompt, *one.committed]
        assert tokenizer.encode(tokenizer.decode(ids)) == ids
    if kind is ToyBatchModel:
        # In each pass every text reads a token that is not at its end.
        assert model.passes == max(one.forwards for one in apart)


def test_these_texts_are_hard_to_write():
    """They end in every way, and are rolled back, mended and undone."""
    ends, counts = Counter(), Counter()
    for pieces, end in itertools.product(VOCABULARIES, [False, True]):
        tokenizer = ToyBrackets([*pieces, "."] if end else pieces)
        batch = start_batch(ToyBatchModel(tokenizer), [[0]] * 30, most_rewound(3, 1))
        texts = [
            Rollback(
                Row(batch, row),
                Verifier(tokenizer).start([0]),
                sampler("multinomial", row, tokenizer.vocab_size),
                tokens=20,
                observation=3,
                eos_ids=frozenset({len(pieces)} if end else ()),
                undo=1,
            )
            for row in range(30)
        ]
        for row in in_lockstep(batch, texts):
            text = texts[row]
            ends[text.end] += 1
            counts.update(rolled=text.rollbacks, mended=text.temporary, undone=text.undone)
    assert ends.keys() == {"length", "end of text", "dead end"}
    assert min(counts.values()) > 5


def test_a_row_is_a_decoder():
    """Also for whoever pushes to it, and to no other."""
    model = ToyBatchModel(ToyTokenizer("abcd"))
    batch = model.start_batch([[0], [1]])
    row = Row(batch, 1)
    row.push(2)
    row.push(3)
    row.rewind(1)
    assert (row.ids, batch.ids(0)) == ((1, 2), (0,))
    assert row.logits().tolist() == model.logits_after([1, 2]).tolist()


def test_no_texts():
    assert list(in_lockstep(ToyBatchModel(ToyTokenizer("ab")).start_batch([]), [])) == []

"""Texts that are written together are those that each of them is alone, in fewer passes."""

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.toy_models import ToyBatchModel, ToyBrackets, ToyModel, ToyTokenizer
from ticore.backend_kit._reading import RowDecoder, start_batch
from ticore.consistency import Verifier
from ticore.errors import SettingsError
from ticore.schemes import Gumbel
from ticore.watermarking import Rollback, greedy, multinomial, watermarked_sampler
from ticore.watermarking._batching import write_together
from ticore.watermarking._rollback import max_rewind

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
        "gumbel": watermarked_sampler(Gumbel(KEY, vocab_size), draw),
    }[name]


def outcome(text):
    counts = text.rollbacks, text.temporary, text.backtracks, text.forwards
    return text.committed, text.end, counts


@pytest.mark.slow
@settings(max_examples=150)
@given(
    kind=st.sampled_from([ToyModel, ToyBatchModel]),
    pieces=st.sampled_from(VOCABULARIES),
    prompts=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    names=st.lists(st.sampled_from(["greedy", "multinomial", "gumbel"]), min_size=5, max_size=5),
    lengths=st.lists(st.integers(0, 25), min_size=5, max_size=5),
    observation=st.integers(0, 10),
    backtracks=st.sampled_from([0, 1, 8]),
    seed=st.integers(0, 99),
    sharpness=st.sampled_from([0.0, 2.0, 30.0]),
    end=st.booleans(),
)
def test_write_together_writes_each_text_as_it_is_alone(
    kind, pieces, prompts, names, lengths, observation, backtracks, seed, sharpness, end
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
            max_new_tokens=lengths[row],
            observation=observation,
            eos_ids=frozenset({len(pieces)} if end else ()),
            max_backtracks=backtracks,
        )

    # No more can be rewound than is said to be: a batch refuses it.
    batch = start_batch(model, read, max_rewind(observation, backtracks))
    together = [text(row, RowDecoder(batch, row)) for row in range(len(read))]
    ended = Counter(write_together(batch, [one.reads() for one in together]))
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


@pytest.mark.slow
def test_write_together_meets_every_end_rollback_and_backtrack():
    """They end in every way, and are rolled back, mended and backtracked."""
    ends, counts = Counter(), Counter()
    for pieces, end in itertools.product(VOCABULARIES, [False, True]):
        tokenizer = ToyBrackets([*pieces, "."] if end else pieces)
        batch = start_batch(ToyBatchModel(tokenizer), [[0]] * 30, max_rewind(3, 1))
        texts = [
            Rollback(
                RowDecoder(batch, row),
                Verifier(tokenizer).start([0]),
                sampler("multinomial", row, tokenizer.vocab_size),
                max_new_tokens=20,
                observation=3,
                eos_ids=frozenset({len(pieces)} if end else ()),
                max_backtracks=1,
            )
            for row in range(30)
        ]
        for row in write_together(batch, [text.reads() for text in texts]):
            text = texts[row]
            ends[text.end] += 1
            counts.update(rolled=text.rollbacks, mended=text.temporary, backtracked=text.backtracks)
    assert ends.keys() == {"length", "end of text", "dead end"}
    assert min(counts.values()) > 5


def test_write_together_yields_nothing_when_there_are_no_texts():
    assert list(write_together(ToyBatchModel(ToyTokenizer("ab")).start_batch([]), [])) == []

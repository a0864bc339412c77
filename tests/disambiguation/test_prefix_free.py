"""Reading along bytes: what was written is read, whatever the tokenizer would make of it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pools import nested, pool, prefix_free, random_pool
from tests.support.tokenizers import REAL, TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore._support.shared_randomness import SharedRandomness
from ticore.candidates import non_candidates
from ticore.disambiguation import (
    Basic,
    Choices,
    Mwis,
    PromptContext,
    SharingSession,
    SyncPool,
    disambiguation_named,
)
from ticore.disambiguation._spelling import Spelling
from ticore.errors import CapacityError, ExtractionError, OutsidePoolError

COMPARING = [name + word for name in ("basic", "mwis", "syncpool") for word in ("", ":decoded")]
EVERY = [*COMPARING, "stepwise"]  # in which the reader is always right
BEGINNINGS = [("", "whole"), ("the", "whole"), ("the", "continuation")]

every_way = pytest.mark.parametrize("name", EVERY)
by_bytes = pytest.mark.parametrize("kind", [Basic, Mwis, SyncPool])


class Text:
    """A text that grows on one side; the random numbers are shared before its third token."""

    def __init__(self, made):
        self.session = made.start()
        self.tokens = []

    def step(self, candidates, rest):
        if len(self.tokens) == 2 and isinstance(self.session, SharingSession):
            self.session.share(SharedRandomness(bytes(16), "syncpool"))
        return self.session.refine(candidates, iter([rest]))

    def push(self, choices, index):
        self.tokens.append(int(choices.ids[index]))
        self.session.push(self.tokens[-1])


def check_reads_back(beginning, name, seed, pools=12, tail=""):
    """Write some random choices from random pools, and read them; return the tokens."""
    tokenizer, made = beginning.tokenizer, disambiguation_named(name).make(beginning)
    usable = np.flatnonzero(~non_candidates(tokenizer, ()))
    rng, steps, indices = np.random.default_rng(seed), [], []
    writing = Text(made)
    while len(steps) < pools or not writing.session.may_end():
        size = int(rng.choice([1, 3, 20, 200]))
        steps.append((random_pool(rng, usable, size), random_pool(rng, usable, len(usable))))
        choices = writing.step(*steps[-1])
        if name != "stepwise":
            spelled = made.texts.spelling(at_start=not indices).tokens
            assert prefix_free(spelled[token] for token in choices.ids.tolist())
        indices.append(int(rng.integers(len(choices.ids))))
        writing.push(choices, indices[-1])

    text = writing.session.text()
    reader, reading = made.read(text + tail), Text(made)
    for step, expected in zip(steps, indices, strict=True):
        assert not reader.exhausted
        choices = reading.step(*step)
        assert reader.locate(choices) == expected
        reading.push(choices, expected)
    assert reader.exhausted == (not tail)
    assert reading.session.text() == text

    before = beginning.prompt_ids if beginning.view == "whole" else []
    assert text == tokenizer.decode([*before, *writing.tokens])


# What was written is read


@pytest.mark.slow
@every_way
@given(
    pieces=st.lists(nested | st.text("ab ", min_size=1, max_size=4), max_size=20),
    prompt=st.text("abé ", max_size=4),
    view=st.sampled_from(["whole", "continuation"]),
    seed=st.integers(0, 1 << 20),
    tail=st.text("abé ", max_size=4),
)
def test_received_bytes_reads_what_was_written_with_toy_tokenizers(
    name, pieces, prompt, view, seed, tail
):
    # After an é nothing is read differently than alone, so that stepwise has a way on.
    tokenizer = ToyTokenizer(["a", "b", " ", "é", *pieces])
    ids = tokenizer.encode(prompt)
    beginning = PromptContext(tokenizer, prompt, ids, view)
    check_reads_back(beginning, name, seed, tail="" if name == "stepwise" else tail)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [*product(COMPARING, TRAINED), *product(["stepwise"], ["sp-bpe", "hf-gpt2", "hf-llama"])],
)
def test_received_bytes_reads_what_was_written_with_trained_tokenizers(name, tokenizer):
    opened = TRAINED[tokenizer]()
    for seed, (prompt, view) in enumerate(BEGINNINGS):
        beginning = PromptContext(opened, prompt, opened.encode(prompt), view)
        check_reads_back(beginning, name, seed, tail="" if name == "stepwise" else " あa")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARING)
@pytest.mark.parametrize("tokenizer", ["llama-2", "llama-3"])
def test_received_bytes_reads_what_was_written_with_real_tokenizers(name, tokenizer):
    opened = REAL[tokenizer]()
    for seed, (prompt, view) in enumerate(BEGINNINGS):
        beginning = PromptContext(opened, prompt, opened.encode(prompt), view)
        check_reads_back(beginning, name, seed, tail="\n\nとの")


@by_bytes
def test_sessions_of_one_disambiguation_are_independent(kind):
    made = kind(PromptContext(ToyTokenizer(["a", "b", "ab"]), "", []))
    one, other = made.start(), made.start()
    if isinstance(one, SharingSession):
        one.share(SharedRandomness(bytes(16), "syncpool"))
    one.push(0)
    other.push(1)
    one.push(2)
    assert (one.text(), other.text()) == ("aab", "b")


def test_prefix_free_makes_tables_once_for_a_tokenizer():
    class Counting(ToyTokenizer):
        asked = 0

        def token_bytes(self, token):
            self.asked += 1
            return super().token_bytes(token)

    tokenizer = Counting(["a", "b", "ab"])
    beginning = PromptContext(tokenizer, "", [])
    for kind in (Basic, Mwis, SyncPool):
        kind(beginning).start().refine(pool(0, 1, 2), iter([]))
    assert tokenizer.asked == tokenizer.vocab_size


# What tokens spell


@pytest.mark.parametrize(("prompt", "view"), BEGINNINGS)
def test_first_token_lacks_the_space_that_decode_drops(prompt, view):
    tokenizer = TRAINED["sp-bpe"]()
    tokens = {tokenizer.token_bytes(i): i for i in range(259, tokenizer.vocab_size)}
    lone, word = tokens[b" "], tokens[b" the"]
    session = Basic(PromptContext(tokenizer, prompt, tokenizer.encode(prompt), view)).start()
    first = (prompt, view) != ("the", "whole")
    # Where it spells nothing, the lone space is no candidate; else it begins the other.
    assert session.refine(pool(lone, word), iter([])).ids.tolist() == [word]
    if first:
        with pytest.raises(CapacityError):
            session.refine(pool(lone), iter([]))
    session.push(word)
    assert session.text() == ("the" if first else "the the")
    assert session.refine(pool(lone), iter([])).ids.tolist() == [lone]


@by_bytes
def test_refine_drops_silent_and_special_tokens(kind):
    tokenizer = TRAINED["sp-bpe"]()
    unknown, control, letter = 0, 1, tokenizer.encode("a")[0]
    assert tokenizer.token_bytes(unknown)
    assert not tokenizer.token_bytes(control)
    session = kind(PromptContext(tokenizer, "", [])).start()
    assert session.refine(pool(unknown, control, letter), iter([])).ids.tolist() == [letter]
    assert session.refine(pool(unknown), iter([pool(control, letter)])).ids.tolist() == [letter]
    with pytest.raises(CapacityError, match="no token of the vocabulary"):
        session.refine(pool(unknown), iter([pool(control)]))


# Characters


def may_begin_text(data):
    """Whether some bytes after `data` make it UTF-8."""
    edges = [bytes([byte]) for byte in (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF)]
    for count in range(4):
        for tail in product(edges, repeat=count):
            try:
                (data + b"".join(tail)).decode()
            except UnicodeDecodeError:
                continue
            return True
    return False


def unfinished():
    """Beginnings of characters, the empty one among them."""
    return st.characters(exclude_categories=["Cs"]).flatmap(
        lambda c: st.integers(0, len(c.encode()) - 1).map(lambda n: c.encode()[:n])
    )


any_byte = st.integers(0, 255) | st.sampled_from([0xC1, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5])
inside_text = st.text(max_size=3).flatmap(
    lambda t: st.integers(0, 3).map(lambda n: t.encode()[n:][:5])
)
spelled = st.lists(any_byte, max_size=4).map(bytes) | inside_text


@given(st.lists(spelled, min_size=1, max_size=30), unfinished())
def test_refine_drops_tokens_after_which_no_text_is_valid(tokens, before):
    expected = [bool(token) and may_begin_text(before + token) for token in tokens]
    found = Spelling(tokens).admits(np.arange(len(tokens)), before)
    assert found.tolist() == expected


def test_admits_knows_all_first_two_bytes_of_a_character():
    tokens = [bytes(two) for two in product(range(0xC0, 0x100), range(0x80, 0xC0))]
    alone = Spelling(tokens).admits(np.arange(len(tokens)), b"")
    assert alone.tolist() == [may_begin_text(token) for token in tokens]
    after_one = Spelling([token[1:] for token in tokens])
    for n in range(0, len(tokens), 64):
        following = after_one.admits(np.arange(n, n + 64), tokens[n][:1])
        assert (following == alone[n : n + 64]).all()


@by_bytes
def test_may_end_is_false_before_a_character_is_finished(kind):
    tokenizer = TRAINED["hf-gpt2"]()
    by_spelling = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    session = kind(PromptContext(tokenizer, "", [])).start()
    every = pool(*np.flatnonzero(~non_candidates(tokenizer, ())))
    for byte in "\u1000".encode():
        kept = session.refine(every, iter([])).kept.ids.tolist()
        goes_on = [tokenizer.token_bytes(i)[0] & 0xC0 == 0x80 for i in kept]
        assert all(goes_on) if not session.may_end() else not any(goes_on)
        session.push(by_spelling[bytes([byte])])
    assert session.may_end()
    assert session.text() == "\u1000"


# Texts of others


def reader_of(text, prompt="", view="whole"):
    tokenizer = ToyTokenizer(["a", "b", "ab", "é"])
    made = Basic(PromptContext(tokenizer, prompt, tokenizer.encode(prompt), view))
    return made.read(text)


def test_locate_raises_when_the_token_is_outside_the_pool():
    reader = reader_of("abé")
    assert reader.locate(Choices.of(pool(3, 2))) == 1
    with pytest.raises(
        OutsidePoolError, match="token 2 of the text cannot have been written there"
    ):
        reader.locate(Choices.of(pool(1, 0)))


def test_refine_raises_when_no_token_is_left():
    reader = reader_of("a", "a")
    assert reader.exhausted
    with pytest.raises(OutsidePoolError, match="token 1 of the text"):
        reader.locate(Choices.of(pool(1, 0)))


def test_read_raises_when_the_prompt_differs():
    with pytest.raises(ExtractionError, match="begins with the prompt 'é', found 'aba'"):
        reader_of("aba", "é")


@pytest.mark.parametrize("view", ["whole", "continuation"])
def test_read_raises_when_the_text_is_not_unicode(view):
    with pytest.raises(ExtractionError, match=r"the lone surrogate U\+DCFF at character 1"):
        reader_of("a\udcff", "a", view)

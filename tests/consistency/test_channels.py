"""Texts that pass a channel: the engine against the definition, and what it must not cost."""

from __future__ import annotations

import unicodedata
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from tests.consistency.engines.unigram.test_engine import Model
from tests.support.random_bpe import check_nothing_lost
from tests.support.slow import pairs_of, slow_unless, some_pairs
from tests.support.tokenizers import CL100K_PATTERN, O200K_PATTERN, TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore._support.utf8 import unfinished_suffix
from ticore.backend_kit import byte_alphabet
from ticore.consistency import Verifier, send
from ticore.consistency._channels import PASSAGES
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.channel_engine import ChannelEngine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._tokenizer_rules.pretokenizers import GPT2
from ticore.consistency._unsupported import Unsupported
from ticore.consistency._verifier import Verification
from ticore.errors import SettingsError, WrongTypeError
from ticore_tokenizers import HuggingFaceTokenizer

CHANNELS = ("strip", "nfc", "newlines", "spaces")
MODES = ("prefix", "open", "viable")
FEW = ("sp-bpe-no-prefix", "sp-bpe-nfkc", "sp-unigram", "hf-gpt2", "hf-cl100k-nfc")
CASES = [
    *((name, "prefix") for name in sorted(TRAINED) if name != "hf-two-splits"),
    *((name, mode) for name in FEW for mode in ("open", "viable")),
    ("hf-ignore-merges", "viable"),
]
PAIRS = some_pairs(CASES, CHANNELS, one_in=3)  # each mode meets each channel
KINDS = some_pairs(["sp-bpe", "sp-unigram-nfkc", "hf-gpt2", "hf-cl100k-nfc"], MODES, one_in=2)
FAST = [("sp-bpe", "prefix"), ("hf-gpt2", "prefix")]
WORDS = (
    *("the ", "quick\t", "fox\r\n", "jumps  ", "it's ", "... ", "!!\n", "\r", "\n\n", " \x1c", "?"),
    *("e\u0301", "cafe\u0301 ", "\u00a0", "\u3000", "東京", "か\u3099", "が", "\u212b", "\u0958"),
    *("\u2000x", "\u1112\u1161\u11ab", "\u2028", "😀", "\u0f72\u0f73", "\u2047", "\u2581", "“"),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)
CHARACTERS = st.text(st.sampled_from(sorted({*"".join(WORDS), *"a \t\u0323\u0301\u0308\u3099"})))


@cache
def inner_engine(name, mode):
    return table_engine(Oracle(TRAINED[name](), mode))


@cache
def engine_of(name, mode, channel):
    oracle = Oracle(TRAINED[name](), mode, channel)
    return ChannelEngine(inner_engine(name, mode), PASSAGES[channel], oracle)


def candidates_after(draw, tokenizer, mode, likely, admitted):
    """Some of all ids, mostly of those that a channel has to do with.

    Without those that the oracle denies only after thousands of characters.
    """
    spelled = tokenizer.token_bytes
    touchy = [i for i in admitted if not spelled(i)[:1].isalpha() or not spelled(i)[-1:].isalpha()]
    some = [*likely, *draw.choice(tokenizer.vocab_size, 6), *sorted(tokenizer.special_ids)[:3]]
    some += [*draw.permutation(touchy)[:6], *draw.permutation(admitted)[:3]]
    if mode != "prefix":
        some = [i for i in some if i in admitted or len(unfinished_suffix(spelled(i))) in (0, 2)]
    return [int(i) for i in some]


def walk(engine, oracle, text, seed):
    """Compare all answers along a list that a text leads, not always straight on."""
    tokenizer, draw = oracle.tokenizer, np.random.default_rng(seed)
    guide = tokenizer.encode(text)
    verification = Verification(engine, oracle, None, ())
    for n in range(min(10, len(guide) + 3)):
        if verification.admissible:
            mask = verification.mask()
            likely = guide[n : n + 2]
            some = candidates_after(draw, tokenizer, oracle.mode, likely, np.flatnonzero(mask))
            expected = oracle.admits(verification.ids, some).tolist()
            assert verification.admits(some).tolist() == expected
            assert mask[some].tolist() == expected
        assert verification.consistent == oracle.is_consistent(verification.ids)
        straight = n < len(guide) and draw.random() < 0.7
        verification.push(guide[n] if straight or not some else draw.choice(some))


@pytest.mark.parametrize(("case", "channel"), slow_unless(pairs_of(FAST, PAIRS), PAIRS))
@settings(max_examples=8)
@given(text=TEXTS, clean=st.booleans(), seed=st.integers(0, 1000))
def test_channel_engine_equals_the_definition_along_random_lists(case, channel, text, clean, seed):
    name, mode = case
    oracle = Oracle(TRAINED[name](), mode, channel)
    walk(engine_of(name, mode, channel), oracle, send(text, channel) if clean else text, seed)


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
@settings(max_examples=8)
@given(text=TEXTS)
def test_channel_engine_gives_up_no_token_of_a_true_text(name, channel, text):
    engine = engine_of(name, "prefix", channel)
    for some in (text, send(text, channel)):
        check_nothing_lost(engine, TRAINED[name](), some)


class Counting:
    """A tokenizer that counts how often it is asked to encode."""

    def __init__(self, tokenizer):
        self._tokenizer, self.calls = tokenizer, 0

    def __getattr__(self, name):
        if name.startswith("encode"):
            self.calls += 1
        return getattr(self._tokenizer, name)


@pytest.mark.parametrize("channel", slow_unless(["strip"], CHANNELS))
@pytest.mark.parametrize(("name", "mode"), slow_unless(pairs_of(["hf-gpt2"], KINDS), KINDS))
def test_channel_engine_retokenizes_nothing_that_the_channel_leaves_alone(name, mode, channel):
    """No call of encode but those of the engine that knows no channel, however long the list."""
    with_channel, without = Counting(TRAINED[name]()), Counting(TRAINED[name]())
    inner = table_engine(Oracle(without, mode))
    oracle = Oracle(with_channel, mode, channel)
    engine = ChannelEngine(table_engine(Oracle(with_channel, mode)), PASSAGES[channel], oracle)
    state, plain, ids = engine.start(), inner.start(), []
    for token in TRAINED[name]().encode("The fox 東京, 12 cafés.\nIt's 'I' が A"):
        left_alone = np.array(
            [i for i in range(without.vocab_size) if is_left_alone(without, mode, channel, ids, i)]
        )
        with_channel.calls = without.calls = 0
        assert engine.admits(state, left_alone).tolist() == inner.admits(plain, left_alone).tolist()
        if mode == "prefix":
            engine.mask(state), inner.mask(plain)
        assert with_channel.calls == without.calls
        state, plain = engine.step(state, token), inner.step(plain, token)
        ids = [*ids, token]


def is_left_alone(tokenizer, mode, channel, ids, token):
    """Whether a channel changes no text of a longer list, not even once that goes on."""
    text, data = tokenizer.decode([*ids, token]), tokenizer.token_bytes(token)
    tried = [text]
    if mode != "prefix" and (unfinished := unfinished_suffix(data)):
        whole = tokenizer.decode(ids)[-3:] + data[: -len(unfinished)].decode(errors="replace")
        tried += [whole + c for c in affected(channel, unfinished)]
    if mode == "viable" and not text.rstrip(" "):
        return False  # of its continuations, the channel changes some
    # Of a space, two continuations make one text under `spaces`.
    return all(send(t, channel) == t for t in tried) and not text.endswith(" ")


@cache
def affected(channel, unfinished):
    """The characters that begin with these bytes and that the channel may change."""
    return [c for c in PASSAGES[channel].affected() if c.encode().startswith(unfinished)]


def test_send_gives_the_text_that_arrives():
    text = "\u3000 e\u0301\r\n\r \t\u00a0x\x1f\u2029 \n"
    assert send(text, "identity") == text
    assert send(text, "strip") == "e\u0301\r\n\r \t\u00a0x"
    assert send(text, "nfc") == "\u3000 \u00e9\r\n\r \t\u00a0x\x1f\u2029 \n"
    assert send(text, "newlines") == "\u3000 e\u0301\n\n \t\u00a0x\x1f\u2029 \n"
    assert send(text, "spaces") == " e\u0301\r\n\r x \n"


@pytest.mark.parametrize("channel", ["identity", *CHANNELS])
def test_send_refuses_what_is_no_text(channel):
    for found in (b"a", None, 7):
        with pytest.raises(WrongTypeError, match="expected a text"):
            send(found, channel)


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
@given(before=CHARACTERS, after=CHARACTERS)
@settings(max_examples=500)
def test_send_changes_texts_locally_and_only_once(channel, before, after):
    """Whether anything is changed shows in each half and in the characters where they meet."""
    passage = PASSAGES[channel]
    assert send(send(before, channel), channel) == send(before, channel)

    def changes(text):
        return passage.inside(text) != text

    met = passage.context(before) + passage.head(after)
    parts = changes(before) or changes(after) or changes(met)
    assert changes(before + after) == parts
    assert not changes(before) or changes(before + after), "nothing mends what was changed"


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
def test_passage_names_all_characters_that_its_channel_changes(channel):
    """All beyond ASCII are known, those too that it changes with one before them."""
    passage = PASSAGES[channel]
    others = map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x110000)))
    text = "".join(c for c in others if c not in passage.affected())
    assert send(text, channel) == text
    assert all(c not in text for c in passage.joining() if c >= "\x80")
    assert not any(map(unicodedata.combining, text)) or channel != "nfc"
    assert not any(map(str.isspace, text)) or channel in ("nfc", "newlines")


def byte_level(pattern, merges, stays_whole=()):
    """BPE of the 256 bytes with these rules, and with pieces that no rule gives."""
    names = {byte: name for name, byte in byte_alphabet().items()}

    def name(data):
        return "".join(names[byte] for byte in data)

    pieces = [bytes([byte]) for byte in range(256)]
    pieces += [left + right for left, right in merges] + list(stays_whole)
    vocab = {name(piece): i for i, piece in enumerate(pieces)}
    rules = [(name(left), name(right)) for left, right in merges]
    tokenizer = Tokenizer(models.BPE(vocab, rules, ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return HuggingFaceTokenizer(tokenizer)


def admitted_with_and_without(tokenizer, mode, channel, ids):
    """Whether a text may begin with `ids`: without the channel, and with it."""
    *before, last = ids
    inner, oracle = table_engine(Oracle(tokenizer, mode)), Oracle(tokenizer, mode, channel)
    found = []
    for engine, expected in (
        (inner, Oracle(tokenizer, mode)),
        (ChannelEngine(inner, PASSAGES[channel], oracle), oracle),
    ):
        state = engine.start()
        for token in before:
            state = engine.step(state, token)
        answer = bool(engine.mask(state)[last])
        assert engine.admits(state, np.array([last])).tolist() == [answer]
        assert expected.may_begin(ids) == answer
        found.append(answer)
    return tuple(found)


@pytest.mark.parametrize("mode", ["open", "viable"])
def test_nfc_admits_a_list_that_is_refused_without_it(mode):
    """NFC turns QA into KA and NUKTA. Only then is the first byte of such a letter alone."""
    after_ka = [(b"\x95", b"\xe0"), (b"\xa4", b"\x95\xe0")]
    merges = [*after_ka, *((b"\xe0", bytes([byte])) for byte in range(0x80, 0xC0))]
    tokenizer = byte_level(O200K_PATTERN, merges)
    assert tokenizer.encode("\u0915\u093c")[0] == 0xE0
    assert admitted_with_and_without(tokenizer, mode, "nfc", [0xE0]) == (False, True)


def test_strip_refuses_a_list_that_only_a_line_end_completes():
    """Two dots are one piece, but not before a line break at the end of the text."""
    tokenizer = byte_level(CL100K_PATTERN, [(b".", b"\xe0")], [b"..", b"..."])
    ids = [ord("."), ord(".")]
    assert tokenizer.encode("..\n")[:2] == ids
    assert admitted_with_and_without(tokenizer, "viable", "strip", ids) == (True, False)
    assert admitted_with_and_without(tokenizer, "viable", "newlines", ids) == (True, True)


@pytest.mark.parametrize(
    ("expression", "pair"),
    [
        (r"\p{L}+(?=\s\n)|\p{L}|\s+|.", b"aa"),
        (r"\p{L}+(?=\r?\n)|\p{L}|\s+|.", b"aa"),
        (r"[^\s\p{L}]+[\r\n]+|[^\s\p{L}]|\p{L}+|\s+", b".."),
    ],
)
def test_strip_refuses_a_list_that_is_one_part_before_a_line_end_alone(expression, pair):
    """A line end is removed, and without it each of the two characters is a part of its own."""
    left = pair[:1]
    tokenizer = byte_level(expression, [(left, left)])
    ids = [ord("1"), 256]
    assert admitted_with_and_without(tokenizer, "viable", "strip", ids) == (True, False)


def test_first_token_is_refused_that_its_continuation_turns_into_another_one():
    """ "!!" is one part before a line end alone, and there it is the token "!!\n"."""
    expression = r"[^\s\p{L}]+[\r\n]+|[^\s\p{L}]|\p{L}+|\s+"
    tokenizer = byte_level(expression, [(b"!", b"!"), (b"!", b"\n"), (b"!", b"!\n")])
    assert tokenizer.encode("!!\n") == [258]
    for ids in ([256], [ord("a"), 256]):
        assert admitted_with_and_without(tokenizer, "viable", "newlines", ids) == (False, False)


def test_spaces_refuses_a_list_that_only_a_second_space_completes():
    """A line break and a space are one piece, but not before another space and a line break."""
    merges = [(b" ", follower) for follower in (b"\n", b"a", b"1", b".", b"\xe0")]
    tokenizer = byte_level(GPT2, merges, [b"\n "])
    ids = [ord("\n"), ord(" ")]
    assert tokenizer.encode("\n  \n")[:2] == ids
    assert admitted_with_and_without(tokenizer, "viable", "spaces", ids) == (True, False)
    assert admitted_with_and_without(tokenizer, "viable", "newlines", ids) == (True, True)


def test_strip_refuses_a_list_that_only_white_space_completes():
    """The text is empty so far. A line break may follow, which `strip` removes."""
    tokenizer = Model({" ": 1, **{f" {more}": 1 for more in "a1.\u0e3f"}}).open()
    ids = tokenizer.encode("\n")[:1]
    assert tokenizer.decode(ids) == ""
    assert admitted_with_and_without(tokenizer, "viable", "strip", ids) == (True, False)
    assert admitted_with_and_without(tokenizer, "viable", "spaces", ids) == (True, True)


@pytest.mark.parametrize(
    ("text", "channel"),
    [("\u2047", "strip"), ("the \u2047 fox", "spaces"), ("a \u2047 ", "spaces")],
)
def test_channel_engine_refuses_unknown_text_even_where_the_channel_removes_its_spaces(
    text, channel
):
    """` ⁇ ` is written with spaces that the text did not have."""
    tokenizer = TRAINED["sp-bpe-no-bytes"]()
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) != text
    oracle = Oracle(tokenizer, "prefix", channel)
    engine = ChannelEngine(inner_engine("sp-bpe-no-bytes", "prefix"), PASSAGES[channel], oracle)
    verification = Verification(engine, oracle, None, ids)
    assert not verification.consistent
    assert not verification.admissible
    assert verification.unrecoverable
    kept = ids[: ids.index(*tokenizer.unknown_ids)]
    before = Verification(engine, oracle, None, kept if oracle.may_begin(kept) else [])
    some = [*ids, *range(0, tokenizer.vocab_size, 7), *tokenizer.encode("a quick brown fox")]
    assert before.admits(some).tolist() == oracle.admits(before.ids, some).tolist()
    assert before.mask()[some].tolist() == oracle.admits(before.ids, some).tolist()


def test_verification_recovers_when_a_word_follows_a_line_break_under_strip():
    """`strip` removes a line break at the end, but not one before a word."""
    tokenizer = TRAINED["hf-gpt2"]()
    verification = Verifier(tokenizer, channel="strip").start()
    ids = tokenizer.encode("the\n1")
    found = []
    for token in ids:
        verification.push(token)
        found.append(verification.admissible)
    assert found == [*[True] * (len(ids) - 2), False, True]
    assert verification.consistent
    verification.rewind(1)
    assert not verification.consistent


def test_verifier_decides_by_tables_under_every_channel_where_it_can():
    for channel in CHANNELS:
        verifier = Verifier(TRAINED["sp-bpe"](), channel=channel)
        assert (verifier.method, verifier.why, verifier.channel) == ("table", "", channel)
        assert (
            Verifier(TRAINED["sp-bpe"](), method="retokenize", channel=channel).why == "asked for"
        )
        toy = Verifier(ToyTokenizer(["", "a", " ", "a "]), channel=channel)
        assert (toy.method, "structure is not known" in toy.why) == ("retokenize", True)
    tokenizer = copy(TRAINED["sp-bpe"]())
    tokenizer.structure = lambda: replace(TRAINED["sp-bpe"]().structure(), normalizer="user")
    with pytest.raises(Unsupported, match="the normalizer 'user' is not one of those known"):
        ChannelEngine(
            inner_engine("sp-bpe", "prefix"), PASSAGES["nfc"], Oracle(tokenizer, channel="nfc")
        )
    with pytest.raises(SettingsError, match="channel: expected one of identity, strip, nfc"):
        Verifier(TRAINED["sp-bpe"](), channel="fax")


@pytest.mark.parametrize(
    ("channel", "change", "why"),
    [
        (
            "nfc",
            {"normalizer": "nfd", "normalize": partial(unicodedata.normalize, "NFD")},
            "decompose again",
        ),
        ("nfc", {"normalizer": "lowercase", "normalize": str.lower}, ""),
        ("strip", {"dummy_suffix": True}, "the space that is put after each text"),
        (
            "newlines",
            {
                "normalizer": "replace",
                "replacements": {"\n": "\r"},
                "normalize": lambda text: text.replace("\n", "\r"),
            },
            "other white space of spaces",
        ),
    ],
)
def test_channel_engine_refuses_a_normalizer_that_may_undo_its_channel(channel, change, why):
    """Under "nfc" and NFD, "e" and U+0301 arrive as one character, and come back as they were."""
    tokenizer = copy(TRAINED["sp-bpe"]())
    tokenizer.structure = lambda: replace(TRAINED["sp-bpe"]().structure(), **change)
    with pytest.raises(Unsupported, match=why) if why else nullcontext():
        ChannelEngine(
            inner_engine("sp-bpe", "prefix"), PASSAGES[channel], Oracle(tokenizer, channel=channel)
        )


LINE_FEEDS_ARE_SPACES = {
    "normalizer": "replace",
    "replacements": {"\n": " "},
    "normalize": lambda text: text.replace("\n", " "),
}


@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
@pytest.mark.parametrize("channel", ["strip", "spaces"])
def test_a_line_feed_that_is_read_as_a_space_is_left_to_the_tokenizer(mode, channel):
    """The text "a  " and a line feed arrive as "a \\n" under `spaces`, and are read as "a  "."""
    tokenizer = copy(TRAINED["sp-bpe"]())
    tokenizer.structure = lambda: replace(TRAINED["sp-bpe"]().structure(), **LINE_FEEDS_ARE_SPACES)
    may_be_undone = (mode, channel) == ("viable", "spaces")
    why = "makes spaces of line feeds"
    with pytest.raises(Unsupported, match=why) if may_be_undone else nullcontext():
        ChannelEngine(
            inner_engine("sp-bpe", mode),
            PASSAGES[channel],
            Oracle(tokenizer, mode=mode, channel=channel),
        )


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
def test_all_methods_agree_under_every_channel(channel):
    tokenizer = TRAINED["hf-cl100k"]()
    start = partial(Verifier, tokenizer, channel=channel)
    by_method = [start(method=method).start() for method in ("table", "suffix", "retokenize")]
    for token in tokenizer.encode("The fox\t jumps \r\n\n over  e\u0301 it."):
        assert len({tuple(v.mask().tolist()) for v in by_method if v.admissible}) <= 1
        for verification in by_method:
            verification.push(token)
        assert len({(v.admissible, v.consistent) for v in by_method}) == 1

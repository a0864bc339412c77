"""Lists that grow and shrink, by every rung, against the definition."""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.consistency.random_bpe import (
    MODES,
    Bpe,
    byte_level,
    character_level,
    engine_of,
    few_characters,
    with_text,
)
from tests.histories import PASSAGES
from tests.models import ToyTokenizer
from tests.tokenizers import TRAINED, train_sentencepiece
from ticore.consistency import Verification, Verifier
from ticore.consistency.boundaries import boundary_ids
from ticore.consistency.modes import CONTINUATIONS
from ticore.consistency.oracle import Oracle
from ticore.consistency.tail import cut_finder
from ticore.errors import InconsistentStateError, SettingsError
from ticore_tiktoken import TiktokenTokenizer

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])
TEXT = (
    "It's what we'll do, isn't it?  Two  spaces,\n\n lines\r\n and 12345 numbers; naïve café "
    "e\u0301 e\u0308x 日本語のテスト 中文 🙂👩\u200d👩\u200d👧 don'T  ſ's \t tabs   \n x"
)
NAMES = sorted(TRAINED)
RUNGS = ("mask", "tail", "oracle")

any_mode = pytest.mark.parametrize("mode", MODES)

# Ids to push, or how many to take back: mostly true ones, so that lists are consistent at times.
steps = st.lists(
    st.sampled_from(["true"] * 5 + ["special"]) | st.integers(0, 500) | st.integers(-4, -1),
    max_size=14,
)
with_cuts = byte_level() | character_level().map(
    lambda model: replace(model, normal_form="", squeezes=False)
)


def check(verification, judge, tokens, *, masks=True):
    """All that a verification says is what the definition says of its list.

    Args:
        masks: ask for the mask as well, which takes the slower rungs long.
    """
    ids = list(verification.ids)
    assert verification.consistent == verification.finished_ok() == judge.finished_ok(ids)
    assert verification.admissible == judge.may_begin(ids)
    if verification.admissible:
        expected = judge.admits(ids, tokens).tolist()
        assert verification.admits(tokens).tolist() == expected
        assert not masks or verification.mask()[tokens].tolist() == expected
    else:
        for ask in (verification.mask, lambda: verification.admits(tokens)):
            with pytest.raises(InconsistentStateError, match="rewind it"):
                ask()


@pytest.mark.parametrize("rung", ["mask", "tail"])
@any_mode
@given(case=with_text(with_cuts), steps=steps)
def test_random_tokenizers_along_lists_that_come_and_go(rung, mode, case, steps):
    """Also through lists that no text begins with, and back; special tokens among them."""
    model, text = case
    tokenizer, tokens = model.open(), model.telling()
    special = sorted(tokenizer.special_ids)
    true = [i for i in tokenizer.encode(text) if i not in tokenizer.special_ids]
    with few_characters():
        engine, judge = engine_of(tokenizer, mode, rung)
        verification = Verification(engine, judge, cut_finder(tokenizer), ())
        for step in steps:
            ids = verification.ids
            if step == "true":
                verification.push(true[len(ids) % len(true)] if true else tokens[0])
            elif step == "special":
                verification.push(special[(len(ids) + len(text)) % len(special)])
            elif step >= 0:
                verification.push(tokens[step % len(tokens)])
            else:
                verification.rewind(min(-step, len(ids)))
            check(verification, judge, tokens)
        fresh = Verification(engine, judge, cut_finder(tokenizer), verification.ids)
        check(fresh, judge, tokens)


@cache
def verifier_of(name, mode, rung=None):
    return Verifier(TRAINED[name](), mode, rung=rung)


def candidates_of(tokenizer, ids, draw):
    """Some ids about which the oracle is quick: none that leave two bytes of a character open."""
    some = [*draw.choices(ids, k=6), *draw.choices(range(tokenizer.vocab_size), k=6)]
    return [i for i in some if not tokenizer.token_bytes(i)[-1:] >= b"\xe0"]


def special_of(tokenizer, draw):
    """None, or mostly one special id: half of the times one that is a boundary, if there is one."""
    boundaries, others = boundary_ids(tokenizer), tokenizer.special_ids
    kinds = [sorted(kind) for kind in (boundaries, others) if kind]
    return [draw.choice(draw.choice(kinds))] if kinds and draw.random() < 0.6 else []


@any_mode
@pytest.mark.parametrize("name", NAMES)
def test_trained_tokenizers_along_lists_that_come_and_go(name, mode):
    """Temporary inconsistency, true text, special tokens, and tokens taken back again."""
    tokenizer = TRAINED[name]()
    judge, draw = Oracle(tokenizer, mode), random.Random(name)
    true = tokenizer.encode(TEXT)
    verifier = verifier_of(name, mode)
    masks = verifier.rung == "mask"
    verification = verifier.start()
    for _ in range(16):
        at = len(verification.ids)
        for token in true[at : at + draw.randrange(1, 8)]:
            verification.push(token)
        check(verification, judge, candidates_of(tokenizer, true, draw), masks=masks)
        aside = candidates_of(tokenizer, true, draw)[: draw.randrange(4)]
        aside += special_of(tokenizer, draw)
        for token in aside:
            verification.push(token)
        check(verification, judge, candidates_of(tokenizer, true, draw), masks=masks)
        verification.rewind(len(aside) + draw.randrange(2))
        for token in special_of(tokenizer, draw):
            verification.push(token)
            if not verification.admissible:
                assert verification.lost
                verification.rewind(1)
        check(verification, judge, candidates_of(tokenizer, true, draw), masks=masks)


@pytest.mark.parametrize("name", NAMES)
def test_all_rungs_agree(name):
    """Those that there are for a tokenizer, along a true text with special tokens in it."""
    tokenizer, draw = TRAINED[name](), random.Random(name)
    ids = tokenizer.encode(TEXT)
    rungs = RUNGS[RUNGS.index(verifier_of(name, "prefix").rung) :]
    if isinstance(cut_finder(tokenizer), str):
        rungs = [rung for rung in rungs if rung != "tail"]
    texts = [verifier_of(name, "prefix", rung).start() for rung in rungs]
    ids = [i for token in ids[:40] for i in (token, *special_of(tokenizer, draw)[: token % 5 == 0])]
    for token in ids:
        some = [token, *candidates_of(tokenizer, ids, draw), *special_of(tokenizer, draw)]
        for text in texts:
            text.push(token)
        assert len({text.admissible for text in texts}) == 1
        if texts[0].admissible:
            assert len({tuple(text.admits(some).tolist()) for text in texts}) == 1
            assert len({text.consistent for text in texts}) == 1
        elif token in tokenizer.special_ids:
            for text in texts:
                text.rewind(1)


@cache
def without_bytes(model_type):
    """Of whose lists one with unknown text comes back as it was: that of U+2047."""
    tokenizer = train_sentencepiece(
        model_type=model_type, byte_fallback=False, remove_extra_whitespaces=True
    )
    ids = tokenizer.encode("\u2047")
    assert tokenizer.encode(tokenizer.decode(ids)) == ids
    assert not tokenizer.unknown_ids.isdisjoint(ids)
    return tokenizer


@any_mode
@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
@settings(max_examples=20)
@given(
    words=st.lists(st.sampled_from(["a", "the quick", "\u2047", "a \u2047 b", "\u2603", 0, 1, 2])),
    more=st.lists(st.integers(0, 400), max_size=2),
)
@example(words=["\u2047"], more=[])
@example(words=["a", 1, "\u2047"], more=[])
def test_unknown_text_is_consistent_on_no_rung(model_type, mode, words, more):
    """Nor is its id a candidate, however one asks."""
    tokenizer = without_bytes(model_type)
    (unknown,) = tokenizer.unknown_ids
    ids = [i for w in words for i in (tokenizer.encode(w) if isinstance(w, str) else [w])]
    ids = [*ids, *(i % tokenizer.vocab_size for i in more)]
    judge = Oracle(tokenizer, mode)
    rungs = [Verifier(tokenizer, mode, rung=rung) for rung in ("mask", "oracle")]
    # Quickly denied, all of them.
    some = [i for i in [*ids, *range(20)] if tokenizer.token_bytes(i)[-1:] < b"\x80"]
    for verifier in rungs:
        text = verifier.start()
        for token in ids:
            check(text, judge, some, masks=verifier.rung == "mask")
            if text.admissible:
                assert not text.admits([unknown])[0]
            text.push(token)
            assert not (token == unknown and text.admissible)
        check(text, judge, some, masks=verifier.rung == "mask")
        if unknown in ids:
            assert not text.consistent
            assert not text.admissible
            assert text.lost


REFUSED = ToyTokenizer(["", "a", "b", "ab", "<s>", "<unk>"], special=(4, 5))


def test_special_tokens_as_boundaries():
    text = Verifier(REFUSED).start([4, 1])
    assert text.mask().tolist() == [False, True, False, True, False, False]  # a b would be ab
    text.push(4)
    assert text.consistent
    assert text.mask().tolist() == [False, True, True, True, False, False]
    text.push(2)
    assert text.ids == [4, 1, 4, 2]
    assert text.consistent
    text.rewind(2)
    assert text.mask().tolist() == [False, True, False, True, False, False]
    for token in (2, 4, 1):
        text.push(token)
    assert not text.admissible  # a b stood before the boundary, and stays so
    assert text.lost
    text.rewind(3)
    assert text.consistent
    with pytest.raises(SettingsError, match="expected 0 to 0 ids, found 1"):
        text.rewind(1)


def test_special_tokens_refused():
    """As for a receiver who has the text alone."""
    text = Verifier(REFUSED, specials="refused").start([1])
    assert text.consistent
    for token in (4, 1, 4):
        text.push(token)
        assert not text.consistent
        assert text.lost
    text.rewind(3)
    assert text.consistent
    assert not Verifier(REFUSED, specials="refused").start([4]).consistent


@pytest.mark.parametrize("token", [-1, 6, 2**40])
def test_an_id_that_there_is_not(token):
    text = Verifier(REFUSED).start([1])
    with pytest.raises(SettingsError, match=f"expected token ids from 0 to 5, found {token}"):
        text.push(token)
    assert text.ids == [1]
    assert text.consistent


def test_a_list_that_becomes_consistent_again():
    """A character's three bytes are read as themselves when the last one is there."""
    tokenizer = Bpe(pattern="gpt2", rules=((b"a", b"b"),)).open()
    verification, seen = Verifier(tokenizer).start(), []
    for token in tokenizer.encode("aあb"):
        verification.push(token)
        seen.append(verification.admissible)
    assert seen == [True, False, False, True, True]
    fresh = Verifier(tokenizer).start(verification.ids)
    assert verification.mask().tolist() == fresh.mask().tolist()


def test_views():
    whole = Verifier(TOY, view="whole").start([1])
    assert whole.ids == [1]
    assert whole.mask().tolist() == [False, True, False, False, False, True, True]
    alone = Verifier(TOY, view="continuation").start([1])
    assert alone.ids == []
    assert alone.mask().tolist() == [False, *[True] * 6]


def test_a_prompt_may_be_inconsistent():
    text = Verifier(TOY).start([1, 2])
    assert not text.admissible
    with pytest.raises(InconsistentStateError, match="rewind it to where `admissible` was True"):
        text.mask()


def test_rewind_stops_at_the_start():
    verification = Verifier(TOY).start([1])
    for count in (1, -1):
        with pytest.raises(SettingsError, match=f"expected 0 to 0 ids, found {count}"):
            verification.rewind(count)
    verification.push(6)
    with pytest.raises(SettingsError, match="expected 0 to 1 ids, found 2"):
        verification.rewind(2)
    verification.rewind(0)
    assert verification.ids == [1, 6]


@any_mode
@pytest.mark.parametrize("name", ["hf-gpt2", "hf-two-splits", "sp-bpe-added", "sp-unigram"])
def test_candidates_may_be_given_in_any_form(name, mode):
    text = verifier_of(name, mode).start()
    expected = text.admits([3, 1, 4]).tolist()
    for some in ((3, 1, 4), iter([3, 1, 4]), np.array([3, 1, 4])):
        assert text.admits(some).tolist() == expected
    assert text.admits([]).tolist() == []


def test_a_mask_belongs_to_the_caller():
    text = verifier_of("hf-gpt2", "prefix").start()
    before = text.mask().tolist()
    text.mask()[:] = False
    assert text.mask().tolist() == before


EXPRESSION = "the pretokenizer's regular expression is not one of those known"
NO_CUTS = "a unigram tokenizer has no stable cuts"


@pytest.mark.parametrize(
    ("model", "rung", "why"),
    [
        (Bpe(pattern="gpt2"), "mask", ""),
        (Bpe(), "mask", ""),
        (Bpe(normal_form="NFKC", squeezes=True), "mask", ""),
        (
            Bpe(added=("<x", "<x>")),
            "tail",
            "mask: the added token '<x' is part of another one, '<x>'",
        ),
        (
            Bpe(normal_form="NFD"),
            "oracle",
            "mask: the normaliser 'nfd' is not one of those known; "
            "tail: the normaliser 'nfd' may work across a cut",
        ),
        (
            Bpe(pattern="gpt2", normal_form="NFD"),
            "oracle",
            "mask: the normaliser 'nfd' is not one of those known; "
            "tail: the normaliser 'nfd' may work across a cut",
        ),
        (
            Bpe(ignore_merges=True),
            "tail",
            "mask: without a pretokenizer only plain BPE of characters is known here",
        ),
    ],
)
def test_which_rung_and_why(model, rung, why):
    verifier = Verifier(model.open())
    assert (verifier.rung, verifier.why) == (rung, why)


def changed(**fields):
    """A byte-level tokenizer of which other things are said than it does."""
    tokenizer = Bpe(pattern="gpt2").open()
    structure = replace(tokenizer.structure(), **fields)
    tokenizer.structure = lambda: structure
    return tokenizer


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"pretokenizer": (r"\w+|\W+",)}, f"mask: {EXPRESSION}; tail: {EXPRESSION}"),
        ({"pretokenizer": (r"\d", r"\w+")}, f"mask: {EXPRESSION}; tail: {EXPRESSION}"),
        (
            {"kind": "unigram"},
            f"mask: a unigram tokenizer of bytes is no unigram of characters; tail: {NO_CUTS}",
        ),
    ],
)
def test_what_no_rung_but_the_oracle_knows(fields, why):
    verifier = Verifier(changed(**fields))
    assert (verifier.rung, verifier.why) == ("oracle", why)


def test_a_tokenizer_without_a_structure():
    verifier = Verifier(TOY)
    unknown = "the tokenizer's structure is not known"
    assert (verifier.rung, verifier.why) == ("oracle", f"mask: {unknown}; tail: {unknown}")


def test_a_rung_that_is_asked_for():
    assert Verifier(TRAINED["hf-gpt2"](), rung="mask").why == ""
    for rung in ("tail", "oracle"):
        verifier = Verifier(TRAINED["hf-gpt2"](), rung=rung)
        assert (verifier.rung, verifier.why) == (rung, "asked for")
    with pytest.raises(SettingsError, match="the rung 'tail' is not exact here: tail: the token"):
        Verifier(TOY, rung="tail")


def test_rungs_of_trained_tokenizers():
    rungs = {name: [verifier_of(name, mode).rung for mode in MODES] for name in NAMES}
    less = {name: found for name, found in rungs.items() if found != ["mask"] * 3}
    assert less == {"hf-two-splits": ["oracle"] * 3, "sp-bpe-added": ["mask", "tail", "tail"]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "loose"},
        {"view": "all"},
        {"rung": "fast"},
        {"channel": "fax"},
        {"specials": "kept"},
    ],
)
def test_unknown_settings(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(SettingsError, match=rf"{name}: expected one of .*, found '{value}'"):
        Verifier(TOY, **wrong)


def halves(tokenizer, token):
    """Two tokens that spell a third one together, if there are two."""
    spelled = {
        tokenizer.token_bytes(i): i
        for i in range(tokenizer.vocab_size)
        if i not in tokenizer.special_ids
    }
    data = tokenizer.token_bytes(token)
    for at in range(1, len(data)):
        if data[:at] in spelled and data[at:] in spelled:
            return [spelled[data[:at]], spelled[data[at:]]]
    return []


@pytest.mark.parametrize(
    ("name", "knows"),
    [("sp-bpe", True), ("hf-gpt2", True), ("hf-cl100k-nfc", True), ("hf-o200k", True),
     ("sp-unigram", True), ("hf-two-splits", False)],
)  # fmt: skip
def test_what_is_lost_is_mended_by_no_continuation(name, knows):
    tokenizer = TRAINED[name]()
    verifier = Verifier(tokenizer)
    found = 0
    for text in PASSAGES.values():
        ids = tokenizer.encode(text)[:30]
        for at in range(0, len(ids) - 1, 5):
            if not (two := halves(tokenizer, ids[at])):
                continue
            verification = verifier.start([*ids[:at], *two])
            for token in ids[at + 1 : at + 8]:
                if verification.lost:
                    break
                verification.push(token)
            if not verification.lost:
                continue
            found += 1
            assert not verification.consistent
            so_far = list(verification.ids)
            for more in ("", *CONTINUATIONS, *(other[:9] for other in PASSAGES.values())):
                again = tokenizer.encode(tokenizer.decode(so_far) + more)
                assert again[: len(so_far)] != so_far
            verification.rewind(len(so_far) - len(ids[:at]) - len(two))
            assert verification.lost == verifier.start([*ids[:at], *two]).lost
    assert (found > 3) == knows


@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram", "hf-gpt2"])
def test_a_character_in_pieces_is_lost(name):
    tokenizer = TRAINED[name]()
    verification = Verifier(tokenizer).start(tokenizer.encode("a"))
    first, second, *_ = tokenizer.encode("a𓀀")[-4:]
    verification.push(first)
    assert (verification.consistent, verification.lost) == (False, False)
    verification.push(first)
    assert verification.lost
    verification.rewind(1)
    verification.push(second)
    assert not verification.lost
    verification.rewind(2)
    verification.push(second)
    assert verification.lost


@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram"])
def test_where_texts_begin_with_a_space_another_token_is_lost_at_once(name):
    tokenizer = TRAINED[name]()
    (space_and_word, *_, sign) = tokenizer.encode("a.")
    for token, lost in ((sign, True), (space_and_word, False)):
        verification = Verifier(tokenizer).start()
        verification.push(token)
        assert verification.lost == lost


@pytest.mark.parametrize("name", ["sp-bpe", "hf-gpt2"])
def test_a_consistent_list_is_not_lost(name):
    tokenizer = TRAINED[name]()
    for text in PASSAGES.values():
        verification = Verifier(tokenizer).start()
        for token in tokenizer.encode(text)[:40]:
            verification.push(token)
            assert not (verification.lost and verification.consistent)


@pytest.mark.parametrize("size", [2_000, 64_000])
def test_a_token_of_many_kilobytes_has_no_tables(size):
    """To look at each way to cut it would take for ever; the answers are the definition's."""
    words = [*(bytes([n]) for n in range(256)), b"ab", b"ab" * (size // 2)]
    tokenizer = TiktokenTokenizer({word: n for n, word in enumerate(words)}, "cl100k")
    verifier = Verifier(tokenizer)
    assert verifier.rung == "tail"
    assert verifier.why == f"mask: a token has {size:,} bytes, tables are made for up to 1,024"
    text, some = verifier.start(tokenizer.encode("ab a")), [97, 98, 256, 257]
    assert text.admits(some).tolist() == Oracle(tokenizer).admits(text.ids, some).tolist()

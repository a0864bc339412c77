"""Lists that grow and shrink, by every method, against the definition."""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import (
    MODES,
    Bpe,
    byte_level,
    character_level,
    cuts_of,
    engine_of,
    few_characters,
    with_text,
)
from tests.support.sample_texts import PASSAGES
from tests.support.slow import FEW_TOKENIZERS, pairs_of, slow_unless, some_pairs
from tests.support.tokenizers import TRAINED, train_sentencepiece
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Verification, Verifier, compare
from ticore.consistency._boundaries import boundary_ids
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._modes import CONTINUATIONS
from ticore.consistency._verifier import METHODS
from ticore.errors import InconsistentStateError, SettingsError, WrongTypeError
from ticore_tiktoken import TiktokenTokenizer

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])
TEXT = (
    "It's what we'll do, isn't it?  Two  spaces,\n\n lines\r\n and 12345 numbers; naïve café "
    "e\u0301 e\u0308x 日本語のテスト 中文 🙂👩\u200d👩\u200d👧 don'T  ſ's \t tabs   \n x"
)
NAMES = sorted(TRAINED)
CASES = some_pairs(NAMES, MODES, one_in=2)

any_mode = pytest.mark.parametrize("mode", MODES)

# Ids to push, or how many to take back: mostly true ones, so that lists are consistent at times.
steps = st.lists(
    st.sampled_from(["true"] * 5 + ["special"]) | st.integers(0, 500) | st.integers(-4, -1),
    max_size=14,
)
with_cuts = byte_level() | character_level().map(
    lambda model: replace(model, normal_form="", squeezes=False)
)


def check(verification, oracle, tokens, *, masks=True):
    """Compare each answer of a verification with the definition.

    Args:
        masks: ask for the mask as well, for which the slower methods take long.
    """
    ids = list(verification.ids)
    assert verification.consistent == oracle.is_consistent(ids)
    assert verification.admissible == oracle.may_begin(ids)
    if verification.admissible:
        expected = oracle.admits(ids, tokens).tolist()
        assert verification.admits(tokens).tolist() == expected
        few = slice(None, None, 1 + len(tokens) // 8)
        assert [verification.admits_one(token) for token in tokens[few]] == expected[few]
        assert verification.ids == tuple(ids)
        assert not masks or verification.mask()[tokens].tolist() == expected
    else:
        for ask in (
            verification.mask,
            lambda: verification.admits(tokens),
            lambda: verification.admits_one(0),
        ):
            with pytest.raises(InconsistentStateError, match="rewind it"):
                ask()


@pytest.mark.slow
@pytest.mark.parametrize("engine_name", ["table", "suffix"])
@any_mode
@given(case=with_text(with_cuts), steps=steps)
def test_verification_equals_the_definition_for_random_tokenizers(engine_name, mode, case, steps):
    """Lists pass through states that no text begins with, and come back; some hold special ids."""
    model, text = case
    tokenizer, tokens = model.open(), model.ids_to_compare()
    special = sorted(tokenizer.special_ids)
    true = [i for i in tokenizer.encode(text) if i not in tokenizer.special_ids]
    with few_characters():
        engine, oracle = engine_of(tokenizer, mode, engine_name)
        verification = Verification(engine, oracle, cuts_of(tokenizer), ())
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
            check(verification, oracle, tokens)
        fresh = Verification(engine, oracle, cuts_of(tokenizer), verification.ids)
        check(fresh, oracle, tokens)


@cache
def verifier_of(name, mode, method=None):
    return Verifier(TRAINED[name](), mode=mode, method=method)


def candidates_of(tokenizer, ids, draw):
    """Some ids that the definition decides quickly: none leaves two bytes of a character open."""
    some = [*draw.choices(ids, k=6), *draw.choices(range(tokenizer.vocab_size), k=6)]
    return [i for i in some if not tokenizer.token_bytes(i)[-1:] >= b"\xe0"]


def special_of(tokenizer, draw):
    """One special id or none; half of the ids are boundaries, if there are any."""
    boundaries, others = boundary_ids(tokenizer), tokenizer.special_ids
    kinds = [sorted(kind) for kind in (boundaries, others) if kind]
    return [draw.choice(draw.choice(kinds))] if kinds and draw.random() < 0.6 else []


@pytest.mark.parametrize(("name", "mode"), slow_unless(pairs_of(FEW_TOKENIZERS, CASES), CASES))
def test_verification_equals_the_definition_for_trained_tokenizers(name, mode):
    """Lists hold true text, special ids and temporary inconsistencies, and are rewound."""
    tokenizer = TRAINED[name]()
    oracle, draw = Oracle(tokenizer, mode), random.Random(name)
    true = tokenizer.encode(TEXT)
    verifier = verifier_of(name, mode)
    masks = verifier.method == "table"
    verification = verifier.start()
    for _ in range(16):
        at = len(verification.ids)
        for token in true[at : at + draw.randrange(1, 8)]:
            verification.push(token)
        check(verification, oracle, candidates_of(tokenizer, true, draw), masks=masks)
        aside = candidates_of(tokenizer, true, draw)[: draw.randrange(4)]
        aside += special_of(tokenizer, draw)
        for token in aside:
            verification.push(token)
        check(verification, oracle, candidates_of(tokenizer, true, draw), masks=masks)
        verification.rewind(len(aside) + draw.randrange(2))
        for token in special_of(tokenizer, draw):
            verification.push(token)
            if not verification.admissible:
                assert verification.unrecoverable
                verification.rewind(1)
        check(verification, oracle, candidates_of(tokenizer, true, draw), masks=masks)


@pytest.mark.parametrize("name", slow_unless(FEW_TOKENIZERS, NAMES))
def test_all_methods_agree_along_a_text_with_special_tokens(name):
    tokenizer, draw = TRAINED[name](), random.Random(name)
    ids = tokenizer.encode(TEXT)
    methods = METHODS[METHODS.index(verifier_of(name, "prefix").method) :]
    if cuts_of(tokenizer) is None:
        methods = [method for method in methods if method != "suffix"]
    texts = [verifier_of(name, "prefix", method).start() for method in methods]
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
    """A tokenizer that gives back a list with unknown text as it was: that of U+2047."""
    tokenizer = train_sentencepiece(
        model_type=model_type, byte_fallback=False, remove_extra_whitespaces=True
    )
    ids = tokenizer.encode("\u2047")
    assert tokenizer.encode(tokenizer.decode(ids)) == ids
    assert not tokenizer.unknown_ids.isdisjoint(ids)
    return tokenizer


@pytest.mark.slow
@any_mode
@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
@settings(max_examples=20)
@given(
    words=st.lists(st.sampled_from(["a", "the quick", "\u2047", "a \u2047 b", "\u2603", 0, 1, 2])),
    more=st.lists(st.integers(0, 400), max_size=2),
)
@example(words=["\u2047"], more=[])
@example(words=["a", 1, "\u2047"], more=[])
def test_no_method_finds_unknown_text_consistent(model_type, mode, words, more):
    """Nor does any method admit the id for unknown text."""
    tokenizer = without_bytes(model_type)
    (unknown,) = tokenizer.unknown_ids
    ids = [i for w in words for i in (tokenizer.encode(w) if isinstance(w, str) else [w])]
    ids = [*ids, *(i % tokenizer.vocab_size for i in more)]
    oracle = Oracle(tokenizer, mode)
    verifiers = [
        Verifier(tokenizer, mode=mode, method=method) for method in ("table", "retokenize")
    ]
    # The definition decides these quickly.
    some = [i for i in [*ids, *range(20)] if tokenizer.token_bytes(i)[-1:] < b"\x80"]
    for verifier in verifiers:
        text = verifier.start()
        for token in ids:
            check(text, oracle, some, masks=verifier.method == "table")
            if text.admissible:
                assert not text.admits([unknown])[0]
            text.push(token)
            assert not (token == unknown and text.admissible)
        check(text, oracle, some, masks=verifier.method == "table")
        if unknown in ids:
            assert not text.consistent
            assert not text.admissible
            assert text.unrecoverable


REFUSED = ToyTokenizer(["", "a", "b", "ab", "<s>", "<unk>"], special=(4, 5))


def test_verification_begins_a_new_part_after_a_boundary():
    text = Verifier(REFUSED).start([4, 1])
    assert text.mask().tolist() == [False, True, False, True, False, False]  # a b would be ab
    text.push(4)
    assert text.consistent
    assert text.mask().tolist() == [False, True, True, True, False, False]
    text.push(2)
    assert text.ids == (4, 1, 4, 2)
    assert text.consistent
    text.rewind(2)
    assert text.mask().tolist() == [False, True, False, True, False, False]
    for token in (2, 4, 1):
        text.push(token)
    assert not text.admissible  # "a", "b" before the boundary stays inconsistent
    assert text.unrecoverable
    text.rewind(3)
    assert text.consistent
    with pytest.raises(SettingsError, match="expected 0 to 0 ids, found 1"):
        text.rewind(1)


def test_verification_is_unrecoverable_after_a_special_token_where_they_are_refused():
    text = Verifier(REFUSED, specials="refuse").start([1])
    assert text.consistent
    for token in (4, 1, 4):
        text.push(token)
        assert not text.consistent
        assert text.unrecoverable
    text.rewind(3)
    assert text.consistent
    assert not Verifier(REFUSED, specials="refuse").start([4]).consistent


@pytest.mark.parametrize("token", [-1, 6, 2**40])
def test_push_refuses_an_id_that_the_tokenizer_does_not_have(token):
    text = Verifier(REFUSED).start([1])
    with pytest.raises(SettingsError, match=f"expected token ids from 0 to 5, found {token}"):
        text.push(token)
    assert text.ids == (1,)
    assert text.consistent


def test_verification_is_admissible_again_when_a_character_is_complete():
    tokenizer = Bpe(pattern="gpt2", rules=((b"a", b"b"),)).open()
    verification, seen = Verifier(tokenizer).start(), []
    for token in tokenizer.encode("aあb"):
        verification.push(token)
        seen.append(verification.admissible)
    assert seen == [True, False, False, True, True]
    fresh = Verifier(tokenizer).start(verification.ids)
    assert verification.mask().tolist() == fresh.mask().tolist()


def test_view_decides_whether_the_prompt_is_part_of_the_list():
    whole = Verifier(TOY, view="whole").start([1])
    assert whole.ids == (1,)
    assert whole.mask().tolist() == [False, True, False, False, False, True, True]
    alone = Verifier(TOY, view="continuation").start([1])
    assert alone.ids == ()
    assert alone.mask().tolist() == [False, *[True] * 6]


def test_mask_refuses_an_answer_after_an_inconsistent_prompt():
    text = Verifier(TOY).start([1, 2])
    assert not text.admissible
    with pytest.raises(InconsistentStateError, match="rewind it to where `admissible` was True"):
        text.mask()


def test_rewind_refuses_more_ids_than_were_pushed():
    verification = Verifier(TOY).start([1])
    for count in (1, -1):
        with pytest.raises(SettingsError, match=f"expected 0 to 0 ids, found {count}"):
            verification.rewind(count)
    verification.push(6)
    with pytest.raises(SettingsError, match="expected 0 to 1 ids, found 2"):
        verification.rewind(2)
    verification.rewind(0)
    assert verification.ids == (1, 6)


@any_mode
@pytest.mark.parametrize("name", ["hf-gpt2", "hf-two-splits", "sp-bpe-added", "sp-unigram"])
def test_admits_takes_candidates_as_any_iterable(name, mode):
    text = verifier_of(name, mode).start()
    expected = text.admits([3, 1, 4]).tolist()
    for some in ((3, 1, 4), iter([3, 1, 4]), np.array([3, 1, 4])):
        assert text.admits(some).tolist() == expected
    assert text.admits([]).tolist() == []


def test_mask_is_unchanged_when_the_caller_writes_into_the_last_one():
    text = verifier_of("hf-gpt2", "prefix").start()
    before = text.mask().tolist()
    text.mask()[:] = False
    assert text.mask().tolist() == before


BACK_REFERENCE = (
    "the pretokenizer's regular expression has the escape `\\1`, at character 5 of '(a)\\\\1+'"
)
NO_CUTS = "a unigram tokenizer has no stable cuts"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "method", "why"),
    [
        (Bpe(pattern="gpt2"), "table", ""),
        (Bpe(), "table", ""),
        (Bpe(normal_form="NFKC", squeezes=True), "table", ""),
        (Bpe(added=("<x", "<x>")), "table", ""),
        (Bpe(normal_form="NFD"), "table", ""),
        (Bpe(pattern="gpt2", normal_form="NFD"), "table", ""),
        (
            Bpe(ignore_merges=True),
            "suffix",
            "table: without a pretokenizer only plain BPE of characters is known here",
        ),
    ],
)
def test_verifier_picks_the_fastest_exact_method_and_says_why(model, method, why):
    verifier = Verifier(model.open())
    assert (verifier.method, verifier.why) == (method, why)


def changed(**fields):
    """A byte-level tokenizer whose structure describes another one."""
    tokenizer = Bpe(pattern="gpt2").open()
    structure = replace(tokenizer.structure(), **fields)
    tokenizer.structure = lambda: structure
    return tokenizer


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"pretokenizer": (r"(a)\1+",)},
            f"table: {BACK_REFERENCE}; suffix: {BACK_REFERENCE}",
        ),
        (
            {"pretokenizer": (r"\d", r"(a)\1+")},
            f"table: {BACK_REFERENCE}; suffix: {BACK_REFERENCE}",
        ),
        (
            {"kind": "unigram"},
            "table: a unigram tokenizer of bytes is not a unigram tokenizer of characters; "
            f"suffix: {NO_CUTS}",
        ),
    ],
)
def test_verifier_retokenizes_where_no_engine_knows_the_structure(fields, why):
    verifier = Verifier(changed(**fields))
    assert (verifier.method, verifier.why) == ("retokenize", why)


def test_verifier_retokenizes_where_there_is_no_structure():
    verifier = Verifier(TOY)
    unknown = "the tokenizer's structure is not known"
    assert (verifier.method, verifier.why) == ("retokenize", f"table: {unknown}; suffix: {unknown}")


def test_verifier_uses_the_method_that_is_asked_for():
    assert Verifier(TRAINED["hf-gpt2"](), method="table").why == ""
    for method in ("suffix", "retokenize"):
        verifier = Verifier(TRAINED["hf-gpt2"](), method=method)
        assert (verifier.method, verifier.why) == (method, "asked for")
    expected = "the method 'suffix' is not exact for this tokenizer: suffix: the token"
    with pytest.raises(SettingsError, match=expected):
        Verifier(TOY, method="suffix")


@pytest.mark.slow
def test_verifier_decides_by_tables_for_all_trained_tokenizers():
    methods = {name: [verifier_of(name, mode).method for mode in MODES] for name in NAMES}
    assert not {name: found for name, found in methods.items() if found != ["table"] * 3}


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "loose"},
        {"view": "all"},
        {"method": "fast"},
        {"channel": "fax"},
        {"specials": "kept"},
    ],
)
def test_verifier_refuses_an_unknown_setting(wrong):
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "knows"),
    [("sp-bpe", True), ("hf-gpt2", True), ("hf-cl100k-nfc", True), ("hf-o200k", True),
     ("sp-unigram", True), ("hf-two-splits", True)],
)  # fmt: skip
def test_an_unrecoverable_list_is_made_consistent_by_no_continuation(name, knows):
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
                if verification.unrecoverable:
                    break
                verification.push(token)
            if not verification.unrecoverable:
                continue
            found += 1
            assert not verification.consistent
            so_far = list(verification.ids)
            for more in ("", *CONTINUATIONS, *(other[:9] for other in PASSAGES.values())):
                again = tokenizer.encode(tokenizer.decode(so_far) + more)
                assert again[: len(so_far)] != so_far
            verification.rewind(len(so_far) - len(ids[:at]) - len(two))
            assert verification.unrecoverable == verifier.start([*ids[:at], *two]).unrecoverable
    assert (found > 3) == knows


@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram", "hf-gpt2"])
def test_a_character_spelled_in_another_way_is_unrecoverable(name):
    tokenizer = TRAINED[name]()
    verification = Verifier(tokenizer).start(tokenizer.encode("a"))
    first, second, *_ = tokenizer.encode("a𓀀")[-4:]
    verification.push(first)
    assert (verification.consistent, verification.unrecoverable) == (False, False)
    verification.push(first)
    assert verification.unrecoverable
    verification.rewind(1)
    verification.push(second)
    assert not verification.unrecoverable
    verification.rewind(2)
    verification.push(second)
    assert verification.unrecoverable


@pytest.mark.parametrize("wrong", [-1, 7, 8, 1 << 40, -(1 << 63)])
def test_admits_refuses_ids_that_the_tokenizer_does_not_have(wrong):
    verification = Verifier(TOY).start([1])
    for candidates in ([2, wrong], np.array([2, wrong]), iter([2, wrong])):
        with pytest.raises(SettingsError, match="expected token ids from 0 to 6, found"):
            verification.admits(candidates)


def test_admits_takes_integers_of_any_kind():
    verification = Verifier(TOY).start([1])
    expected = verification.admits([1, 2, 6]).tolist()
    for kind in (np.int8, np.uint16, np.int32, np.uint64):
        assert verification.admits(np.array([1, 2, 6], dtype=kind)).tolist() == expected
    assert verification.admits(np.array([1, 0, 2, 0, 6])[::2]).tolist() == expected
    for none in ([], (), np.array([], dtype=np.int64)):
        assert verification.admits(none).tolist() == []


def test_admits_takes_a_tensor():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    verification = Verifier(TOY).start([1])
    candidates = [1, 2, 6]
    expected = verification.admits(candidates).tolist()
    assert verification.admits(torch.tensor(candidates)).tolist() == expected


@pytest.mark.parametrize("wrong", ["1", 1.0, None])
def test_verification_refuses_what_is_no_token_id(wrong):
    verifier = Verifier(TOY)
    verification = verifier.start([1])
    for ask in (
        lambda: verification.push(wrong),
        lambda: verification.admits([wrong]),
        lambda: verifier.start([wrong]),
        lambda: verifier.start("12"),
        lambda: verification.admits(b"12"),
        lambda: verification.admits(np.array([[1, 2]])),
        lambda: verification.admits(np.array([1.0])),
        lambda: compare(TOY, [wrong]),
        lambda: compare(TOY, "12"),
    ):
        with pytest.raises(WrongTypeError, match="expected token ids"):
            ask()
    assert verification.ids == (1,)


@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram"])
def test_a_first_token_without_the_dummy_prefix_is_unrecoverable(name):
    tokenizer = TRAINED[name]()
    (space_and_word, *_, sign) = tokenizer.encode("a.")
    for token, unrecoverable in ((sign, True), (space_and_word, False)):
        verification = Verifier(tokenizer).start()
        verification.push(token)
        assert verification.unrecoverable == unrecoverable


@pytest.mark.parametrize("name", ["sp-bpe", "hf-gpt2"])
def test_a_consistent_list_is_never_unrecoverable(name):
    tokenizer = TRAINED[name]()
    for text in PASSAGES.values():
        verification = Verifier(tokenizer).start()
        for token in tokenizer.encode(text)[:40]:
            verification.push(token)
            assert not (verification.unrecoverable and verification.consistent)


@pytest.mark.parametrize("size", [2_000, 64_000])
def test_verifier_makes_no_tables_for_a_token_of_many_kilobytes(size):
    """To try each way to cut the token would take too long."""
    words = [*(bytes([n]) for n in range(256)), b"ab", b"ab" * (size // 2)]
    tokenizer = TiktokenTokenizer({word: n for n, word in enumerate(words)}, "cl100k")
    verifier = Verifier(tokenizer)
    assert verifier.method == "suffix"
    assert verifier.why == f"table: a token has {size:,} bytes, tables are made for up to 1,024"
    text, some = verifier.start(tokenizer.encode("ab a")), [97, 98, 256, 257]
    assert text.admits(some).tolist() == Oracle(tokenizer).admits(text.ids, some).tolist()

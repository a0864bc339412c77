"""Special tokens as gaps, as text, and refused: what a receiver of each kind reads."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ticore.watermarking
from tests.support.random_added_tokens import Added, Model, added_models
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.consistency import Verifier, compare
from ticore.consistency._boundaries import unlike_gaps, written_ids
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle, WrittenOracle
from ticore.consistency._unsupported import Unsupported
from ticore.consistency._verifier import Verification
from ticore.errors import SettingsError

TURN = "<|im_start|>", "<|im_end|>"
CHATML = "<|im_start|>user\nHi there!<|im_end|>\n<|im_start|>assistant\n  Yes: 12.<|im_end|>\n"


def chat_model(kind="cl100k", *more):
    return Model(kind, added=(*(Added(text, special=True) for text in TURN), *more))


def library(tokenizer, ids):
    """The definition: what the library makes of the text with special tokens."""
    text = tokenizer._library.decode(list(ids), skip_special_tokens=False)
    return tokenizer._library.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("specials", ["gaps", "text"])
@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "marks"])
def test_a_chat_is_consistent(kind, specials):
    tokenizer = chat_model(kind).open()
    ids = tokenizer._library.encode(CHATML).ids
    verifier = Verifier(tokenizer, specials=specials)
    assert verifier.method == "table"
    for some in (ids, ids[:-1], ids[1:], [*ids, ids[0]]):
        found = compare(tokenizer, some, specials=specials)
        assert found.consistent
        assert found.sits == found.cits == ()
        assert [some[n] for n in found.specials] == [i for i in some if i in tokenizer.special_ids]
        assert verifier.start(some).consistent
    assert compare(tokenizer, ids, specials="text").text == CHATML


@pytest.mark.parametrize("kind", ["gpt2", "marks"])
def test_only_lists_without_special_tokens_are_consistent_where_they_are_refused(kind):
    tokenizer = chat_model(kind).open()
    ids = tokenizer._library.encode(CHATML).ids
    plain = [i for i in ids if i not in tokenizer.special_ids]
    verifier = Verifier(tokenizer, specials="refuse")
    assert not compare(tokenizer, ids, specials="refuse").consistent
    assert not verifier.start(ids).consistent
    assert compare(tokenizer, plain, specials="refuse").consistent == (
        verifier.start(plain).consistent
    )


@pytest.mark.parametrize("specials", ["gaps", "text", "refuse"])
def test_ordinary_tokens_that_spell_a_special_token_are_inconsistent(specials):
    tokenizer = chat_model().open()
    ids = [tokenizer.encode(c)[0] for c in "a<|im_end|>b"]
    assert not compare(tokenizer, ids, specials=specials).consistent
    assert not Verifier(tokenizer, specials=specials).start(ids).consistent


def test_a_prefix_after_each_special_token_is_read_from_the_text():
    """As gaps, `<s>` and then encode(text) comes back. Written out it does not: spaces come."""
    tokenizer = TRAINED["hf-llama"]()
    begin = min(written_ids(tokenizer))
    ids = [begin, *tokenizer.encode("the fox"), begin, *tokenizer.encode("the dog")]
    assert compare(tokenizer, ids).consistent
    assert Verifier(tokenizer).start(ids).consistent
    verifier = Verifier(tokenizer, specials="text")
    assert verifier.method == "retokenize"
    assert "spaces beside a special token are added or dropped" in verifier.why
    for some in (ids, ids[:1], ids[1:3], library(tokenizer, ids)):
        expected = library(tokenizer, some) == list(some)
        assert compare(tokenizer, some, specials="text").consistent == expected
        assert verifier.start(some).consistent == expected
    assert not compare(tokenizer, ids, specials="text").consistent
    with pytest.raises(SettingsError, match="not exact for special tokens as text: spaces beside"):
        Verifier(tokenizer, specials="text", method="table")


@pytest.mark.parametrize(
    "more", [Added("x<|im_start|>"), Added("<|im_start|>x"), Added("b<|im"), Added("x<|im_end|>y")]
)
def test_an_added_token_across_a_special_one_is_found_in_the_text(more):
    tokenizer = chat_model("cl100k", more).open()
    assert repr(more.text) in unlike_gaps(tokenizer, written_ids(tokenizer))
    texts = ("b", "x", "y", "<|im_start|>", "<|im_end|>", "<")
    verifier = Verifier(tokenizer, specials="text")
    assert verifier.method == "retokenize"
    parts = [tokenizer.encode(text) for text in texts]
    for before in parts:
        for here in parts:
            for after in parts:
                ids = [*before, *here, *after]
                expected = library(tokenizer, ids) == ids
                assert compare(tokenizer, ids, specials="text").consistent == expected
                assert verifier.start(ids).consistent == expected


@settings(max_examples=60)
@given(model=added_models(flags=True), picks=st.lists(st.integers(0, 99), max_size=8))
def test_special_tokens_as_text_are_read_like_the_library(model, picks):
    tokenizer = replace(model, added=(*model.added, Added("[s]", special=True))).open()
    assume(tokenizer.structure() is not None)
    special = sorted(written_ids(tokenizer))
    ordinary = [tokenizer.encode(c)[0] for c in "ab <x>1\n"]
    ordinary = [token for token in ordinary if token not in tokenizer.special_ids]
    added = sorted(set(tokenizer.structure().added_tokens.values()))
    tokens = [*special, *added, *ordinary]
    ids = [tokens[pick % len(tokens)] for pick in picks]
    if unlike_gaps(tokenizer, written_ids(tokenizer)):
        oracle, boundaries = WrittenOracle(tokenizer), frozenset()
        verification = Verifier(tokenizer, specials="text").start()
    else:
        oracle, boundaries = Oracle(tokenizer), written_ids(tokenizer)
        try:
            verification = Verification(table_engine(oracle), oracle, None, (), boundaries)
        except Unsupported:
            return
    for n, token in enumerate(ids, start=1):
        verification.push(token)
        expected = library(tokenizer, ids[:n]) == ids[:n]
        assert verification.consistent == expected, ids[:n]
        assert compare(tokenizer, ids[:n], specials="text").consistent == expected
        if verification.admissible:
            found = verification.admits(ordinary).tolist()
            longer = [[*ids[:n], i] for i in ordinary]
            assert found == [library(tokenizer, some) == some for some in longer]


@pytest.mark.parametrize("flag", ["lstrip", "rstrip"])
def test_spaces_that_a_special_token_takes_are_lost_as_text_alone(flag):
    mask = Added("<mask>", special=True, **{flag: True})
    tokenizer = Model("gpt2", added=(mask,)).open()
    (token,) = tokenizer.encode("<mask>")
    ids = [*tokenizer.encode("a "), token, *tokenizer.encode(" b")]
    assert compare(tokenizer, ids).consistent
    verifier = Verifier(tokenizer)
    assert (verifier.method, verifier.start(ids).consistent) == ("table", True)
    written = Verifier(tokenizer, specials="text")
    assert "'<mask>' takes spaces beside it" in written.why
    assert not written.start(ids).consistent
    assert not compare(tokenizer, ids, specials="text").consistent
    assert written.start([token, token]).consistent


def test_names_of_special_tokens_are_found_by_tiktoken_in_a_text_alone():
    """Its encode reads them as ordinary text, which a receiver of gaps relies on."""
    tiktoken = pytest.importorskip("tiktoken")
    from ticore_tiktoken import TiktokenTokenizer  # noqa: PLC0415  # where it is installed

    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "small", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<end>": 256}
    )
    tokenizer = TiktokenTokenizer.from_encoding(encoding)
    spelled, list_ = [*b"a<end>"], [97, 256]
    for specials, good in (
        ("gaps", (True, True)),
        ("text", (False, True)),
        ("refuse", (True, False)),
    ):
        verifier = Verifier(tokenizer, specials=specials)
        assert tuple(verifier.start(ids).consistent for ids in (spelled, list_)) == good
        assert (
            tuple(compare(tokenizer, ids, specials=specials).consistent for ids in (spelled, list_))
            == good
        )


def test_special_tokens_without_a_text_are_refused_as_text():
    """SentencePiece writes nothing for `<s>`, and never reads it from a text."""
    tokenizer = TRAINED["sp-bpe"]()
    verifier = Verifier(tokenizer, specials="text")
    assert verifier.method == "table"
    ids = [1, *tokenizer.encode("the fox")]
    assert verifier.start(ids[1:]).consistent
    assert not verifier.start(ids).consistent
    assert not compare(tokenizer, ids, specials="text").consistent


@pytest.mark.parametrize(("old", "new"), [("boundaries", "gaps"), ("refused", "refuse")])
def test_old_names_are_accepted_and_warn(old, new):
    tokenizer = ToyTokenizer(["", "a", "b"])
    with pytest.warns(DeprecationWarning, match=f"specials='{old}' is deprecated") as caught:
        assert Verifier(tokenizer, specials=old).specials == new
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=f"specials='{old}' is deprecated") as caught:
        compare(tokenizer, [1], specials=old)
    assert caught[0].filename == __file__


def test_unknown_names_are_refused():
    with pytest.raises(SettingsError, match="specials: expected one of gaps, text, refuse"):
        Verifier(ToyTokenizer(["", "a"]), specials="written")


def test_a_generator_accepts_the_old_name(monkeypatch):
    model = ToyModel(ToyTokenizer(["", "a", "b"]))
    with pytest.warns(DeprecationWarning, match="specials='refused' is deprecated") as caught:
        ticore.watermarking.Generator(model, specials="refused")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("specials", ["gaps", "refuse", "text"])
def test_no_special_token_is_admitted(specials):
    tokenizer = TRAINED["hf-gpt2"]()
    text = Verifier(tokenizer, specials=specials).start(tokenizer.encode("Hello there"))
    for token in tokenizer.special_ids:
        assert not text.admits_one(token)
        assert not text.admits([token]).any()
        assert not text.mask()[token]

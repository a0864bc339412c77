"""The definition, on lists small enough to work out by hand, and against a loop over all texts."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_bpe import MODES, Bpe, few_characters, models, with_text
from tests.support.random_steps import metaspace
from tests.support.random_tokenizers import JsonTokenizer
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Verifier
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._modes import CONTINUATIONS
from ticore.consistency._tokenizer_rules.characters import completions
from ticore.errors import SettingsError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])


def test_is_consistent_gives_what_was_worked_out_by_hand():
    oracle = Oracle(TOY)
    assert oracle.is_consistent([])
    assert oracle.is_consistent([3, 6])
    assert not oracle.is_consistent([1, 2])  # reads back as ab
    assert not oracle.is_consistent([0])  # spells nothing


@given(history=st.lists(st.integers(1, 6), max_size=4))
def test_admits_is_algorithm_1_in_mode_prefix(history):
    """Candidates survive if decoding and encoding the list gives it back."""
    admitted = [
        TOY.encode(TOY.decode([*history, token])) == [*history, token] for token in range(7)
    ]
    assert Oracle(TOY).admits(history, range(7)).tolist() == admitted


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@given(case=with_text(models), more=st.lists(st.integers(0, 300), max_size=2))
def test_admits_agrees_with_may_begin_for_each_candidate(mode, case, more):
    model, text = case
    tokenizer = model.open()
    history = [*tokenizer.encode(text), *(i % tokenizer.vocab_size for i in more)]
    with few_characters():
        oracle = Oracle(tokenizer, mode)
        tokens = model.ids_to_compare()
        one_by_one = [
            token not in tokenizer.special_ids and oracle.may_begin([*history, token])
            for token in tokens
        ]
        assert oracle.admits(history, tokens).tolist() == one_by_one


@pytest.mark.slow
@given(case=with_text(models), more=st.lists(st.integers(0, 300), max_size=1))
def test_admits_holds_in_the_next_mode_when_it_holds_in_one(case, more):
    model, text = case
    tokenizer = model.open()
    history = [*tokenizer.encode(text), *(i % tokenizer.vocab_size for i in more)]
    with few_characters():
        answers = [
            Oracle(tokenizer, mode).admits(history, model.ids_to_compare()) for mode in MODES
        ]
    assert not (answers[0] & ~answers[1]).any()
    assert not (answers[1] & ~answers[2]).any()


@pytest.mark.parametrize(
    ("mode", "admitted"), [("prefix", ""), ("open", "\xc3"), ("viable", "\xc3")]
)
def test_admits_the_beginning_of_a_character_in_modes_open_and_viable(mode, admitted):
    """C3 begins letters; C1 nothing, and 80 is the second half of something else."""
    tokenizer = Bpe(pattern="gpt2").open()
    ids = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    some = [ids[b"\xc3"], ids[b"\xc1"], ids[b"\x80"]]
    assert Oracle(tokenizer, mode).admits([], some).tolist() == [bool(admitted), False, False]


def test_admits_no_beginning_of_a_character_whose_other_bytes_have_no_tokens():
    tokenizer = TRAINED["sp-bpe-no-bytes"]()
    oracle = Oracle(tokenizer, "open")
    assert oracle.admits([], range(tokenizer.vocab_size)).tolist() == (
        Oracle(tokenizer).admits([], range(tokenizer.vocab_size)).tolist()
    )


@pytest.mark.parametrize("mode", ["open", "viable"])
def test_may_begin_follows_the_definition_of_the_mode(mode):
    """All lists of three tokens of a few, with all texts that may follow them."""
    tokenizer = Bpe(pattern="gpt2", rules=((b"\n", b"\n"), (b"\xc3", b"\xa9"))).open()
    oracle = Oracle(tokenizer, mode)
    letters = (b"a", b"\n", b"\n\n", b"\xc3", b"\xa9")
    ids = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    for pieces in product(letters, repeat=3):
        history = [ids[piece] for piece in pieces]
        data = b"".join(pieces)
        texts = [data.decode(errors="replace")]
        if data.endswith(b"\xc3"):
            texts += [data[:-1].decode(errors="replace") + c for c in completions(b"\xc3")]
        elif mode == "viable":
            texts += [texts[0] + continuation for continuation in CONTINUATIONS]
        encoded = [tokenizer.encode(text) for text in texts]
        begins = encoded[0] == history or any(e[:3] == history for e in encoded[1:])
        assert oracle.may_begin(history) == begins, pieces


CHAT = ToyTokenizer(["", "a", "b", "ab", "<s>", "<e>", "<unk>"], special=(4, 5, 6))
CHAT.unknown_ids = frozenset({6})


def test_oracle_reads_each_part_between_special_tokens_by_itself():
    """Each is read by itself: a and b are one token, but not with a boundary between them."""
    oracle = Oracle(CHAT)
    for ids in ([4], [4, 1], [1, 5], [4, 1, 5, 2], [1, 4, 5, 2], [4, 4, 5]):
        assert oracle.is_consistent(ids), ids
        assert oracle.may_begin(ids), ids
    for ids in ([4, 1, 2], [1, 2, 5], [1, 2, 4, 1], [4, 1, 4, 1, 2, 5]):
        assert not oracle.is_consistent(ids), ids
        assert not oracle.may_begin(ids), ids
    assert oracle.admits([1], range(7)).tolist() == [False, True, False, True, *[False] * 3]
    assert oracle.admits([1, 4], range(7)).tolist() == [False, *[True] * 3, *[False] * 3]
    assert not oracle.admits([1, 2, 4], range(7)).any()


def test_may_begin_refuses_a_special_token_inside_a_character():
    """A part must be finished where one comes, in every mode."""
    tokenizer = Bpe(pattern="gpt2", special=("<s>",)).open()
    ids = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    (special,) = tokenizer.special_ids - tokenizer.unknown_ids
    for mode in MODES:
        oracle = Oracle(tokenizer, mode)
        assert oracle.may_begin([ids[b"\xc3"]]) == (mode != "prefix")
        assert not oracle.may_begin([ids[b"\xc3"], special])
        assert oracle.may_begin([*tokenizer.encode("\u00e9"), special])


@pytest.mark.parametrize(
    "name", ["sp-bpe-no-bytes", "sp-unigram-no-bytes-no-prefix", "hf-metaspace", "hf-llama"]
)
@pytest.mark.parametrize("mode", MODES)
def test_oracle_refuses_a_list_with_unknown_text(name, mode):
    """Even where its text comes back as the very same list, as that of U+2047 does."""
    tokenizer = TRAINED[name]()
    oracle = Oracle(tokenizer, mode)
    (unknown,) = tokenizer.unknown_ids
    for ids in ([unknown], tokenizer.encode("a \u2603"), tokenizer.encode("\u2047")):
        if unknown in ids:
            assert not oracle.is_consistent(ids)
            assert not oracle.may_begin(ids)
            assert not oracle.admits(ids, range(300)).any()
        assert not oracle.admits(ids[:-1], [unknown]).any()


def test_admits_takes_any_number_of_candidates():
    tokenizer = TRAINED["hf-gpt2"]()
    oracle = Oracle(tokenizer)
    assert oracle.admits([], []).tolist() == []
    many = list(range(tokenizer.vocab_size)) * 4
    assert (
        oracle.admits([], many).tolist() == oracle.admits([], many[: len(many) // 4]).tolist() * 4
    )


def test_recovers_with_a_consistent_list_only():
    """Here "  a" is read as a list for " a": a space at the beginning takes the prefix's place."""
    model = JsonTokenizer(
        "unigram",
        scores=((" ", -1.0), ("  ", -0.1), ("a", -1.0)),
        pretokenizers=(metaspace("always", split=False),),
        decoder="llama",
        strips=True,
    )
    tokenizer = model.open()
    two_spaces = [tokenizer.encode("  a")[0]]
    assert tokenizer.token_bytes(two_spaces[0]) == b"  "
    assert not Oracle(tokenizer, "prefix").recovers_with(two_spaces, ["a", " a"])
    assert Oracle(tokenizer, "prefix").recovers_with(tokenizer.encode(" ")[:1], ["a"])
    assert Verifier(tokenizer).method == "table"


def test_a_continuation_that_the_tokenizer_refuses_makes_no_list_admissible():
    """A toy refuses texts of other characters, among them the digit that a text may go on with."""
    tokenizer = ToyTokenizer(["", "a", "b", "ab", "."])
    a, b, both, dot = (tokenizer.encode(text)[0] for text in ("a", "b", "ab", "."))
    with pytest.raises(SettingsError):
        tokenizer.encode("a1")
    assert Oracle(tokenizer, "viable").admits([a], [a, b, both, dot]).tolist() == [
        True,
        False,
        True,
        True,
    ]

"""What is remembered of a list of tokens."""

import pytest

from tests.support.random_bpe import PATTERNS, Bpe, BpeWithTrees
from ticore.consistency._engines.bpe.boundary_effects import FollowVerdict
from ticore.consistency._engines.bpe.pretokenized_state import PretokenizedState
from ticore.consistency._engines.bpe.replaced_parts import ReplacedParts
from ticore.consistency._engines.bpe.state_builder import StateBuilder
from ticore.consistency._engines.bpe.token_pairs import TokenPairs, build_tables
from ticore.consistency._tokenizer_rules.added_tokens import AddedTokens
from ticore.consistency._tokenizer_rules.normalizers import Normalization

WORDS = ("the", " house", " is", "land", "aa", "あ")


class Built:
    """A builder for a random tokenizer, and the state after tokens with given bytes."""

    def __init__(self, **settings):
        words = tuple(word.encode() for word in WORDS)
        model = Bpe(**{"pattern": "gpt2", "more": words, "ranks": (), **settings})
        self.bpe = BpeWithTrees(model)
        structure, spelled = self.bpe.structure, self.bpe.spelled
        self.added = structure.added_tokens
        pairs = TokenPairs(build_tables(structure, spelled), spelled)
        self.builder = StateBuilder(
            PATTERNS[model.pattern],
            spelled,
            pairs,
            ReplacedParts(pairs, "prefix"),
            Normalization(structure),
            AddedTokens(self.added, spelled),
        )

    def state(self, *tokens):
        state = PretokenizedState()
        for text in tokens:
            state = self.builder.step(state, self.added.get(text) or self.bpe.id_of(text))
        return state


def test_step_forgets_the_tokens_before_the_last_settled_boundary():
    built = Built()
    state = built.state(b"the", b" house", b" is")
    assert state.text == " is"
    assert built.bpe.named(*state.ids) == (b" is",)
    assert built.builder.may_end(state.tail) is FollowVerdict.YES


def test_step_keeps_the_tokens_of_a_part_that_may_go_on():
    built = Built()
    state = built.state(b"the", b" is", b"land")
    assert (state.text, state.ends) == (" island", (3, 7))


def test_step_gives_the_empty_state_after_an_added_token():
    built = Built(added=("<x>",))
    state = built.builder.step(built.state(b"the"), built.added["<x>"])
    assert state == built.builder.start


def test_step_gives_a_broken_state_when_a_character_is_left_in_pieces():
    state = Built().state(b"\xe3", b"a")
    assert state.broken
    assert state.tail is None


def test_step_gives_a_broken_state_when_no_token_ends_at_a_settled_boundary():
    built = Built(more=(b"a.b c", b" d"))
    assert built.state(b"a.b c", b" d", b" d").broken


def test_step_has_no_tail_when_the_text_holds_an_ambiguous_character():
    state = Built().state(*(bytes([byte]) for byte in "\u017f".encode()))
    assert state.tail is None
    assert not state.broken


def test_step_keeps_a_text_of_bounded_length_in_a_long_run():
    built = Built()
    texts = [built.state(*[b"aa"] * count).text for count in (40, 400)]
    assert len(texts[0]) == len(texts[1])
    assert len(built.state(*[b"aa"] * 400).tokens) == 400


def test_step_keeps_an_unfinished_character_apart_from_the_text():
    state = Built().state(b"the", b"\xe3", b"\x81")
    assert (state.text, state.unfinished, state.open_bytes) == ("the", b"\xe3\x81", b"")


@pytest.mark.parametrize(
    ("tokens", "is_unknown"),
    [((b"the",), False), ((b" ",), True), ((b"'",), True), ((b"the", b"\xe3"), True)],
)
def test_closed_by_is_unknown_when_more_than_a_shape_matters(tokens, is_unknown):
    assert (Built().state(*tokens).closed_by is None) is is_unknown

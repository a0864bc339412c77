"""Lists of which an engine says something else than the definition."""

import pytest

from tests.consistency.random_bpe import MODES, Bpe, check_behind, check_one_by_one
from tests.tokenizers import TRAINED
from ticore.consistency.bpe.vocabulary import Vocabulary
from ticore.consistency.cut_engine import CutEngine
from ticore.consistency.mask import table_engine
from ticore.consistency.oracle import Oracle
from ticore.consistency.trial import compare

any_mode = pytest.mark.parametrize("mode", MODES)


@pytest.mark.parametrize("mode", ["open", "viable"])
def test_what_comes_before_an_unfinished_character_is_not_taken_for_another(mode):
    """The voiced sign composes with ka, not with n, and both are letters of one kind."""
    model = Bpe(pattern="cl100k", normal_form="NFC", ranks=(("か\u3099".encode()[3:], 0),))
    begun = (b"\xe3", b"\x82")
    histories = [[*(bytes([b]) for b in letter.encode()), *begun] for letter in "かんか"]
    check_one_by_one(model, mode, histories, characters="ア\u3099")


@any_mode
def test_a_cut_is_not_made_inside_a_special_token(mode):
    """Its text is known to the description alone, since its id spells nothing."""
    model = Bpe(special=("x yz",), ranks=((b" y", 0), (b"x", 0), (b"y", 0), (b"z", 0)))
    check_behind(model, mode, b"x", b" y", rung="tail")


@any_mode
def test_a_long_run_is_not_taken_for_a_shorter_one_that_is_another_token(mode):
    """Five dots are one token, though no rule makes it; seven are not."""
    rules = ((b".", b"."), (b".", b".."), (b"...", b".."))
    model = Bpe(pattern="cl100k", ignore_merges=True, rules=rules)
    check_one_by_one(model, mode, [[b".."] * 2, [b".."] * 3])


@pytest.mark.parametrize("mode", ["open", "viable"])
def test_marks_alone_do_not_tell_what_another_mark_composes_with(mode):
    """A grave accent goes with the letter, across the cedilla."""
    cedilla = "\u0327".encode()
    model = Bpe(pattern="cl100k", normal_form="NFC", ranks=((cedilla + b"\xcc", 0), (cedilla, 0)))
    check_behind(model, mode, b"a", characters="\u0300")


SMALL = pytest.mark.parametrize("name", ["sp-bpe", "hf-llama", "hf-gpt2", "hf-cl100k"])


@SMALL
def test_a_trial_finds_out_that_cuts_are_made_everywhere(name):
    class CutsEverything:
        def advance(self, ids, cut):
            return len(ids)

    oracle = Oracle(TRAINED[name]())
    engine = CutEngine(oracle, CutsEverything())
    assert compare(engine, oracle, from_masks=False).wrong != ""


@SMALL
@any_mode
def test_a_trial_finds_out_that_no_pairs_are_tested(name, mode, monkeypatch):
    oracle = Oracle(TRAINED[name](), mode)
    engine = table_engine(oracle)
    monkeypatch.setattr(Vocabulary, "row", lambda self, left: self.reachable.copy())
    assert compare(engine, oracle, from_masks=True).wrong != ""


@pytest.mark.parametrize("mode", ["open", "viable"])
def test_bytes_that_finish_a_character_may_complete_what_is_another_token(mode):
    """No rule makes this letter of its first two bytes and the third, but alone it is a token."""
    letter = "ᄉ".encode()
    rules = ((letter[:1], letter[1:2]),)
    model = Bpe(pattern="gpt2", ignore_merges=True, rules=rules, more=(letter,))
    check_behind(model, mode, letter[:2], characters="ᄀᄉ")


@any_mode
@pytest.mark.parametrize("ending", [b"lL", b"Ll", b"vE", b"Re"])
def test_a_contraction_may_be_in_mixed_case(mode, ending):
    model = Bpe(pattern="o200k", ranks=((ending, 0),))
    check_behind(model, mode, b"A", b"'")

"""What an audit finds, on tokenizers made to have it."""

from dataclasses import asdict

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer

from tests.support.tokenizers import REAL, TRAINED, train_sentencepiece
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import audit
from ticore_tokenizers import HuggingFaceTokenizer


def test_audit_finds_a_token_that_no_text_gives():
    """Longest match first never gives "b" after "a", yet alone it does: only "cab" is hidden."""

    class Hides(ToyTokenizer):
        def encode(self, text):
            return [
                i for token in super().encode(text) for i in ([3, 4] if token == 5 else [token])
            ]

    found = audit(
        Hides(["", "a", "1", "c", "ab", "cab", "b", ".", "\n", " ", "\u0e3f"], special=[0])
    )
    assert [(u.token, u.text, u.read_as) for u in found.unreachable] == [(5, "cab", (3, 4))]
    assert (found.kind, found.method, found.special, found.partial) == (
        "unknown",
        "retokenize",
        1,
        0,
    )
    assert found.missing_bytes[:2] == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram", "hf-gpt2", "hf-ignore-merges"])
def test_audit_lists_as_unreachable_only_tokens_that_encode_never_gives(name):
    tokenizer = TRAINED[name]()
    found = audit(tokenizer)
    assert found.method == "table"
    assert found.why == ""
    assert found.checks > 300
    for token in found.unreachable:
        assert token.token not in tokenizer.encode(f"a{token.text}")
        assert b"".join(map(tokenizer.token_bytes, token.read_as)).decode() == token.text


def test_audit_counts_a_token_as_alone_when_encode_gives_it_only_after_others():
    """A dummy prefix joins it where it is alone, and so it does not come back by itself."""
    tokenizer = TRAINED["sp-bpe"]()
    found = audit(tokenizer)
    letter = tokenizer.encode("ab")[-1]
    assert tokenizer.encode(tokenizer.decode([letter])) != [letter]
    assert letter not in {token.token for token in found.unreachable}
    assert found.alone > found.spare + len(found.unreachable)


def test_audit_finds_a_token_reachable_when_encode_gives_it_only_before_others():
    """Where spaces at the end of a text are dropped, a space is read before something else only."""
    tokenizer = TRAINED["sp-bpe-nfkc"]()
    space = tokenizer.encode("x \u0e3f")[-4]
    assert tokenizer.token_bytes(space) == b" "
    assert audit(tokenizer).unreachable == ()


def test_audit_counts_bytes_as_spare_when_their_characters_are_tokens():
    tokenizer = TRAINED["sp-bpe"]()
    structure = tokenizer.structure()
    characters = {tokenizer.token_bytes(i) for i in np.flatnonzero(structure.pieces)}
    assert audit(tokenizer).spare == sum(bytes([b]) in characters for b in range(128))
    assert audit(TRAINED["hf-gpt2"]()).spare == 0


def test_audit_lists_added_tokens_that_contain_one_another():
    found = audit(train_sentencepiece(user_defined_symbols=["<doc>", "<doc"]))
    assert [(h.text, h.special, h.within) for h in found.hazards] == [
        ("<doc", False, ("<doc>",)),
        ("<doc>", False, ()),
    ]


def test_audit_has_no_hazards_when_there_is_no_structure():
    """Text spells it all the same."""
    library = Tokenizer.from_str(TRAINED["hf-gpt2"]()._library.to_str())
    library.add_tokens([AddedToken("<mask>", lstrip=True)])
    found = audit(HuggingFaceTokenizer(library))
    assert (found.kind, found.hazards, found.method) == ("unknown", None, "retokenize")


def test_audit_lists_a_control_token_that_text_can_spell_as_hazard():
    (hazard,) = audit(TRAINED["hf-gpt2"]()).hazards
    assert (hazard.text, hazard.special) == ("<|endoftext|>", True)


@pytest.mark.slow
def test_audit_counts_tokens_that_the_normalizer_changes_by_kind():
    found = audit(REAL["swallow"]())
    assert found.rewritten == {"compatibility": 76, "not composed": 6, "white space": 12}
    assert asdict(found)["rewritten"] == found.rewritten
    # "かわいい" is one: it is read as か, わ and いい.
    assert len(found.unreachable) == 17
    assert audit(TRAINED["sp-bpe"]()).rewritten == {}


def test_audit_counts_the_ids_that_no_text_is_encoded_to():
    """A control token that text can spell is one that a text is encoded to."""
    tokenizer = TRAINED["sp-bpe"]()
    found = audit(tokenizer)
    assert found.broken == 13, "bytes that UTF-8 does not use: C0, C1, F5 to FF"
    assert found.never == found.special + found.spare + len(found.unreachable) + 13
    assert found.never_share == found.never / tokenizer.vocab_size
    assert found.renamed >= found.spare - 128, "bytes of ASCII characters"
    gpt2 = audit(TRAINED["hf-gpt2"]())
    assert gpt2.never == gpt2.special - len(gpt2.hazards) + len(gpt2.unreachable) + gpt2.broken


def test_audit_says_why_there_is_no_structure():
    library = Tokenizer.from_str(TRAINED["hf-gpt2"]()._library.to_str())
    library.add_tokens([AddedToken("<mask>", lstrip=True)])
    assert "<mask>" in audit(HuggingFaceTokenizer(library)).no_structure_reason
    assert audit(TRAINED["hf-gpt2"]()).no_structure_reason == ""


def test_audit_reports_progress_up_to_the_total():
    seen = []
    audit(TRAINED["sp-bpe"](), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 300


@pytest.mark.parametrize("mode", ["open", "viable"])
def test_audit_uses_the_mode_for_its_verifier(mode):
    found = audit(TRAINED["sp-bpe"](), mode=mode)
    assert (found.mode, found.method) == (mode, "table")

"""What an audit finds, on tokenizers made to have it."""

import pytest

from tests.models import ToyTokenizer
from tests.tokenizers import REAL, TRAINED
from ticore.consistency import audit


def test_tokens_that_no_text_gives_are_found():
    """Longest match first never gives "b" behind "a", yet alone it does: only "cab" is hidden."""

    class Hides(ToyTokenizer):
        def encode(self, text):
            return [
                i for token in super().encode(text) for i in ([3, 4] if token == 5 else [token])
            ]

    found = audit(Hides(["", "a", "1", "c", "ab", "cab", "b", ".", "\n", " "], special=[0]))
    assert [(u.token, u.text, u.read_as) for u in found.unreachable] == [(5, "cab", (3, 4))]
    assert (found.kind, found.rung, found.special, found.partial) == ("unknown", "oracle", 1, 0)
    assert found.missing_bytes[:2] == (0, 1)


@pytest.mark.parametrize("name", ["sp-bpe", "sp-unigram", "hf-gpt2", "hf-ignore-merges"])
def test_unreachable_tokens_are_those_that_encode_never_gives(name):
    tokenizer = TRAINED[name]()
    found = audit(tokenizer)
    assert found.rung == "mask"
    assert found.why == ""
    assert found.checks > 300
    for token in found.unreachable:
        assert token.token not in tokenizer.encode(f"a{token.text}")
        assert list(token.read_as) == tokenizer.encode(token.text)


def test_a_control_token_that_text_can_spell_is_a_hazard():
    (hazard,) = audit(TRAINED["hf-gpt2"]()).hazards
    assert (hazard.text, hazard.special) == ("<|endoftext|>", True)


def test_tokens_that_the_normaliser_changes_are_counted():
    assert audit(REAL["swallow"]()).rewritten > 0
    assert audit(TRAINED["sp-bpe"]()).rewritten == 0


def test_progress_reaches_its_end():
    seen = []
    audit(TRAINED["sp-bpe"](), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == len(seen)


@pytest.mark.parametrize("mode", ["open", "viable"])
def test_the_mode_is_that_of_the_verifier(mode):
    found = audit(TRAINED["sp-bpe"](), mode)
    assert (found.mode, found.rung) == (mode, "mask")

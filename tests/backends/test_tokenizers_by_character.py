"""Why a step Precompiled is read only where it works character by character."""

from __future__ import annotations

from tokenizers import normalizers

from tests.support.random_steps import metaspace, precompiled
from tests.support.random_tokenizers import JsonTokenizer, charsmap
from ticore.consistency import Verifier


def test_what_follows_brings_back_a_text_that_was_changed() -> None:
    """A cluster of 6 bytes and more is not replaced. So no neighbours decide."""
    normalize = normalizers.Precompiled(charsmap("nmt_nfkc")).normalize_str
    assert normalize("e\u0301") == "é"
    assert normalize("e\u0301\u0316\u0317") == "e\u0301\u0316\u0317"


def test_a_map_is_read_where_no_token_spells_what_it_changes_together() -> None:
    def opened(letters: str, *, byte_fallback: bool = False) -> Verifier:
        model = JsonTokenizer(
            "characters",
            more=tuple(letter.encode() for letter in letters),
            normalizers=(precompiled(charsmap("nmt_nfkc")),),
            pretokenizers=(metaspace("always"),),
            byte_fallback=byte_fallback,
            decoder="llama",
            strips=True,
        )
        return Verifier(model.open())

    assert opened("aeé").method == opened("b\u0316").method == "table"
    assert "tokens together, unless more marks follow: 'e\\u0301'" in opened("e\u0301").why
    assert "its tokens of bytes spell them all" in opened("ae", byte_fallback=True).why

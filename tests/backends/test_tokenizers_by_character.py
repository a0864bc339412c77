"""Where a step Precompiled is read: by characters, and by clusters that depend on little."""

from __future__ import annotations

from tokenizers import normalizers

from tests.support.random_steps import Json, metaspace, precompiled
from tests.support.random_tokenizers import JsonTokenizer, charsmap
from ticore.consistency import Verifier


def test_what_follows_brings_back_a_text_that_was_changed() -> None:
    """A cluster of 6 bytes and more is not replaced. So no neighbours decide."""
    normalize = normalizers.Precompiled(charsmap("nmt_nfkc")).normalize_str
    assert normalize("e\u0301") == "é"
    assert normalize("e\u0301\u0316\u0317") == "e\u0301\u0316\u0317"


def opened(*tokens: str, byte_fallback: bool = False, more: tuple[Json, ...] = ()) -> Verifier:
    model = JsonTokenizer(
        "characters",
        rules=tuple((text[:1].encode(), text[1:].encode()) for text in tokens if len(text) > 1),
        more=tuple(letter.encode() for text in tokens for letter in text),
        normalizers=(precompiled(charsmap("nmt_nfkc")), *more),
        pretokenizers=(metaspace("always"),),
        byte_fallback=byte_fallback,
        decoder="llama",
        strips=True,
    )
    return Verifier(model.open())


def test_a_map_is_read_by_characters_or_by_clusters() -> None:
    for tokens in ("aeé", "b\u0316", "e\u0301", "o\u0302\u0301\u06dd", "か\u3099"):
        assert opened(*tokens).method == "table"
    assert "its tokens of bytes spell them all" in opened(*"ae", byte_fallback=True).why


def test_a_map_is_refused_where_clusters_depend_on_more() -> None:
    assert opened(*"\u2194\u0338").method == "table"
    joined = opened(*"\u2194\u0338\u200d").why
    assert "together, '\\u2194\\u0338', which what stands before them may prevent" in joined
    assert "and there are other steps" in opened(*"e\u0301", more=({"type": "Nmt"},)).why
    assert r"the token 'e\u0301', unless more marks follow" in opened("e\u0301").why

"""Every structure is exact: a few lines that follow it to the letter encode like the library."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
import regex
import tiktoken
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers

from tests.support import tokenizer_contract as contract
from tests.support.reference_encoder import ReferenceEncoder, comparable, is_read_alike
from tests.support.slow import FEW_TOKENIZERS, examples, slow_unless
from tests.support.tokenizers import HUGGING_FACE, REAL, TRAINED, sample_text
from ticore_tokenizers import HuggingFaceTokenizer

# They begin with, end with and hold one another.
OVERLAPPING = ("ab", "abc", "bcd", "bc", "the ", " the", "e t", "<|x", "x|>", "<|x|>", "日本")


@cache
def changed(name: str, change: Callable[[Any], None]) -> HuggingFaceTokenizer:
    """A trained tokenizer, as its library has it, changed in place by `change`."""
    library = Tokenizer.from_str(HUGGING_FACE[name]()._library.to_str())
    change(library)
    return HuggingFaceTokenizer(library)


def like_gemma(library: Any) -> None:
    """Spaces are replaced, none is put before the text, and tokens are added that are not special.

    One of them is found in texts with a U+2581 alone, and is an ordinary token besides.
    """
    library.normalizer = normalizers.Replace(" ", "▁")
    library.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    library.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    library.add_tokens([AddedToken(text, normalized=False) for text in (*OVERLAPPING, "▁the")])


def without_prefix(library: Any) -> None:
    """Tokens are found in the normalized text, whose normalizer replaces spaces alone."""
    like_gemma(library)
    state = json.loads(library.to_str())
    state["added_tokens"] = []
    library.__setstate__(json.dumps(state).encode())
    library.add_tokens([AddedToken(text, normalized=True) for text in OVERLAPPING])


def like_mistral(library: Any) -> None:
    """Llama's files of late: a space is put before the text unless it begins with one."""
    library.normalizer = None
    library.pre_tokenizer = pre_tokenizers.Metaspace("▁", "first", split=False)


def metaspace_apart(library: Any) -> None:
    """No space is put before the text, and tokens are added."""
    library.pre_tokenizer = pre_tokenizers.Metaspace("▁", "never", split=True)
    library.decoder = decoders.Metaspace("▁", "never")
    library.add_tokens([AddedToken(text, normalized=True) for text in OVERLAPPING])


def with_added(library: Any, normalized: bool) -> None:
    """Tokens are added that are not special; the model has the first one already."""
    word = next(w for w in sorted(library.get_vocab()) if w.isascii() and len(w) > 2)
    texts = [word, word[:2] + "!", *(text for text in OVERLAPPING if "|" not in text)]
    library.add_tokens([AddedToken(text, normalized=normalized) for text in texts])


def with_normalizer(library: Any, normalizer: normalizers.Normalizer) -> None:
    """Tokens are added which the model does not have, as a normalizer might put them together."""
    library.normalizer = normalizer
    missing = [text for text in OVERLAPPING if text not in library.get_vocab()]
    library.add_tokens([AddedToken(text, normalized=False) for text in missing])


def split_by_text(library: Any) -> None:
    """A string cuts the text, not an expression, though it might be one."""
    state = json.loads(library.pre_tokenizer.__getstate__())
    split = {"type": "Split", "pattern": {"String": "a.|"}, "behavior": "Isolated", "invert": False}
    state["pretokenizers"].insert(0, split)
    library.pre_tokenizer.__setstate__(json.dumps(state).encode())


def with_rules_again(library: Any) -> None:
    """Some rules are listed a second time, in reverse: then the last listing counts."""
    state = json.loads(library.to_str())
    merges = state["model"]["merges"]
    merges += merges[:50][::-1]
    library.__setstate__(json.dumps(state).encode())


CHOSEN = (
    "",
    " ",
    "  a  b  ",
    "<s>a<doc> the <doc>[PAR]the ",
    "a<|endoftext|>b<unk>c",
    "トトトー\u2581é\u0301\x00",
    "a" * 300,
)

CHANGED: dict[str, tuple[str, Callable[[Any], None]]] = {
    "like-gemma": ("hf-llama", like_gemma),
    "without-prefix": ("hf-llama", without_prefix),
    "like-mistral": ("hf-llama", like_mistral),
    "metaspace-apart": ("hf-metaspace", metaspace_apart),
    "added": ("hf-cl100k", partial(with_added, normalized=False)),
    "added-normalized": ("hf-o200k", partial(with_added, normalized=True)),
    "added-ignoring-merges": ("hf-ignore-merges", partial(with_added, normalized=False)),
    "nfkc": ("hf-gpt2", partial(with_normalizer, normalizer=normalizers.NFKC())),
    "nfd-lowercase": (
        "hf-o200k",
        partial(
            with_normalizer,
            normalizer=normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()]),
        ),
    ),
    "split-by-text": ("hf-cl100k", split_by_text),
    "rules-again": ("hf-cl100k", with_rules_again),
    "rules-again-llama": ("hf-llama", with_rules_again),
}

# Of a text that holds a U+2581 nothing is said where added tokens hold one, or a space.
SPACED = frozenset({"like-gemma", "without-prefix", "metaspace-apart"})

ALL = {**TRAINED, **REAL, **{name: partial(changed, *CHANGED[name]) for name in CHANGED}}
any_tokenizer = pytest.mark.parametrize("name", slow_unless(FEW_TOKENIZERS, ALL))


@cache
def reference_for(name: str) -> ReferenceEncoder:
    tokenizer = ALL[name]()
    structure = tokenizer.structure()
    assert structure is not None
    return ReferenceEncoder(tokenizer, structure)


def check(name: str, text: str) -> None:
    tokenizer, reference = ALL[name](), reference_for(name)
    expected = comparable(tokenizer.encode(text), tokenizer, reference.structure)
    assert reference.encode(text) == expected


def is_described(name: str, text: str) -> bool:
    return is_read_alike(text) and not (name in SPACED and "▁" in text)


@st.composite
def texts_with(draw: st.DrawFn, words: list[str]) -> str:
    """Texts in which some of these words stand, whole or in part."""
    word = st.sampled_from(["", *words])
    begun = st.builds(lambda word, end: word[:end], word, st.integers(0, 5))
    return "".join(draw(st.lists(word | begun | contract.texts, max_size=8)))


# Parts of words run together: in these many merges compete.
LINES = " ".join(sample_text(12, seed=2))
slices = st.lists(
    st.builds(lambda at, n: LINES[at : at + n], st.integers(0, len(LINES)), st.integers(1, 6)),
    max_size=30,
).map("".join)


@any_tokenizer
@settings(max_examples=examples(12, thorough=3000))
@given(data=st.data())
def test_structure_encodes_like_the_library(name: str, data: st.DataObject) -> None:
    added = reference_for(name).structure.added_tokens
    text = data.draw(contract.texts | texts_with(sorted(added)) | slices)
    assume(is_described(name, text))
    check(name, text)


@any_tokenizer
@given(draws=contract.numbers)
def test_structure_encodes_what_tokens_spell(name: str, draws: list[int]) -> None:
    tokenizer = ALL[name]()
    text = tokenizer.decode(contract.any_ids(tokenizer, draws))
    assume(is_described(name, text))
    check(name, text)


@any_tokenizer
def test_structure_encodes_chosen_texts(name: str) -> None:
    for text in [*CHOSEN, *sample_text(12, seed=2)]:
        if is_described(name, text):
            check(name, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "character",
    [
        r"\s",
        r"\p{L}",
        r"\p{N}",
        r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]",
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]",
        "(?i:[strevmdl])",
    ],
)
def test_libraries_agree_on_characters(character: str) -> None:
    """Those of Python, of Hugging Face and of tiktoken, so that one may follow the others."""
    every = map(chr, [*range(0xD800), *range(0xE000, 0x110000)])
    text = "".join(filter(is_read_alike, every))
    found = "".join(regex.findall(character, text))

    split = pre_tokenizers.Split(Regex(character), "removed", invert=True)
    assert "".join(part for part, _ in split.pre_tokenize_str(text)) == found
    ranks = {bytes([byte]): byte for byte in range(256)}
    library = tiktoken.Encoding("x", pat_str=character, mergeable_ranks=ranks, special_tokens={})
    assert bytes(library.encode_ordinary(text)).decode() == found

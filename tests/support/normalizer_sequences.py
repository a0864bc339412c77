"""Random sequences of normalizers of `tokenizers`, and tokenizers that begin with them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.support.random_steps import bert_normalizer
from tests.support.tokenizers import CL100K_PATTERN
from ticore.backend_kit import byte_alphabet
from ticore_tokenizers import HuggingFaceTokenizer

MARK = "▁"
LETTERS = {byte: letter for letter, byte in byte_alphabet().items()}

# Characters that normal forms compose, decompose, reorder and replace, cased ones, and those that
# the replacements below hold.
CHARACTERS = (
    "aAeé\u0301\u0323\u0327İßΣ한\u1112\u1161\u11abﬁ℃Å`'-–+…\u302e\u0958か\u3099\x00\t\u200b中"
)

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
REPLACEMENTS = (
    ("``", '"'),
    ("''", '"'),
    ("--", "-"),
    ("–", "-"),
    ("`", ""),
    ("-+", "+"),
    ("a-b", "x"),
    ("\u0301", ""),
    ("é", "e"),
    ("-", "--"),
)


@st.composite
def steps(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A normalizer's steps, as a tokenizer.json states them."""
    plain = st.sampled_from([*FORMS, "Lowercase", "StripAccents"]).map(lambda kind: {"type": kind})
    replace = st.sampled_from(REPLACEMENTS).map(
        lambda pair: {"type": "Replace", "pattern": {"String": pair[0]}, "content": pair[1]}
    )
    runs = st.sampled_from([("-{2,}", "-"), ("`+", "'"), (r"\+{2,}", "")]).map(
        lambda pair: {"type": "Replace", "pattern": {"Regex": pair[0]}, "content": pair[1]}
    )
    by_character = st.just({"type": "Nmt"}) | st.builds(
        bert_normalizer, st.booleans(), st.sampled_from((None, True, False))
    )
    return draw(st.lists(plain | plain | replace | runs | by_character, min_size=1, max_size=4))


def sequence(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": found}


def with_normalizer(tokenizer: Tokenizer, normalizer: dict[str, Any]) -> HuggingFaceTokenizer:
    state = json.loads(tokenizer.to_str())
    state["normalizer"] = normalizer
    return HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))


def byte_level(words: list[str], found: list[dict[str, Any]]) -> HuggingFaceTokenizer:
    """Byte-level BPE whose merges make some words from left to right."""
    names, merges = list(LETTERS.values()), []
    for word in words:
        name = "".join(LETTERS[byte] for byte in word.encode())
        merges += [(name[:n], name[n]) for n in range(1, len(name))]
    names += [a + b for a, b in merges]
    library = Tokenizer(
        models.BPE(
            {name: i for i, name in enumerate(dict.fromkeys(names))}, [*dict.fromkeys(merges)]
        )
    )
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CL100K_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    library.decoder = decoders.ByteLevel()
    return with_normalizer(library, sequence(found))


def space_marking(
    words: list[str], found: list[dict[str, Any]], *, prefix: bool, first: bool
) -> HuggingFaceTokenizer:
    """BPE of characters with byte fallback, whose normalizer writes spaces as marks at the end.

    Args:
        words: what merges make, from left to right.
        found: the normalizer's other steps.
        prefix: a mark is put before the text.
        first: before the other steps.
    """
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    merges = []
    marked = [word.replace(" ", MARK) for word in words]
    for name in marked:
        merges += [(name[:n], name[n]) for n in range(1, len(name))]
    names += [MARK, *"".join(marked), *(a + b for a, b in merges)]
    library = Tokenizer(
        models.BPE(
            {name: i for i, name in enumerate(dict.fromkeys(names))},
            [*dict.fromkeys(merges)],
            unk_token="<unk>",
            byte_fallback=True,
        )
    )
    strip = [decoders.Strip(" ", 1, 0)] * prefix
    library.decoder = decoders.Sequence(
        [decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    library.normalizer = normalizers.Prepend(MARK)
    prepend = [json.loads(library.to_str())["normalizer"]] * prefix
    library.normalizer = normalizers.Replace(" ", MARK)
    replace = json.loads(library.to_str())["normalizer"]
    order = [*prepend, *found, replace] if first else [*found, replace, *prepend]
    return with_normalizer(library, sequence(order))


def metaspace(
    words: list[str], found: list[dict[str, Any]], *, scheme: str, split: bool, special: bool
) -> HuggingFaceTokenizer:
    """BPE of characters whose spaces are the work of the Metaspace pretokenizer.

    Args:
        words: what merges make, from left to right.
        found: the steps of the normalizer.
        scheme: where a mark is put before the text.
        split: the text is split before every mark.
        special: there is a special added token, "<t>".
    """
    state = json.loads(
        space_marking(words, found, prefix=scheme != "never", first=True)._library.to_str()
    )
    state["normalizer"] = sequence(found) if found else None
    library = Tokenizer.from_str(json.dumps(state))
    library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    if special:
        library.add_special_tokens(["<t>"])
    return HuggingFaceTokenizer(library)


words = st.lists(
    st.text(CHARACTERS + " ", min_size=2, max_size=4).filter(lambda word: " " not in word[1:]),
    max_size=6,
)
texts = st.text(CHARACTERS + " \n", max_size=6)

"""Stable cuts: where they lie, what keeps them away, and what they rest on."""

import unicodedata

import pytest
import regex
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from tests.models import ToyTokenizer
from tests.tokenizers import TRAINED
from ticore.consistency.tail import CL100K, GPT2, QWEN2, cut_finder
from ticore.interfaces import TokenizerStructure
from ticore_tokenizers import HuggingFaceTokenizer


def cut_text(tokenizer, text):
    """The text before the last stable cut."""
    ids = tokenizer.encode(text)
    return tokenizer.decode(ids[: cut_finder(tokenizer).advance(ids, 0)])


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("one two three", "one two"),
        ("one two ", "one"),
        ("one", ""),
        ("one  two   ", ""),
        ("one two  x", "one"),
        ("one\ntwo three", "one\ntwo"),
    ],
)
def test_words(text, before):
    """Before a single space and something after it."""
    assert cut_text(TRAINED["sp-bpe"](), text) == before


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("one two three", "one two"),
        ("one two t", "one two"),
        ("one two ", "one"),
        ("one two'", "one"),
        ("one two'r", "one two"),
        ("one\n\n", ""),
    ],
)
def test_pretokens(text, before):
    """At a boundary with a non-space and two characters after it."""
    assert cut_text(TRAINED["hf-gpt2"](), text) == before


@pytest.mark.parametrize("text", ["one two \u0378 three", "one tw\u017f three four"])
def test_characters_that_libraries_disagree_on(text):
    assert cut_text(TRAINED["hf-gpt2"](), text) == ""


def test_a_character_that_may_compose():
    tokenizer = TRAINED["hf-cl100k-nfc"]()
    assert cut_text(tokenizer, "one !\u0338x") != "one !"


@pytest.mark.parametrize(
    ("text", "before"), [("one two <ab", "one two"), ("one <t> two three", "")]
)
def test_added_tokens(text, before):
    """Half written or whole, one keeps cuts away."""
    alphabet = {c: n for n, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    plain = Tokenizer(models.BPE(alphabet, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    plain.add_tokens([AddedToken("<t>", normalized=False)])
    assert cut_text(HuggingFaceTokenizer(plain), text).rstrip() == before


@pytest.mark.parametrize("pattern", [GPT2, CL100K, QWEN2], ids=["gpt2", "cl100k", "qwen2"])
def test_python_splits_as_the_library_does(pattern):
    """For every assigned character, among letters, digits, spaces, quotes and its own kind."""
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    compiled = regex.compile(pattern)
    for character in map(chr, range(0x110000)):
        if unicodedata.category(character) not in ("Cs", "Cn"):
            c = character
            text = f"a{c}b {c}{c} 1{c}!{c}'{c}x{c}  {c}\n{c}"
            theirs = [span for _, span in split.pre_tokenize_str(text)]
            assert theirs == [match.span() for match in compiled.finditer(text)], hex(ord(c))


@pytest.mark.parametrize(
    ("structure", "why"),
    [
        (None, "structure is not known"),
        (TokenizerStructure("unigram"), "unigram tokenizer has no stable cuts"),
        (TokenizerStructure("bpe", normalizer="nfkc"), "'nfkc' may work across a cut"),
        (TokenizerStructure("bpe", normalizer="nfkc", pretokenizer=GPT2), "'nfkc' may work"),
        (TokenizerStructure("bpe", keeps_whitespace=False), "drops spaces"),
        (TokenizerStructure("bpe", pretokenizer=r"\w+"), "not one of those known"),
    ],
)
def test_where_there_are_none(structure, why):
    class Described(ToyTokenizer):
        def structure(self):
            return structure

    assert why in cut_finder(Described(["a"]))

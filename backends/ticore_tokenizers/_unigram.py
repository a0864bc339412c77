"""A tokenizer.json whose model is Unigram, such as T5's, as a TokenizerStructure.

Its normalizer must work character by character on the texts that its pieces can spell, white space
aside. So whether it leaves a text alone shows in each character.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import WhitespaceSplit

from ticore.backend_kit import CharacterMap, NoStructure, tokenizer_failure
from ticore.interfaces import TokenizerStructure

from ._byte_fallback import byte_fallback_ids
from ._normalizers import Normalize, TokenizerJson
from ._space_marks import MARK, REPLACE
from ._spelling import spelling, strips_a_space

_WORDS = " [^ ]*"  # a part of the text begins before every space
_UNKNOWN_PENALTY = 10.0
_PREPEND = {"type": "Prepend", "prepend": MARK}


@dataclass(frozen=True)
class _Reading:
    """How a text is read before segmentation: fields of TokenizerStructure."""

    normalizer: str
    normalize: Normalize | None
    pretokenizer: tuple[str, ...]
    dummy_prefix: bool
    keeps_whitespace: bool


def describe_unigram(library: Tokenizer, state: TokenizerJson, size: int) -> TokenizerStructure:
    """The structure of a tokenizer whose model is Unigram.

    Args:
        library: the tokenizer, whose decoder `spelling` accepts.
        state: its tokenizer.json.
        size: its highest id + 1.

    Raises:
        NoStructure: no structure describes it exactly.
    """
    model, spell = state["model"], spelling(state["decoder"])
    if unknown := model.keys() - {"type", "unk_id", "vocab", "byte_fallback"}:
        raise NoStructure(f"its model has the setting {min(unknown)}, which is not known here")
    added = _added_tokens(state)
    names = {name: i for i, (name, _) in enumerate(model["vocab"])}  # of equal names the last
    scores = np.zeros(size, dtype=np.float64)
    scores[: len(model["vocab"])] = [score for _, score in model["vocab"]]
    byte_ids = byte_fallback_ids(model, names)
    if byte_ids and state["decoder"]["type"] == "Metaspace":
        raise NoStructure("its Metaspace decoder writes the names of bytes")
    special = {*added.values(), *byte_ids, model["unk_id"]}
    texts = {
        name: i
        for name, i in names.items()
        if i not in special and " " not in name and spell(name) == _text(name).encode()
    }
    unwritten = {
        _text(name): float(scores[i])
        for name, i in names.items()
        if name not in texts and name not in added and " " not in name
    }
    pieces = np.zeros(size, dtype=np.bool_)
    pieces[list(texts.values())] = True
    reading = _reading(library, state, set().union(*map(_text, texts)), bool(byte_ids))
    _require_plain(state, names, texts, reading, added)
    return TokenizerStructure(
        kind="unigram",
        atoms="characters",
        pieces=pieces,
        scores=scores,
        byte_ids=byte_ids,
        normalizer=reading.normalizer,
        normalize=reading.normalize,
        pretokenizer=reading.pretokenizer,
        dummy_prefix=reading.dummy_prefix,
        keeps_whitespace=reading.keeps_whitespace,
        added_tokens=added,
        score_sums="float64",
        unknown_score=min(score for _, score in model["vocab"]) - _UNKNOWN_PENALTY,
        unwritten_pieces=unwritten,
    )


def _text(name: str) -> str:
    return name.replace(MARK, " ")


def _added_tokens(state: TokenizerJson) -> dict[str, int]:
    """The texts of added tokens, all of them special, and their ids.

    A text that holds one is never read back, whatever white space the token takes with it.
    """
    for token in state["added_tokens"]:
        text = token["content"]
        if not token["special"]:
            raise NoStructure(f"its added token {text!r} is not marked special")
        if token["single_word"]:
            raise NoStructure(f"its added token {text!r} has the flag single_word")
        if token["normalized"]:
            raise NoStructure(f"its added token {text!r} is looked for in the normalized text")
    return {token["content"]: token["id"] for token in state["added_tokens"]}


def _require_plain(
    state: TokenizerJson,
    names: dict[str, int],
    texts: dict[str, int],
    reading: _Reading,
    added: dict[str, int],
) -> None:
    vocabulary, decoder = state["model"]["vocab"], state["decoder"]
    if "" in names or not all(isfinite(score) for _, score in vocabulary):
        raise NoStructure("a token of its model is empty, or has no finite score")
    # Else some unknown characters together may be a token all the same.
    unknown = None if state["model"]["unk_id"] is None else vocabulary[state["model"]["unk_id"]][0]
    if min(score for _, score in vocabulary) > _UNKNOWN_PENALTY:
        raise NoStructure("its scores are so high that unknown characters are likely")
    if unknown not in {None, *added} and sum(str(unknown) in name for name in names) > 1:
        raise NoStructure(f"a token of its model holds the name of the unknown one, {unknown!r}")
    if MARK not in texts:
        raise NoStructure("no token of its model is a single space")
    if reading.dummy_prefix != strips_a_space(decoder):
        raise NoStructure("its decoder does not remove the space that is put before a text")
    if decoder["type"] == "Metaspace" and reading.dummy_prefix and not reading.pretokenizer:
        spaced = [name for name in texts if MARK in name[1:]]
        if not reading.keeps_whitespace:  # two spaces are never read
            spaced = [name for name in spaced if MARK * 2 not in name]
        if spaced:
            raise NoStructure(f"its decoder removes all spaces of the first token: {spaced[0]!r}")


def _reading(
    library: Tokenizer, state: TokenizerJson, alphabet: set[str], has_bytes: bool
) -> _Reading:
    """How a text is read.

    Args:
        library, state: the tokenizer.
        alphabet: the characters of its pieces.
        has_bytes: whether there are tokens for bytes, which spell every other character.
    """
    steps = list(_steps(state["normalizer"]))
    prefixed = _PREPEND in steps[:1]
    steps = [step for step in steps[prefixed:] if step != REPLACE]
    marks = _read_marks(state["pre_tokenizer"], prefixed)
    if not steps and not marks.splits_words:
        # Metaspace puts no space before a text that begins with one.
        own = _without_own_space if marks.prefix and not prefixed else None
        name = "identity" if own is None else "metaspace"
        return _Reading(name, own, marks.pretokenizer, marks.prefix, keeps_whitespace=True)
    for step in steps:
        _require_characterwise(step, alphabet, has_bytes)
    normalize = _Normalize(library, marks)
    keeps = _keeps_whitespace(normalize, marks.prefix)
    return _Reading("by_character", normalize, marks.pretokenizer, marks.prefix, keeps)


@dataclass(frozen=True)
class _Marks:
    """What a pretokenizer does.

    Attributes:
        prefix: a space is put before a text, by the pretokenizer or before it.
        splits_words: it drops all white space, and puts a space before each word.
        pretokenizer: see TokenizerStructure.
    """

    prefix: bool
    splits_words: bool = False
    pretokenizer: tuple[str, ...] = ()


def _read_marks(pretokenizer: TokenizerJson | None, prefixed: bool) -> _Marks:
    match pretokenizer:
        case None:
            return _Marks(prefixed)
        case {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}:
            splits_words = True
        case _:
            metaspace, splits_words = dict(pretokenizer), False
    match metaspace:
        case {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}:
            if splits_words and scheme != "always":
                raise NoStructure(
                    f"its pretokenizer drops the spaces between words (prepend_scheme {scheme!r})"
                )
            if not prefixed:
                parts = (_WORDS,) if split or splits_words else ()
                return _Marks(scheme != "never", splits_words, parts)
    raise NoStructure("its pretokenizer is not Metaspace alone, or after WhitespaceSplit")


def _without_own_space(text: str) -> str:
    """The text without its first space: that space takes the place of the dummy prefix."""
    return _text(text).removeprefix(" ")


class _Normalize:
    """What a text becomes, without the space that is put before it.

    Args:
        library: the tokenizer, whose normalizer is used.
        marks: what its pretokenizer does.
    """

    def __init__(self, library: Tokenizer, marks: _Marks) -> None:
        self._library, self._marks = library, marks
        self._normalizer = library.normalizer
        self._splitter = WhitespaceSplit()

    def __reduce__(self) -> tuple[type[_Normalize], tuple[Tokenizer, _Marks]]:
        # Of the library's objects, some normalizers cannot be pickled by themselves.
        return _Normalize, (self._library, self._marks)

    def __call__(self, text: str) -> str:
        try:
            normal = text if self._normalizer is None else self._normalizer.normalize_str(text)
        except BaseException as error:
            raise tokenizer_failure(error, f"a text of {len(text):,} characters") from None
        if self._marks.splits_words:
            words = (word for word, _ in self._splitter.pre_tokenize_str(normal))
            return " ".join(map(_without_own_space, words))
        return _without_own_space(normal) if self._marks.prefix else _text(normal)


def _keeps_whitespace(normalize: Normalize, prefix: bool) -> bool:
    """Whether all spaces are kept, but for a first one that takes the place of the prefix."""
    texts = "|  |", "| ", " |"
    found = tuple(map(normalize, texts))
    if found == ("| |", "|", "|"):
        return False
    if found[:2] == texts[:2] and (prefix or found[2] == texts[2]):
        return True
    raise NoStructure("its normalizer drops some spaces, but not all at the ends and of several")


def _steps(normalizer: TokenizerJson | None) -> Iterator[TokenizerJson]:
    if normalizer is None:
        return
    if normalizer["type"] == "Sequence":
        for step in normalizer["normalizers"]:
            yield from _steps(step)
    else:
        yield normalizer


def _require_characterwise(step: TokenizerJson, alphabet: set[str], has_bytes: bool) -> None:
    """Refuse a step of a normalizer that may change neighbours together, but for white space.

    Raises:
        NoStructure: for such a step.
    """
    match step:
        case {"type": "Strip"}:
            return  # white space at the ends
        case {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " " | "▁"}:
            return
        case {"type": "Precompiled", "precompiled_charsmap": str(encoded)} if not has_bytes:
            _require_no_neighbours(CharacterMap(b64decode(encoded)), alphabet)
            return
    raise NoStructure(
        f"its normalizer {step['type']} may change several characters together"
        + ("; it has tokens for bytes, which spell every character" if has_bytes else "")
    )


def _require_no_neighbours(character_map: CharacterMap, alphabet: set[str]) -> None:
    # The library replaces some texts of several characters, and not others: that depends on what
    # stands around them. Where no piece can spell one, this does not matter.
    replaced = dict(character_map.replaced(alphabet, alphabet))
    together = [text for text in replaced if len(text) > 1]
    # Nor may what one character becomes stand for another one, so that all together is as before.
    dropped = {text for text, result in replaced.items() if not result}
    together += [
        text for text, result in replaced.items() if result and result[0] in {text, *dropped}
    ]
    if together:
        raise NoStructure(
            f"its normalizer (Precompiled) changes some characters of its tokens together: "
            f"{min(together)!r}"
        )

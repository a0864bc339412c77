"""A tokenizer.json whose model is Unigram, such as T5's, as a TokenizerStructure."""

from __future__ import annotations

from math import isfinite

import numpy as np
from tokenizers import Tokenizer

from ticore.backend_kit import NoStructure
from ticore.interfaces import AddedTokenFlags, TokenizerStructure

from ._byte_fallback import byte_fallback_ids, require_ordinary_bytes
from ._normalizers import TokenizerJson
from ._space_marks import MARK, as_text
from ._spelling import spelling, strips_a_space
from ._unigram_reading import WORDS, Reading, read_text

_UNKNOWN_PENALTY = 10.0


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
    special = {*added.values(), model["unk_id"]}
    require_ordinary_bytes(byte_ids, special)
    no_pieces = special.union(byte_ids)
    texts = {
        name: i
        for name, i in names.items()
        if i not in no_pieces and " " not in name and spell(name) == as_text(name).encode()
    }
    unwritten = {
        as_text(name): float(scores[i])
        for name, i in names.items()
        if name not in texts and name not in added and " " not in name
    }
    pieces = np.zeros(size, dtype=np.bool_)
    pieces[list(texts.values())] = True
    reading = read_text(library, state, set().union(*map(as_text, texts)), bool(byte_ids))
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
        replacements=reading.replacements,
        added_tokens=added,
        score_sums="float64",
        unknown_score=min(score for _, score in model["vocab"]) - _UNKNOWN_PENALTY,
        unwritten_pieces=unwritten,
        added_flags={
            token["content"]: AddedTokenFlags(single_word=True)
            for token in state["added_tokens"]
            if token["single_word"]
        },
    )


def _added_tokens(state: TokenizerJson) -> dict[str, int]:
    """The texts of added tokens, all of them special, and their ids.

    A text that holds one is never read back, whatever white space the token takes with it.
    """
    for token in state["added_tokens"]:
        text = token["content"]
        if not token["special"]:
            raise NoStructure(f"its added token {text!r} is not marked special")
        if token["normalized"]:
            raise NoStructure(f"its added token {text!r} is looked for in the normalized text")
    return {token["content"]: token["id"] for token in state["added_tokens"]}


def _require_plain(
    state: TokenizerJson,
    names: dict[str, int],
    texts: dict[str, int],
    reading: Reading,
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
    # The library looks for added tokens before it puts that space, and so in another text.
    spaced_token = next((text for text in added if text.startswith(" ")), None)
    if reading.dummy_prefix and spaced_token is not None:
        raise NoStructure(
            f"its added token {spaced_token!r} begins with a space, and one is put before a text"
        )
    if (
        decoder["type"] == "Metaspace"
        and reading.dummy_prefix
        and WORDS not in reading.pretokenizer
    ):
        spaced = [name for name in texts if MARK in name[1:]]
        if not reading.keeps_whitespace:  # two spaces are never read
            spaced = [name for name in spaced if MARK * 2 not in name]
        if spaced:
            raise NoStructure(f"its decoder removes all spaces of the first token: {spaced[0]!r}")

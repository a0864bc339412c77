"""Random tokenizers built with the real libraries: tokenizer.json files and SentencePiece models.

Their normalizers, pretokenizers and added tokens are any that the libraries can state, in any
sequence; many of them lose text, and a `Verifier` need not know them all. Whatever method it
reaches, its answers must be the oracle's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from tempfile import NamedTemporaryFile
from typing import Any, Literal, Protocol

from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Tokenizer

from tests.support.random_bpe import alphabets, split_up, words
from tests.support.random_steps import (
    MARK,
    Json,
    added_tokens,
    byte_level_step,
    byte_level_steps,
    metaspace,
    normalizer_steps,
    precompiled,
    rarely,
    replace,
    spaces_marked,
)
from tests.support.tokenizers import train_sentencepiece
from ticore.backend_kit import byte_alphabet
from ticore.interfaces import Tokenizer as AnyTokenizer
from ticore_sentencepiece import SentencePieceTokenizer
from ticore_tokenizers import HuggingFaceTokenizer

_NAMES = {byte: name for name, byte in byte_alphabet().items()}
_BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
_UNKNOWN = "<unk>"


class RandomTokenizer(Protocol):
    """What a random tokenizer is made of.

    Its `texts` are what it has tokens for, and its `repr` is the code that makes it again.
    """

    @property
    def texts(self) -> Sequence[str]: ...

    def open(self) -> AnyTokenizer: ...


@dataclass(frozen=True)
class JsonTokenizer:
    """A tokenizer.json.

    Args:
        model: BPE of bytes, BPE of characters, or unigram.
        rules: pairs that merge, lowest rank first.
        more: pieces without a rule.
        scores: pieces of unigram and their scores.
        normalizers: in order, as a tokenizer.json states them.
        pretokenizers: likewise.
        added: texts of added tokens, and the flags that are set.
        ignore_merges: a part that is a piece becomes that piece.
        byte_fallback: characters that are no piece are spelled in bytes.
        lacking: bytes that have no token of their own.
        fuse_unk: a run of unknown characters is one token.
        decoder: its name; `llama` for the steps of Llama's.
        strips: whether the decoder drops a leading space.
    """

    model: Literal["bytes", "characters", "unigram"]
    rules: tuple[tuple[bytes, bytes], ...] = ()
    more: tuple[bytes, ...] = ()
    scores: tuple[tuple[str, float], ...] = ()
    normalizers: tuple[Json, ...] = ()
    pretokenizers: tuple[Json, ...] = ()
    added: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ignore_merges: bool = False
    byte_fallback: bool = False
    lacking: tuple[int, ...] = ()
    fuse_unk: bool = False
    decoder: Literal["bytes", "metaspace", "llama"] = "bytes"
    strips: bool = False

    @property
    def texts(self) -> list[str]:
        made = [first + second for first, second in self.rules]
        found = [word.decode(errors="ignore") for word in (*made, *self.more)]
        return [*found, *(text for text, _ in self.scores), *(text for text, _ in self.added)]

    def open(self) -> HuggingFaceTokenizer:
        state = {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": _in_sequence("normalizers", self.normalizers),
            "pre_tokenizer": _in_sequence("pretokenizers", self.pretokenizers),
            "post_processor": None,
            "decoder": self._decoder(),
            "model": self._unigram() if self.model == "unigram" else self._bpe(),
        }
        library = Tokenizer.from_str(json.dumps(state))
        for text, flags in self.added:
            settings = {"normalized": False} | dict.fromkeys(flags, True)
            library.add_tokens([AddedToken(text, **settings)])
        return HuggingFaceTokenizer(library)

    def _bpe(self) -> Json:
        name = _byte_level_name if self.model == "bytes" else _character_name
        merges = [[name(first), name(second)] for first, second in self.rules]
        parts = [part for pair in merges for part in (*pair, "".join(pair))]
        parts += [name(word) for word in self.more]
        if self.model == "bytes":
            atoms = [*_NAMES.values()]
        else:
            atoms = [_UNKNOWN, *self._byte_names(), MARK]
            atoms += sorted({character for part in parts for character in part})
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": None if self.model == "bytes" else _UNKNOWN,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": self.fuse_unk,
            "byte_fallback": self.byte_fallback,
            "ignore_merges": self.ignore_merges,
            "vocab": {part: n for n, part in enumerate(dict.fromkeys([*atoms, *parts]))},
            "merges": merges,
        }

    def _unigram(self) -> Json:
        scores = {text.replace(" ", MARK): score for text, score in self.scores}
        return {
            "type": "Unigram",
            "unk_id": 0,
            "byte_fallback": self.byte_fallback,
            "vocab": [
                [_UNKNOWN, 0.0],
                *([name, 0.0] for name in self._byte_names()),
                *map(list, scores.items()),
            ],
        }

    def _byte_names(self) -> list[str]:
        names = enumerate(_BYTE_NAMES)
        return [name for n, name in names if self.byte_fallback and n not in self.lacking]

    def _decoder(self) -> Json:
        if self.decoder == "bytes":
            return byte_level_step(use_regex=True)
        if self.decoder == "metaspace":
            return metaspace("always" if self.strips else "never")
        steps: list[Json] = [replace(MARK, " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
        if self.strips:
            steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
        return {"type": "Sequence", "decoders": steps}


@dataclass(frozen=True)
class SentencePieceModel:
    """A SentencePiece model.

    Args:
        kind: of model.
        scores: of pieces, with spaces for marks.
        user_defined: pieces that are found before anything else.
        unused: pieces that are never given.
        byte_fallback: characters that are no piece are spelled in bytes.
        dummy_prefix: a space is put before each text, or after it.
        squeezes: runs of spaces become one space, and those at both ends are dropped.
        suffixes: spaces end words instead of beginning them.
        rules: the name of the normalizer, as in SentencePiece.
    """

    kind: Literal["bpe", "unigram"]
    scores: tuple[tuple[str, float], ...]
    user_defined: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    byte_fallback: bool = True
    dummy_prefix: bool = True
    squeezes: bool = False
    suffixes: bool = False
    rules: str = "identity"

    @property
    def texts(self) -> list[str]:
        return [*(text for text, _ in self.scores), *self.user_defined, *self.unused]

    def open(self) -> SentencePieceTokenizer:
        proto = sentencepiece_model_pb2.ModelProto()
        kinds = sentencepiece_model_pb2.ModelProto.SentencePiece
        proto.trainer_spec.model_type = 2 if self.kind == "bpe" else 1
        proto.trainer_spec.byte_fallback = self.byte_fallback
        proto.trainer_spec.treat_whitespace_as_suffix = self.suffixes
        proto.normalizer_spec.name = self.rules
        if self.rules != "identity":
            proto.normalizer_spec.precompiled_charsmap = charsmap(self.rules)
        proto.normalizer_spec.add_dummy_prefix = self.dummy_prefix
        proto.normalizer_spec.remove_extra_whitespaces = self.squeezes
        proto.pieces.add(piece=_UNKNOWN, type=kinds.UNKNOWN)
        proto.pieces.add(piece="<s>", type=kinds.CONTROL)
        for name in _BYTE_NAMES if self.byte_fallback else ():
            proto.pieces.add(piece=name, type=kinds.BYTE)
        types = dict.fromkeys(self.unused, kinds.UNUSED)
        types |= dict.fromkeys(self.user_defined, kinds.USER_DEFINED)
        scores = dict.fromkeys((*self.user_defined, *self.unused), 0.0) | dict(self.scores)
        for text, score in scores.items():
            type_ = types.get(text, kinds.NORMAL)
            proto.pieces.add(piece=text.replace(" ", MARK), score=score, type=type_)
        return SentencePieceTokenizer(proto.SerializeToString())


OWN_RULES = {
    "pairs": {"aa": "x", "b": "c", "é": "e", "い": "あ"},
    "letters": {"\n": " ", "\u0301": "", "1": "一", "A": "a"},
    "longer": {"ab": "x", "aab": "y", "あいう": "z", "日本語": "国"},
    "undone": {"a": "", "b": "ab"},
    "spaced": {" a": "x", "\u3000": " "},
}
"""Rules of a normalizer that is no one of SentencePiece's own."""


@cache
def charsmap(name: str) -> bytes:
    """The rules that SentencePiece has under this name."""
    if name in OWN_RULES:
        with NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
            for old, new in OWN_RULES[name].items():
                columns = (" ".join(f"{ord(c):X}" for c in text) for text in (old, new))
                file.write("\t".join(columns) + "\n")
            file.flush()
            trained = train_sentencepiece(normalization_rule_tsv=file.name)
    else:
        trained = train_sentencepiece(normalization_rule_name=name)
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(trained._library.serialized_model_proto())
    return bytes(model.normalizer_spec.precompiled_charsmap)


def _byte_level_name(data: bytes) -> str:
    return "".join(_NAMES[byte] for byte in data)


def _character_name(data: bytes) -> str:
    return data.decode().replace(" ", MARK)


def _in_sequence(field: str, steps: Sequence[Json]) -> Json | None:
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else {"type": "Sequence", field: list(steps)}


@st.composite
def merges(draw: st.DrawFn, *, of_bytes: bool) -> dict[str, Any]:
    """Merge rules in any order, and pieces without a rule."""
    alphabet = draw(alphabets) if of_bytes else draw(alphabets) + " "
    found = draw(words(alphabet, of_bytes))
    rules = list(dict.fromkeys(r for word in found for r in split_up(draw, word, of_bytes)))
    if draw(st.booleans()):
        rules = draw(st.permutations(rules))
    more = tuple(draw(words(alphabet, of_bytes))[:2]) if draw(st.booleans()) else ()
    return {"rules": tuple(rules), "more": more}


@st.composite
def byte_level(draw: st.DrawFn) -> JsonTokenizer:
    """Byte-level BPE whose text is split in any way."""
    return JsonTokenizer(
        "bytes",
        normalizers=draw(normalizer_steps()),
        pretokenizers=draw(byte_level_steps()),
        added=draw(added_tokens()),
        ignore_merges=draw(st.booleans()),
        **draw(merges(of_bytes=True)),
    )


_LACKING = st.sampled_from((0x09, 0x0A, 0x61, 0x81, 0xC3, 0xCC, 0xE3, 0xF0, 0xFF))


@st.composite
def byte_fallback(draw: st.DrawFn) -> dict[str, Any]:
    """Whether there are tokens of bytes, and which of them are missing; most often none is."""
    some = st.lists(_LACKING, unique=True, min_size=1, max_size=2).map(tuple)
    return {
        "byte_fallback": draw(st.booleans()),
        "lacking": draw(some) if rarely(draw, 4) else (),
    }


_STRIP = {"type": "Strip", "strip_left": False, "strip_right": True}
_SQUEEZE = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": MARK}
_CLEANED = (
    *(replace("``", '"'), replace("''", '"')),
    *({"type": name} for name in ("NFKD", "StripAccents", "Lowercase")),
)


@st.composite
def sentencepiece_steps(draw: st.DrawFn) -> tuple[Json, ...]:
    """What normalizers of published SentencePiece models become in a tokenizer.json."""
    rules = charsmap(draw(st.sampled_from(("nmt_nfkc", "nmt_nfkc_cf"))))
    return (
        *(draw(st.sampled_from(((), _CLEANED, _CLEANED[2:])))),
        *((precompiled(rules),) if draw(st.booleans()) else ()),
        *draw(st.sampled_from(((), (_STRIP, _SQUEEZE)))),
    )


@st.composite
def space_marking(draw: st.DrawFn) -> JsonTokenizer:
    """BPE of characters that marks spaces, as SentencePiece does."""
    steps = draw(spaces_marked())
    if rarely(draw, 3):
        steps["normalizers"] = (*draw(sentencepiece_steps()), *steps["normalizers"])
    return JsonTokenizer(
        "characters",
        added=draw(added_tokens()),
        ignore_merges=rarely(draw, 6),
        fuse_unk=draw(st.booleans()),
        **draw(byte_fallback()),
        **steps,
        **draw(merges(of_bytes=False)),
    )


@st.composite
def piece_scores(draw: st.DrawFn) -> tuple[tuple[str, float], ...]:
    """Pieces, and scores with many ties. Most often all characters of the pieces are pieces too."""
    alphabet = draw(alphabets) + " "
    texts = st.text(st.sampled_from(alphabet), min_size=1, max_size=5)
    scores = draw(st.dictionaries(texts, st.integers(1, 40), min_size=1, max_size=12))
    letters = sorted(set(alphabet if rarely(draw, 4) else "".join(scores)))
    if rarely(draw, 4):
        letters = letters[::2]
    units = {" ": 30} | dict.fromkeys(letters, draw(st.integers(10, 40))) | scores
    unit = draw(st.sampled_from((0.1, 0.5, 1300.7)))
    return tuple((text, -unit * count) for text, count in units.items())


@st.composite
def unigram(draw: st.DrawFn) -> JsonTokenizer:
    """Unigram in a tokenizer.json, as T5 and XLM-RoBERTa have it."""
    steps = draw(spaces_marked())
    if draw(st.booleans()):
        steps["normalizers"] = (*draw(sentencepiece_steps()), *steps["normalizers"])
    return JsonTokenizer(
        "unigram",
        scores=draw(piece_scores()),
        added=draw(added_tokens()),
        **draw(byte_fallback()),
        **steps,
    )


_NEVER_MADE = ("[PAD1]", " b[c")  # of no two pieces
_USER_DEFINED = ("<doc>", "ab", " a", "a ", "aa", "\n", "  ", "é", "い")


@st.composite
def sentencepiece_models(draw: st.DrawFn, kind: Literal["bpe", "unigram"]) -> SentencePieceModel:
    """SentencePiece models, some with user-defined and unused pieces."""
    scores = draw(piece_scores())
    user_defined: tuple[str, ...] = ()
    if rarely(draw, 3):
        some = st.lists(st.sampled_from(_USER_DEFINED), unique=True, min_size=1, max_size=3)
        user_defined = tuple(draw(some))
    longer = sorted(text for text, _ in scores if len(text) > 1 and text not in user_defined)
    suffixes = rarely(draw, 8)
    return SentencePieceModel(
        kind,
        scores,
        user_defined,
        unused=(draw(st.sampled_from([*longer, *_NEVER_MADE])),) if rarely(draw, 8) else (),
        byte_fallback=draw(st.booleans()),
        dummy_prefix=draw(st.booleans()),
        squeezes=suffixes or rarely(draw, 3),  # else no text is read back
        suffixes=suffixes,
        rules=draw(
            st.sampled_from(("identity", "nmt_nfkc", "nfkc_cf"))
            | st.sampled_from(("identity", *OWN_RULES))
        ),
    )


FAMILIES: dict[str, st.SearchStrategy[Any]] = {
    "byte-level": byte_level(),
    "space-marking": space_marking(),
    "unigram": unigram(),
    "sentencepiece-bpe": sentencepiece_models("bpe"),
    "sentencepiece-unigram": sentencepiece_models("unigram"),
}
"""Strategies of `RandomTokenizer` by what they have in common."""


@st.composite
def texts_of(draw: st.DrawFn, tokenizer: RandomTokenizer) -> str:
    """A text of a tokenizer's words, of runs, and of beginnings and ends of words."""
    known = [text.replace(MARK, " ") for text in tokenizer.texts if text]
    characters = sorted({*"".join(known), *"aA' \n1"})
    some = st.sampled_from(characters)
    runs = st.builds(lambda c, n: c * n, some, st.integers(2, 7))
    pieces = some | runs | st.sampled_from(("'s", "'Ll", " a", "\r\n", "  b", "12", "e\u0301", "."))
    if known:
        ends = st.builds(lambda t, n: t[n:], st.sampled_from(known), st.integers(0, 3))
        pieces |= st.sampled_from(known) | ends
        pieces |= st.builds(lambda t, n: t[:n], st.sampled_from(known), st.integers(1, 4))
    return "".join(draw(st.lists(pieces, max_size=8)))

"""Random tokenizers built with the real libraries: tokenizer.json files and SentencePiece models.

Their normalizers, pretokenizers and added tokens are any that the libraries can state, in any
sequence; many of them lose text, and a `Verifier` need not know them all. Whatever method it
reaches, its answers must be the oracle's.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol

from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Tokenizer

from tests.support.random_bpe import alphabets, few_characters, split_up, words
from tests.support.tokenizers import train_sentencepiece
from ticore.consistency import Verifier
from ticore.consistency._engines.retokenizing import Oracle
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import Tokenizer as AnyTokenizer
from ticore_sentencepiece import SentencePieceTokenizer
from ticore_tokenizers import HuggingFaceTokenizer
from ticore_tokenizers._spelling import byte_alphabet

Json = Mapping[str, Any]
MODES = ("prefix", "prefix", "open", "viable")

MARK = "▁"
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
            atoms = [_UNKNOWN, *(_BYTE_NAMES if self.byte_fallback else ()), MARK]
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
        names = _BYTE_NAMES if self.byte_fallback else []
        return {
            "type": "Unigram",
            "unk_id": 0,
            "byte_fallback": self.byte_fallback,
            "vocab": [
                [_UNKNOWN, 0.0],
                *([name, 0.0] for name in names),
                *map(list, scores.items()),
            ],
        }

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
        return [*(text for text, _ in self.scores), *self.user_defined]

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
        scores = dict.fromkeys(self.user_defined, 0.0) | dict(self.scores)
        for text, score in scores.items():
            type_ = types.get(text, kinds.NORMAL)
            proto.pieces.add(piece=text.replace(" ", MARK), score=score, type=type_)
        return SentencePieceTokenizer(proto.SerializeToString())


@cache
def charsmap(name: str) -> bytes:
    """The rules that SentencePiece has under this name."""
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


def replace(old: str, new: str) -> Json:
    """The step that replaces a string, of normalizers and decoders."""
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def byte_level_step(*, use_regex: bool, add_prefix_space: bool = False) -> Json:
    """The step ByteLevel, of pretokenizers and decoders."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def metaspace(prepend_scheme: str, *, split: bool = True) -> Json:
    """The step Metaspace, of pretokenizers and decoders."""
    return {
        "type": "Metaspace",
        "replacement": MARK,
        "prepend_scheme": prepend_scheme,
        "split": split,
    }


# What GPT-2, cl100k, o200k, DeepSeek and others split a text by.
_ALTERNATIVES = (
    r"'s|'t|'re|'ve|'m|'ll|'d",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    r"'(?i:[sdmt]|ll|ve|re)",
    r" ?\p{L}+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r" ?\p{N}+",
    r"\p{N}{1,3}",
    r"\p{N}",
    r" ?[^\s\p{L}\p{N}]+",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
    r"\s",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
)
_CLASSES = (
    *(r"\p{L}", r"\p{N}", r"\s", r"\S", r"[^\s\p{L}\p{N}]", r"[^\s\p{L}]", r"[^\r\n\p{L}\p{N}]"),
    *(r"[\r\n]", r"[\p{Lu}\p{Lt}]", r"[\p{Ll}\p{M}]", r"\p{M}", r"[\p{P}\p{S}]", r"\p{Han}"),
    *("[a-z]", "[0-9]", "[一-龥]", " ", "'", "a", "ab", "\\w", "."),
)
_QUANTIFIERS = ("", "", "?", "+", "+", "+", "*", "{1,3}", "{2}", "{2,}", "++", "?+", "+?", "{1,2}+")
_AHEAD = ("", "", "", r"(?!\S)", r"(?=\s)", r"(?!\p{L})", r"(?=[\r\n])", "$")
_BEHIND = ("", "", "", "", r"(?<=\s)", r"(?<!\p{L})", "^")

_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_LOSSLESS = st.sampled_from(_BEHAVIORS[1:])


@st.composite
def alternatives(draw: st.DrawFn) -> str:
    """One alternative of an expression: a known one, or a few classes with quantifiers."""
    if draw(st.integers(0, 2)):
        return draw(st.sampled_from(_ALTERNATIVES))
    count = draw(st.integers(1, 3))
    units = [
        draw(st.sampled_from(_CLASSES)) + draw(st.sampled_from(_QUANTIFIERS)) for _ in range(count)
    ]
    return "".join((draw(st.sampled_from(_BEHIND)), *units, draw(st.sampled_from(_AHEAD))))


expressions = st.lists(alternatives(), min_size=1, max_size=5).map("|".join)


@st.composite
def splits(draw: st.DrawFn) -> Json:
    """A Split, by an expression or a string. One in eight drops text."""
    if draw(st.integers(0, 4)):
        pattern = {"Regex": draw(expressions)}
    else:
        pattern = {"String": draw(st.sampled_from((" ", "a", "\n", "'", "ab", "  ", ".", "あ")))}
    loses = not draw(st.integers(0, 7))
    behavior = "Removed" if loses else draw(st.just("Isolated") | _LOSSLESS)
    return {
        "type": "Split",
        "pattern": pattern,
        "behavior": behavior,
        "invert": draw(st.booleans()) if loses else not draw(st.integers(0, 3)),
    }


_DIGITS = st.builds(lambda each: {"type": "Digits", "individual_digits": each}, st.booleans())
_PUNCTUATION = st.builds(lambda how: {"type": "Punctuation", "behavior": how}, _LOSSLESS)
# Whitespace is lost, or parts end where no known tokenizer ends them.
_RARE: tuple[Json, ...] = (
    {"type": "UnicodeScripts"},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "FixedLength", "length": 4},
)


@st.composite
def split_steps(draw: st.DrawFn, most: int = 3) -> tuple[Json, ...]:
    """Pretokenizers that split a text and change none of what they keep."""
    steps = []
    for _ in range(draw(st.integers(0, most))):
        common = draw(st.integers(0, 11))
        steps.append(
            draw(
                st.sampled_from(_RARE)
                if common == 0
                else _DIGITS
                if common < 3
                else _PUNCTUATION
                if common < 4
                else splits()
            )
        )
    return tuple(steps)


_NORMALIZERS: tuple[Json, ...] = (
    *({"type": name} for name in ("NFC", "NFC", "NFD", "NFKC", "NFKD", "Lowercase")),
    {"type": "StripAccents"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Prepend", "prepend": "a"},
    replace("``", '"'),
    replace("a", "b"),
    replace("\r\n", "\n"),
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": r"\s"}, "content": " "},
)


@st.composite
def normalizer_steps(draw: st.DrawFn, most: int = 2) -> tuple[Json, ...]:
    """Normalizers; most often none."""
    if draw(st.integers(0, 2)):
        return ()
    return tuple(draw(st.lists(st.sampled_from(_NORMALIZERS), min_size=1, max_size=most)))


# Some are part of others, some begin as others end, and some are ordinary text.
_ADDED = (
    "<|x|>",
    "<|x",
    "x|>y",
    "  ",
    "   ",
    "\n",
    "\n\n",
    "ab",
    "bs",
    "a b",
    "'s!",
    "''",
    "é",
    "1",
)
_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


@st.composite
def added_tokens(draw: st.DrawFn) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Texts of added tokens, most of them without flags; none half of the time."""
    if draw(st.booleans()):
        return ()
    found = []
    for text in draw(st.lists(st.sampled_from(_ADDED), unique=True, min_size=1, max_size=4)):
        special = ("special",) if draw(st.integers(0, 2)) == 0 else ()
        if draw(st.integers(0, 5)):
            flags = special
        else:
            flags = tuple(draw(st.lists(st.sampled_from(_FLAGS), unique=True, max_size=2)))
        found.append((text, flags))
    return tuple(found)


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
    own = byte_level_step(
        use_regex=draw(st.booleans()), add_prefix_space=not draw(st.integers(0, 7))
    )
    return JsonTokenizer(
        "bytes",
        normalizers=draw(normalizer_steps()),
        pretokenizers=(*draw(split_steps()), own),
        added=draw(added_tokens()),
        ignore_merges=draw(st.booleans()),
        **draw(merges(of_bytes=True)),
    )


@st.composite
def spaces_marked(draw: st.DrawFn) -> dict[str, Any]:
    """The steps of a tokenizer that marks spaces: normalizers, pretokenizers and decoder."""
    decoder = draw(st.sampled_from(("metaspace", "llama")))
    if draw(st.booleans()):
        dummy = draw(st.booleans())
        prepend = ({"type": "Prepend", "prepend": MARK},) if dummy else ()
        steps = (*prepend, replace(" ", MARK))
        if not draw(st.integers(0, 3)):
            steps = (*draw(normalizer_steps()), *steps)
        return {"normalizers": steps, "decoder": decoder, "strips": dummy}
    scheme = draw(st.sampled_from(("always", "first", "never")))
    before = draw(split_steps(1)) if not draw(st.integers(0, 3)) else ()
    return {
        "normalizers": draw(normalizer_steps()),
        "pretokenizers": (*before, metaspace(scheme, split=draw(st.booleans()))),
        "decoder": decoder,
        "strips": scheme != "never",
    }


@st.composite
def space_marking(draw: st.DrawFn) -> JsonTokenizer:
    """BPE of characters that marks spaces, as SentencePiece does."""
    return JsonTokenizer(
        "characters",
        added=draw(added_tokens()),
        ignore_merges=not draw(st.integers(0, 3)),
        byte_fallback=draw(st.booleans()),
        fuse_unk=draw(st.booleans()),
        **draw(spaces_marked()),
        **draw(merges(of_bytes=False)),
    )


@st.composite
def piece_scores(draw: st.DrawFn) -> tuple[tuple[str, float], ...]:
    """Pieces of some characters, and scores with many ties."""
    alphabet = draw(alphabets) + " "
    texts = st.text(st.sampled_from(alphabet), min_size=1, max_size=5)
    unit = draw(st.sampled_from((0.1, 0.5, 1300.7)))
    scores = draw(st.dictionaries(texts, st.integers(1, 40), min_size=1, max_size=12))
    letters = draw(st.lists(st.sampled_from(alphabet), max_size=6))
    units = dict.fromkeys([" ", *letters], 30) | scores
    return tuple((text, -unit * count) for text, count in units.items())


@st.composite
def unigram(draw: st.DrawFn) -> JsonTokenizer:
    """Unigram in a tokenizer.json, as T5 and XLM-RoBERTa have it."""
    steps = draw(spaces_marked())
    if draw(st.booleans()):
        rules = base64.b64encode(charsmap(draw(st.sampled_from(("nmt_nfkc", "nmt_nfkc_cf")))))
        precompiled = {"type": "Precompiled", "precompiled_charsmap": rules.decode()}
        steps["normalizers"] = (precompiled, *steps["normalizers"])
    return JsonTokenizer(
        "unigram",
        scores=draw(piece_scores()),
        added=draw(added_tokens()),
        byte_fallback=draw(st.booleans()),
        **steps,
    )


@st.composite
def sentencepiece_models(draw: st.DrawFn, kind: Literal["bpe", "unigram"]) -> SentencePieceModel:
    """SentencePiece models with user-defined and unused pieces."""
    scores = draw(piece_scores())
    texts = [text for text, _ in scores if text != " "]
    user_defined: tuple[str, ...] = ()
    if draw(st.booleans()):
        own = st.sampled_from(("<doc>", "ab", " a", "a ", "aa", "\n", "  ", "é", "い"))
        user_defined = tuple(draw(st.lists(own, unique=True, min_size=1, max_size=3)))
    unused: tuple[str, ...] = ()
    if texts and not draw(st.integers(0, 7)):
        unused = (draw(st.sampled_from(texts)),)
    return SentencePieceModel(
        kind,
        scores,
        user_defined,
        tuple(text for text in unused if text not in user_defined),
        byte_fallback=draw(st.booleans()),
        dummy_prefix=draw(st.booleans()),
        squeezes=not draw(st.integers(0, 2)),
        suffixes=not draw(st.integers(0, 5)),
        rules=draw(st.sampled_from(("identity", "identity", "nmt_nfkc", "nfkc_cf"))),
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


def check_answers(
    model: RandomTokenizer, mode: str, text: str, choices: Sequence[int], most: int = 150
) -> str:
    """Compare a Verifier's answers with the oracle's along a list.

    The list begins with the tokens of `text`. It goes on with admitted tokens, and with any token
    where a choice is 90 or more; those choices are then taken back where no text begins so.

    Args:
        model: is opened.
        mode: of the Verifier.
        text: see above.
        choices: see above.
        most: ids that are compared after each token.

    Returns:
        The method that the Verifier reached; `refused` where there is none.
    """
    try:
        tokenizer = model.open()
    except ModelFilesError:
        return "refused"
    with few_characters():
        try:
            verifier = Verifier(tokenizer, mode=mode)
        except SettingsError:
            return "refused"
        oracle, verification = Oracle(tokenizer, mode), verifier.start()
        tokens = _tokens_to_compare(tokenizer, model, most if mode == "prefix" else most // 3)
        check_position(verification, oracle, tokens)
        for token in tokenizer.encode(text)[:24]:
            verification.push(token)
            admitted = check_position(verification, oracle, tokens)
        for choice in choices:
            if not verification.admissible:
                verification.rewind(1)
                continue
            admitted = check_position(verification, oracle, tokens)
            some = admitted if admitted and choice < 90 else tokens
            verification.push(some[choice % len(some)])
            check_position(verification, oracle, tokens)
    return verifier.method


def check_position(verification: Any, oracle: Oracle, tokens: Sequence[int]) -> list[int]:
    """Compare all answers about one list. Returns the tokens that may follow."""
    ids, spelled = list(verification.ids), oracle.tokenizer.token_bytes
    context = f"after {ids}, {[spelled(i) for i in ids]}"
    assert verification.consistent == oracle.is_consistent(ids), context
    assert verification.admissible == oracle.may_begin(ids), context
    if not verification.admissible:
        return []
    expected = oracle.admits(ids, tokens).tolist()
    for ask in (verification.admits, lambda some: verification.mask()[list(some)]):
        found = ask(tokens).tolist()
        wrong = [t for t, a, b in zip(tokens, found, expected, strict=True) if a != b]
        assert not wrong, f"{context} wrong about {[(i, spelled(i)) for i in wrong]}"
    return [token for token, good in zip(tokens, expected, strict=True) if good]


def _tokens_to_compare(tokenizer: AnyTokenizer, model: RandomTokenizer, most: int) -> list[int]:
    """Ids of words first, then of the single bytes in them; special ones too."""
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    told = {*"".join(model.texts).encode(), *b"a'. \n1\x80\xe3"}
    longer = [i for i, data in enumerate(spelled) if len(data) != 1]
    single = [i for i, data in enumerate(spelled) if len(data) == 1 and data[0] in told]
    return [*longer[::-1], *single][:most]

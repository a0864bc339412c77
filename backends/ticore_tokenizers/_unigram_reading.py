"""How a Unigram model of a tokenizer.json reads a text: what happens before its segmentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import WhitespaceSplit

from ticore.backend_kit import NoStructure, tokenizer_failure
from ticore.interfaces import Split

from ._beside_metaspace import read_beside_metaspace
from ._normalizer_steps import drops_white_space, flat
from ._normalizers import Normalize, TokenizerJson
from ._space_marks import (
    MARK,
    REPLACE,
    as_text,
    keeps_whitespace,
    read_before_marks,
)

WORDS = " [^ ]*"  # a part of the text begins before every space
_PREPEND = {"type": "Prepend", "prepend": MARK}


@dataclass(frozen=True)
class Reading:
    """How a text is read before segmentation: fields of TokenizerStructure."""

    normalizer: str
    normalize: Normalize | None
    pretokenizer: tuple[str | Split, ...]
    dummy_prefix: bool
    keeps_whitespace: bool = True
    replacements: Mapping[str, str] = field(default_factory=dict)


def read_text(
    library: Tokenizer, state: TokenizerJson, alphabet: set[str], has_bytes: bool
) -> Reading:
    """How a text is read.

    Args:
        library, state: the tokenizer.
        alphabet: the characters of its pieces.
        has_bytes: whether there are tokens for bytes, which spell every other character.
    """
    steps = flat(state["normalizer"])
    prefixed = _PREPEND in steps[:1]
    steps = [step for step in steps[prefixed:] if step != REPLACE]
    marks = _read_marks(state["pre_tokenizer"], prefixed)
    if not steps and not marks.splits_words:
        # Metaspace puts no space before a text that begins with one.
        own = _without_own_space if marks.prefix and not prefixed else None
        name = "identity" if own is None else "metaspace"
        return Reading(name, own, marks.pretokenizer, marks.prefix)
    others = [step for step in steps if not drops_white_space(step)]
    name, replacements = read_before_marks(
        others, None if has_bytes else alphabet, drops_spaces=others != steps or marks.splits_words
    )
    normalize = _Normalize(library, marks)
    return Reading(
        "by_character" if name == "identity" else name,
        normalize,
        marks.pretokenizer,
        marks.prefix,
        keeps_whitespace(normalize, marks.prefix),
        replacements,
    )


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
    pretokenizer: tuple[str | Split, ...] = ()


def _read_marks(pretokenizer: TokenizerJson | None, prefixed: bool) -> _Marks:
    if pretokenizer is None:
        return _Marks(prefixed)
    beside = read_beside_metaspace(pretokenizer)
    match beside.metaspace:
        case {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}:
            if not prefixed:
                words = (WORDS,) if split or beside.by_words else ()
                return _Marks(scheme != "never", beside.by_words, beside.around(words))
    raise NoStructure("its pretokenizer has no step Metaspace, or its normalizer puts a space too")


def _without_own_space(text: str) -> str:
    """The text without its first space: that space takes the place of the dummy prefix."""
    return as_text(text).removeprefix(" ")


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
        return _without_own_space(normal) if self._marks.prefix else as_text(normal)

"""Tokenizers that write a space as U+2581, as SentencePiece does, perhaps with a dummy prefix.

The library reads a U+2581 in a text as a space. `normalize` does the same; where it is None, the
core must do so. Only for added tokens a U+2581 is not a space. If an added token holds a U+2581 or
a space, the structure does not cover texts with a U+2581.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial

from tokenizers.pre_tokenizers import WhitespaceSplit

from ticore.backend_kit import NoStructure

from ._beside_metaspace import read_beside_metaspace
from ._byte_fallback import byte_fallback_ids
from ._normalizer_steps import drops_white_space, flat, normalize_with, read_normalizer
from ._normalizers import Normalize, NormalizerRules, TokenizerJson
from ._spelling import Spelling, strips_a_space

MARK = "\N{LOWER ONE EIGHTH BLOCK}"
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}

_PREPEND = {"type": "Prepend", "prepend": MARK}
# Gemma's files have this. It finds nothing, because the spaces were replaced before.
_SPLIT_AT_SPACES = {
    "type": "Split",
    "pattern": {"String": " "},
    "behavior": "MergedWithPrevious",
    "invert": False,
}
_FROM_SPACE_TO_SPACE = r" [^ ]*"
_WORDS = WhitespaceSplit()


def read_space_marks(state: TokenizerJson, spell: Spelling) -> NormalizerRules:
    """How a BPE tokenizer that marks spaces reads a text.

    Args:
        state: its tokenizer.json.
        spell: what its decoder writes for one token.

    Raises:
        NoStructure: it does anything else than the steps that are known here.
    """

    def is_text(name: str) -> bool:
        return " " not in name and spell(name) == as_text(name).encode()

    steps = flat(state["normalizer"])
    alphabet = _alphabet(state["model"], is_text) if _depends_on_alphabet(steps) else None
    reading = _reading(steps, state["pre_tokenizer"], is_text, alphabet)
    if reading.dummy_prefix != strips_a_space(state["decoder"]):
        raise NoStructure("its decoder does not remove the space that its normalizer adds")
    added = {token["content"] for token in state["added_tokens"]}
    # If no token of the model is a space, spaces are unknown, or become the mark's three bytes.
    marks = spell(MARK) == b" " and MARK in state["model"]["vocab"].keys() - added
    if not marks:
        raise NoStructure("no token of its model is a single space")
    _require_plain(state["model"], state["decoder"])
    return reading


def as_text(name: str) -> str:
    """What a token of this name spells, if it is a piece."""
    return name.replace(MARK, " ")


def _depends_on_alphabet(steps: list[TokenizerJson]) -> bool:
    return any(step["type"] == "Precompiled" or drops_white_space(step) for step in steps)


def _alphabet(model: TokenizerJson, is_text: Callable[[str], bool]) -> Set[str] | None:
    """The characters that tokens can spell; None for all, since there are tokens for bytes."""
    if byte_fallback_ids(model, model["vocab"]):
        return None
    return set().union(*map(as_text, filter(is_text, model["vocab"])))


def _reading(
    steps: list[TokenizerJson],
    split: TokenizerJson | None,
    is_text: Callable[[str], bool],
    alphabet: Set[str] | None,
) -> NormalizerRules:
    if REPLACE in steps and split in (None, _SPLIT_AT_SPACES):
        if split and _PREPEND in steps:
            raise NoStructure(
                "its pretokenizer splits at spaces, which its normalizer has replaced"
            )
        return _marked_by_normalizer(steps, is_text, alphabet)
    beside = read_beside_metaspace(split)
    by_words = beside.by_words
    match beside.metaspace:
        case {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, **rest}:
            others = [step for step in steps if not drops_white_space(step)]
            drops = others != steps
            name, replacements = read_before_marks(others, alphabet, drops_spaces=drops or by_words)
            own = normalize_with(steps)
            if by_words:
                own = partial(_read_words, own)
                name = "by_character" if name == "identity" else name
            words = (_FROM_SPACE_TO_SPACE,) if rest["split"] or by_words else ()
            patterns = beside.around(words)
            has_prefix = scheme != "never"
            # `first` puts the prefix before the whole text only, `always` also after added tokens.
            # Where there is a prefix, all added tokens are special, so both are the same here.
            if has_prefix:
                name = "metaspace" if name == "identity" else f"{name}+metaspace"
            normalize = partial(_read_without_own_space, own) if has_prefix else _with_spaces(own)
            keeps = True
            if drops and normalize is not None:
                _require_spaces_only(normalize, alphabet)
            if (drops or by_words) and normalize is not None:
                keeps = keeps_whitespace(normalize, has_prefix)
            return NormalizerRules(
                "characters",
                is_text,
                name,
                normalize,
                patterns,
                dummy_prefix=has_prefix,
                replacements=replacements,
                keeps_whitespace=keeps,
            )
    raise NoStructure("its normalizer and pretokenizer mark spaces in a way that is not known here")


def _marked_by_normalizer(
    steps: list[TokenizerJson], is_text: Callable[[str], bool], alphabet: Set[str] | None
) -> NormalizerRules:
    """The rules for a normalizer that writes spaces as marks, perhaps after other steps.

    It may also put a mark before the text, first or last or in between.
    """
    at = steps.index(REPLACE)
    others = [step for step in steps if step not in (REPLACE, _PREPEND)]
    prefixes = steps.count(_PREPEND)
    name, replacements = read_before_marks(others, alphabet, drops_spaces=False)
    if steps.count(REPLACE) > 1 or prefixes > 1 or any(s != _PREPEND for s in steps[at + 1 :]):
        raise NoStructure("its normalizer goes on after it has written spaces as marks")
    return NormalizerRules(
        "characters",
        is_text,
        name,
        _with_spaces(normalize_with(others)),
        dummy_prefix=prefixes == 1,
        replacements=replacements,
    )


def _with_spaces(normalize: Normalize | None) -> Normalize | None:
    return None if normalize is None else partial(_read_with_spaces, normalize)


def _read_with_spaces(normalize: Normalize | None, text: str) -> str:
    """The normal text, in which a mark is a space. A function of a module, so it can be pickled."""
    return (text if normalize is None else normalize(text)).replace(MARK, " ")


def _read_without_own_space(normalize: Normalize | None, text: str) -> str:
    """The same without its first space, which takes the place of the dummy prefix."""
    return _read_with_spaces(normalize, text).removeprefix(" ")


def _read_words(normalize: Normalize | None, text: str) -> str:
    """The words of the normal text, with one space before each but the first."""
    words = _WORDS.pre_tokenize_str(text if normalize is None else normalize(text))
    return " ".join(_read_without_own_space(None, word) for word, _ in words)


def read_before_marks(
    steps: list[TokenizerJson], alphabet: Set[str] | None, *, drops_spaces: bool
) -> tuple[str, dict[str, str]]:
    """`read_normalizer` of the steps before spaces are written as marks."""
    name, replacements = read_normalizer(steps, alphabet, drops_spaces=drops_spaces)
    if {" ", MARK}.intersection("".join((*replacements, *replacements.values()))):
        raise NoStructure("its normalizer replaces texts that hold a space")
    return name, replacements


def keeps_whitespace(normalize: Normalize, prefix: bool) -> bool:
    """Whether all spaces are kept, but for a first one that takes the place of the prefix.

    Args:
        normalize: what a text becomes, without the space that is put before it.
        prefix: whether there is one.

    Raises:
        NoStructure: some are dropped, but not all at the ends and all but one of several.
    """
    texts = "|  |", "| ", " |"
    found = tuple(map(normalize, texts))
    if found == ("| |", "|", "|"):
        return False
    if found[:2] == texts[:2] and (prefix or found[2] == texts[2]):
        return True
    raise NoStructure("its normalizer drops some spaces, but not all at the ends and of several")


def _require_spaces_only(normalize: Normalize, alphabet: Set[str] | None) -> None:
    """Refuse a normalizer that drops other white space than spaces at the ends of a text.

    Raises:
        NoStructure: it does, or tokens for bytes spell any white space.
    """
    kept = [c for c in alphabet or "\n" if c.isspace() and c != " " and normalize(f"|{c}|")[1] == c]
    if kept:
        raise NoStructure(f"its normalizer drops white space at the ends of a text: {min(kept)!r}")


def _require_plain(model: TokenizerJson, decoder: TokenizerJson) -> None:
    names = model["vocab"]
    if model["ignore_merges"]:
        raise NoStructure("its model has ignore_merges without being byte-level")
    if model["unk_token"] not in names and not (model["byte_fallback"] and "<0x00>" in names):
        raise NoStructure("unknown characters are lost: it has neither byte fallback nor <unk>")
    if decoder["type"] == "Metaspace" and (
        model["byte_fallback"]
        or (strips_a_space(decoder) and any(MARK in name[1:] for name in names))
    ):
        raise NoStructure(
            "its Metaspace decoder writes the names of bytes, or removes all spaces of a token"
        )

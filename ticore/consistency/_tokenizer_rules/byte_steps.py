r"""Steps of a pretokenizer that see the bytes of a text, each as a letter of GPT-2's byte alphabet.

The library writes bytes as letters in the step ByteLevel, and later steps see the letters. Falcon's
`\p{N}+` finds the digits of a text there, and also the letters "²", "³", "¹", "¼", "½", "¾". They
stand for bytes that are part of many characters. So "β", which is CE B2 in UTF-8, is split in two:

    "aβ1"   ->   a Î | ² | 1

The tables of the engines are about characters. So each step becomes one of two things:

1. **Pairs of bytes that are apart** wherever they stand next to each other. A step makes such pairs
   if its matches are runs of one set (or single characters of it). BPE splits a text between such
   bytes if and only if the rules that merge across them are left out; then no part need end there.
2. **A step that sees characters.** If no set of the expression has a letter of a byte beyond ASCII,
   matches are ASCII, and the expression finds the same matches in the characters of a text.

After a step of the first kind, one of the second must not care for its splits. It does not if its
expression has no look-around, and can match no two letters together that are apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as ListOf
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import regex

from ..._support.byte_alphabet import byte_alphabet
from ..._support.utf8 import NEVER_IN_TEXTS
from ...interfaces import Split, TokenizerStructure
from .._unsupported import Unsupported
from .expressions.neighbours import places_of
from .expressions.syntax import parse
from .expressions.tree import (
    Atomic,
    Chars,
    Choice,
    End,
    Look,
    LookBack,
    Node,
    Repeat,
    Sequence,
    leaves,
    walk,
    with_sets,
)

Pairs = frozenset[tuple[int, int]]

_LETTERS = {letter: byte for letter, byte in byte_alphabet().items() if byte not in NEVER_IN_TEXTS}
_BEYOND = sum(byte >= 0x80 for byte in _LETTERS.values())
_NOTHING = Chars(r"(?:(?!)[\s\S])")
_WHOLE = r"[\s\S]+"  # every text is one part


@dataclass(frozen=True)
class ReadSteps:
    """A pretokenizer in terms of characters.

    Attributes:
        steps: those that see characters; each with its expression as a tree.
        apart: pairs of bytes between which a text is always split.
    """

    steps: tuple[tuple[Split, Node], ...]
    apart: Pairs = frozenset()


@cache
def read_steps(steps: tuple[str | Split, ...]) -> ReadSteps:
    """The steps of a TokenizerStructure in terms of characters.

    Raises:
        Unsupported: an expression is not understood, or sees bytes and is of neither kind above.
    """
    found, apart = list[tuple[Split, Node]](), set[tuple[int, int]]()
    for step in steps:
        split = Split(step) if isinstance(step, str) else step
        node = parse(split.expression, split.dialect)
        if split.reads == "characters":
            found.append((split, node))
        elif split.behavior == "on_change":
            apart.update(_apart_on_change(node))
        elif _is_ascii(node):
            _require_indifferent(split, node, apart)
            found.append((split, with_sets(node, _in_characters)))
        else:
            apart.update(_apart(split, node))
    if not found:
        found.append((Split(_WHOLE), parse(_WHOLE)))
    return ReadSteps(tuple(found), frozenset(apart))


def without_merges_across(
    structure: TokenizerStructure, spelled: ListOf[bytes]
) -> TokenizerStructure:
    """The same tokenizer without the rules that merge bytes which are always apart.

    Args:
        structure: of BPE of bytes.
        spelled: the bytes of every id.

    Raises:
        Unsupported: the steps are not understood, or the rules do not tell what is merged.
    """
    apart = read_steps(structure.pretokenizer).apart
    if not apart:
        return structure
    if structure.merges is None or structure.ignore_merges:
        raise Unsupported("the pretokenizer splits texts inside characters, with ignore_merges")
    pairs = [(spelled[left], spelled[right]) for left, right, _ in structure.merges.tolist()]
    if not all(left and right for left, right in pairs):
        raise Unsupported("a merge has a side that is decoded as no text")
    kept = [(left[-1], right[0]) not in apart for left, right in pairs]
    return replace(structure, merges=structure.merges[np.array(kept, dtype=bool)])


def is_boundary(split: Split, before: bool, after: bool) -> bool:
    """Whether a step splits a text between two neighbours, of which each is a match or not.

    Two neighbours that are no matches are one.
    """
    before, after = before != split.inverted, after != split.inverted
    match split.behavior:
        case "merged_with_previous":
            return before or not after
        case "merged_with_next":
            return after or not before
        case "contiguous":
            return before != after
    return True


@cache
def _letters_of(source: str) -> frozenset[str]:
    """The letters of bytes in a set."""
    return frozenset(filter(regex.compile(source).fullmatch, _LETTERS))


def _is_ascii(node: Node) -> bool:
    """Whether all sets are of ASCII, or of all bytes beyond it and looked at by themselves."""
    match node:
        case Chars(source):
            return all(_LETTERS[letter] < 0x80 for letter in _letters_of(source))
        case Look(Chars(source)) | LookBack(Chars(source)):
            return sum(_LETTERS[letter] >= 0x80 for letter in _letters_of(source)) in (0, _BEYOND)
        case Sequence(parts) | Choice(parts):
            return all(map(_is_ascii, parts))
        case Repeat(part) | Look(part) | LookBack(part) | Atomic(part):
            return _is_ascii(part)
    return True


def _in_characters(leaf: Chars) -> Chars:
    """The characters whose bytes are in a set, each of them or the one that is looked at."""
    codes = sorted(_LETTERS[letter] for letter in _letters_of(leaf.source))
    quoted = "".join(f"\\x{code:02x}" for code in codes if code < 0x80)
    if codes and codes[-1] >= 0x80:
        quoted += r"\u0080-\U0010ffff"
    return Chars(f"[{quoted}]") if codes else _NOTHING


def _require_indifferent(split: Split, node: Node, apart: set[tuple[int, int]]) -> None:
    """Refuse a step that cares for the splits of steps before it that are only in `apart`."""
    places = places_of(node)
    letters = [_letters_of(place.source) for place in places.all]
    found = (
        (_LETTERS[a], _LETTERS[b])
        for p, q in places.follow
        for a, b in product(letters[p], letters[q])
    )
    looks = any(isinstance(part, Look | LookBack | End) for part in walk(node))
    if apart and (looks or not apart.isdisjoint(found)):
        raise _unsupported(split)


def _apart(split: Split, node: Node) -> Iterator[tuple[int, int]]:
    """The pairs of bytes that a step of the first kind splits."""
    options = node.options if isinstance(node, Choice) else (node,)
    kind_of = dict.fromkeys(_LETTERS.values(), -1)
    for n, option in enumerate(options):
        if not is_run(option):
            raise _unsupported(split)
        for letter in _letters_of(next(leaves(option)).source):
            if kind_of[_LETTERS[letter]] >= 0:
                raise _unsupported(split)  # which option takes it depends on what stands before
            kind_of[_LETTERS[letter]] = n
    if split.behavior == "removed" and any(
        (kind >= 0) != split.inverted for kind in kind_of.values()
    ):
        raise Unsupported(f"the pretokenizer drops text: its step {split!r}")
    for a, b in product(kind_of, repeat=2):
        is_one = kind_of[a] == kind_of[b] and (
            kind_of[a] < 0 or isinstance(options[kind_of[a]], Repeat)
        )
        if not is_one and is_boundary(split, kind_of[a] >= 0, kind_of[b] >= 0):
            yield a, b


def _apart_on_change(node: Node) -> Iterator[tuple[int, int]]:
    """The pairs of bytes whose letters are in two sets; see `change_step`."""
    set_of = dict[int, int]()
    for n, leaf in enumerate(leaves(node)):
        set_of |= dict.fromkeys((_LETTERS[letter] for letter in _letters_of(leaf.source)), n)
    if len(set_of) < len(_LETTERS):
        raise Unsupported("the pretokenizer splits bytes where sets change, and not all are in one")
    return ((a, b) for a, b in product(set_of, repeat=2) if set_of[a] != set_of[b])


def is_run(option: Node) -> bool:
    """Whether an option matches one character of a set, or a run of them."""
    match option:
        case Repeat(least=1, most=None, kind=kind):
            return kind != "lazy"
    return isinstance(option, Chars)


def _unsupported(split: Split) -> Unsupported:
    return Unsupported(
        f"the pretokenizer's step {split.expression!r} sees bytes, and splits texts inside "
        f"characters in a way that is not known here"
    )

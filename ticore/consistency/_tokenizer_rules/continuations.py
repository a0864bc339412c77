r"""What a text goes on with in the modes `open` and `viable`, where it completes added tokens.

A list may stand at the beginning of a text if some following text makes it consistent: one that
finishes a character, or one of `CONTINUATIONS`. A tokenizer finds added tokens in the longer text.
There are two cases:

1. *The added token lies in what follows.* What stands before it is read as if the text ended there.
   Example: the added token "\n". A text that goes on with " \n" is read as if " " followed alone.
2. *It begins in the list, and ends in what follows.* Then the list is not read back, and something
   else must follow. Example: the added token "x\n", and a text that ends with "x".

In case 2 the added token may begin before the last token of the list. So the answer about a token
may depend on more of the text than tables look at. Then the tokenizer must be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...interfaces import TokenizerStructure
from .._modes import AFTER_SPACE, CONTINUATIONS, Mode, beginnings
from .._unsupported import Unsupported
from .added_tokens import Texts

_NONE = frozenset[int]()


class Continuations:
    """The texts that may follow a list. Thread-safe.

    Args:
        structure: with a pretokenizer.
        mode: see `ticore.consistency._modes`.

    Attributes:
        texts: what `CONTINUATIONS` are read as (case 1), without those of which nothing is left.
        after_space: what follows a white-space character, or nothing.

    Raises:
        Unsupported: for added tokens that no tokenizer is known to have.
    """

    def __init__(self, structure: TokenizerStructure, mode: Mode) -> None:
        added = list(structure.added_tokens)
        texts = CONTINUATIONS if mode == "viable" else ()
        self.after_space = AFTER_SPACE if mode == "viable" and AFTER_SPACE not in added else ""
        if self.after_space:
            _require_none_after_space(added)
        read = {text: _before_added(text, structure) for text in texts}
        known = [text for text in texts if read[text]]
        self.texts = tuple(read[text] for text in known)
        # No text goes on after a beginning that holds an added token: that one is found before.
        inside = Texts(added)
        # By the beginnings of added tokens, the numbers of the texts that complete these.
        self._begun: dict[str, frozenset[int]] = {}
        for number, text in enumerate(known):
            for begun in _begun_before(text, added, inside):
                self._begun[begun] = self._begun.get(begun, _NONE) | {number}
        # The added tokens that the end of a character completes.
        finished = [t for t in added if not t[-1:].isascii() and not inside.are_in(t[:-1])]
        self._finished = tuple(finished)
        self._inside_begun, self._inside_finished = _ends(self._begun), _ends(finished)
        self._lasts = {token[-1] for token in finished}
        self._longest = max(map(len, self._begun), default=0)

    def excluded(self, text: str) -> frozenset[int]:
        """The numbers of `texts` that complete an added token which begins in `text`."""
        if not self._begun:
            return _NONE
        ends = (text[-n:] for n in range(1, min(self._longest, len(text)) + 1))
        return _NONE.union(*(self._begun.get(end, _NONE) for end in ends))

    def depend_on_text_before(self, text: str) -> bool:
        """Whether one of `texts` may complete an added token that begins before `text`."""
        return text in self._inside_begun

    def completes_added(self, text: str) -> bool:
        """Whether the last character of `text` completes an added token which begins in `text`."""
        return text[-1] in self._lasts and text.endswith(self._finished)

    def may_complete_added(self, text: str) -> bool:
        """Whether the last character may complete an added token that begins before `text`."""
        return text in self._inside_finished


def _before_added(text: str, structure: TokenizerStructure) -> str:
    """What of a following text is read together with the text before it (case 1)."""
    places = [(at, added) for added in structure.added_tokens if (at := text.find(added)) >= 0]
    if not places:
        return text
    at, first = min(places, key=lambda place: (place[0], -len(place[1])))
    flags = structure.added_flags.get(first)
    # If it takes the spaces before it, the text before is read as its end at best.
    return "" if flags is not None and flags.lstrip else text[:at]


def _begun_before(text: str, added: Sequence[str], inside: Texts[str]) -> Iterator[str]:
    """The beginnings of added tokens that `text` completes, and that hold none of `inside`."""
    for n in range(1, len(text) + 1):
        for token in added:
            if len(token) > n and token.endswith(text[:n]) and not inside.are_in(token[:-n]):
                yield token[:-n]


def _ends(texts: Iterable[str]) -> frozenset[str]:
    """The ends of some texts, but not the texts themselves."""
    return frozenset(text[n:] for text in texts for n in range(1, len(text)))


def _require_none_after_space(added: Iterable[str]) -> None:
    for text in added:
        if text.endswith(AFTER_SPACE) and text[-2].isspace() and not text[-2].isascii():
            raise Unsupported(
                f"the added token {text!r} may be completed by what a text goes on with"
            )


def require_kept_apart(structure: TokenizerStructure, mode: Mode) -> None:
    """Refuse added tokens that a continuation may complete, where spaces are dropped.

    Where they are, a space at the end of a text is kept because of what follows. Without a
    pretokenizer that is the only case in which a continuation matters. With one, spaces are never
    dropped, and `Continuations` knows what matters.

    Args:
        structure: of kind "bpe".
        mode: in which lists are verified.

    Raises:
        Unsupported: for such added tokens.
    """
    if mode == "viable" and not structure.keeps_whitespace:
        for text in structure.added_tokens:
            if text.endswith(tuple(beginnings())):
                raise Unsupported(
                    f"the added token {text!r} may be completed by what a text goes on with, and "
                    f"spaces are dropped"
                )

"""A text while its tokens arrive one by one: each character as soon as it is certain.

A token may end inside a character, and `decode` then writes U+FFFD, which later turns into the
character. This stream waits instead. Example, for tokens of single bytes:

    push  C3 | A9 | E3 | 41        gives  "" | "é" | "" | "\\ufffdA"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from .._support.caches import BoundedCache
from .._support.checks import checked_ids, is_integer
from .._support.utf8 import is_complete, is_continuation_byte, unfinished_suffix
from ..interfaces import Tokenizer
from ..registry import wrap
from ._boundaries import special_name

_BYTE_NAME = re.compile(r"<0x[+0-9A-Fa-f][0-9A-Fa-f]>")  # with a plus sign in `tokenizers`
_PLAIN = re.compile(rb"[A-Za-z0-9]+")


class TokenStream:
    """Decodes a growing list of tokens. Use one per thread.

    What `push` gives is never taken back, and all of it with what `finish` gives is decode(all
    ids). The time of a push does not depend on the length of the list.

    A library may change characters later that seem complete: with byte fallback, `tokenizers`
    writes U+FFFD for each byte of a run that is not valid as a whole. Such runs are held until they
    end.

    Args:
        tokenizer: any tokenizer that `ticore.wrap` accepts.

    Raises:
        SettingsError: `tokenizer` is not a tokenizer.
        ModelFilesError: a tokenizer of another library cannot be adapted exactly.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> stream = TokenStream(tokenizer)
    >>> [stream.push(i) for i in tokenizer.encode("It is 5 €.")], stream.finish()
    (['It', ' is', ' ', '5', ' ', '', '', '€', '.'], '')
    """

    def __init__(self, tokenizer: Tokenizer | object) -> None:
        self._tokenizer = wrap(tokenizer)
        self._rules = _RULES.get_once(id(self._tokenizer), lambda: _Rules(self._tokenizer))
        self._started = False  # whether some text stands before `_held`
        self._held: list[int] = []  # ids whose text is not certain, or has not all been given out
        self._shown = 0  # characters of their text that were given out

    def continued(self) -> TokenStream:
        """This stream after other text: `decode` leaves out no space at its beginning."""
        self._started = True
        return self

    def copy(self) -> TokenStream:
        """An independent copy."""
        copy = TokenStream.__new__(TokenStream)
        vars(copy).update(vars(self))
        copy._held = self._held.copy()
        return copy

    @property
    def held(self) -> tuple[int, ...]:
        """The last ids, whose text has not all been given out."""
        return tuple(self._held)

    def push(self, ids: int | Sequence[int]) -> str:
        """Append one id or several.

        Args:
            ids: of the tokenizer. Special ids add no text.

        Returns:
            The text that has become certain; often empty.

        Raises:
            SettingsError: the tokenizer does not have an id.
            WrongTypeError: an id is not an integer.
        """
        given = (ids,) if is_integer(ids) else ids
        checked = checked_ids(given, self._tokenizer.vocab_size)  # type: ignore[arg-type]  # it checks
        return "".join(map(self._push, checked))

    def finish(self) -> str:
        """The rest of the text. Then the stream is empty, and a new text may begin."""
        text = self._text()[self._shown :]
        self._held, self._shown, self._started = [], 0, False
        return text

    def _push(self, token: int) -> str:
        data = self._tokenizer.token_bytes(token)
        if not data:
            return ""
        rules, found = self._rules, ""
        is_byte = token in rules.late_bytes
        in_run = is_byte and bool(self._held) and self._held[-1] in rules.late_bytes
        if self._held and not in_run and not is_continuation_byte(data[0]):
            found = self._release()
        self._held.append(token)
        if is_byte:
            return found
        spelled = b"".join(map(self._tokenizer.token_bytes, self._held))
        unfinished = unfinished_suffix(spelled)
        if not unfinished:
            return found + self._release()
        if len(unfinished) < len(spelled):
            # Of the unfinished bytes a decoder makes one U+FFFD or one of each.
            text = self._text()
            end = max(self._shown, len(text.rstrip("\ufffd")), len(text) - len(unfinished))
            found, self._shown = found + text[self._shown : end], end
        return found

    def _release(self) -> str:
        """Give out the text of the held ids, which nothing changes any more."""
        text = self._text()
        if not text and not self._started:
            return ""  # a space at the beginning of a text, of which the next ids may decide
        found = text[self._shown :]
        self._held, self._shown, self._started = [], 0, True
        return found

    def _text(self) -> str:
        """The text of the held ids, after what stands before them."""
        if not (self._started and self._held):
            return self._tokenizer.decode(self._held) if self._held else ""
        rules = self._rules
        return self._tokenizer.decode([*rules.before, *self._held])[rules.length :]


class _Rules:
    """What must be known of a tokenizer.

    Attributes:
        before: an id, of a plain word where there is one. What is decoded after it keeps its
            leading space.
        length: of the text of this id, in characters.
        late_bytes: the ids of single bytes whose text is not certain until their run ends.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer  # held, so that no other object has the same `id()`
        tokens = range(tokenizer.vocab_size)
        words = (
            [t]
            for t in tokens
            if t not in tokenizer.special_ids and _PLAIN.fullmatch(tokenizer.token_bytes(t))
        )
        others = ([t] for t in tokens if _is_kept(tokenizer, t))
        self.before: list[int] = next(chain(words, others), [])
        self.length = len(tokenizer.decode(self.before)) if self.before else 0
        single = {  # several may spell the same byte, such as <0x0A> and <0x0a>
            token: data[0]
            for token in range(tokenizer.vocab_size)
            if len(data := tokenizer.token_bytes(token)) == 1
            and (data[0] >= 0x80 or _is_byte(tokenizer, token))
        }
        by_byte = {byte: token for token, byte in single.items()}
        self.late_bytes = frozenset[int]()
        if single and _are_late(tokenizer, self.before, by_byte):
            self.late_bytes = frozenset(single)


def _is_kept(tokenizer: Tokenizer, token: int) -> bool:
    """Whether a token at the beginning has a text that stays as it is before another one."""
    if not is_complete(tokenizer.token_bytes(token)):
        return False
    alone = tokenizer.decode([token])
    return alone != "" and tokenizer.decode([token, token]).startswith(alone)


def _are_late(tokenizer: Tokenizer, before: list[int], single: Mapping[int, int]) -> bool:
    """Whether an invalid byte changes the whole characters in front of it, or may do so.

    Args:
        tokenizer: whose bytes these are.
        before: see `_Rules`.
        single: the ids of single bytes, by the byte.
    """
    leading = next((byte for byte in (0xC3, *range(0xC2, 0xE0)) if byte in single), None)
    following = next((byte for byte in (0xA9, *range(0x80, 0xC0)) if byte in single), None)
    if leading is not None and following is not None:
        whole, invalid = bytes([leading, following]), leading
    else:
        highest = max(single)
        if highest < 0x80:
            return False  # there is no invalid one
        whole, invalid = bytes([min(single)]), highest
        if whole[0] >= 0x80:
            return True  # no run of these bytes is ever valid
    ids = [*before, *(single[byte] for byte in whole), single[invalid]]
    return whole.decode() not in tokenizer.decode(ids)


def _is_byte(tokenizer: Tokenizer, token: int) -> bool:
    return _BYTE_NAME.fullmatch(special_name(tokenizer, token)) is not None


_RULES: BoundedCache[int, _Rules] = BoundedCache(4)

"""The part of a Tokenizer that is the same for every tokenizer library.

    class MyTokenizer(LibraryTokenizer):
        def encode_one(self, text): ...    # calls the library
        def encode_many(self, texts): ...  # the same for several texts, on several threads

A backend writes these two, `decode` and `describe`. Texts are checked here, and what the library
raises becomes an error of ticore.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

from .._support.checks import checked_ids, listed
from .._support.utf8 import require_unicode
from ..interfaces import TokenizerStructure
from ._checks import tokenizer_failure


class NoStructure(Exception):
    """No structure describes a tokenizer exactly. The text says what is in the way."""


class LibraryTokenizer(ABC):
    """A Tokenizer on top of a library.

    `__init__` must set the attributes that begin with an underscore.

    Attributes:
        threads_pay: how many characters a batch must have for threads to be faster.
        reader_digest: names all that decides what it reads and writes: its file, the library, and
            the adapter's code; see the function `reader_digest`. What is learned about a tokenizer
            is stored for all with the same digest. Empty: nothing is stored, and a Verifier tests
            the tokenizer each time.
        _bytes: what each id spells; b"" for ids that add nothing to a text. A tuple is best: the
            garbage collector looks at a tuple of bytes once, and at a list each time.
        _special: ids that `encode` never gives for ordinary text.
        _unknown: ids that stand for text that the tokenizer does not know.
        _digest: hex digest of all that shapes the ids.
    """

    threads_pay: ClassVar[int] = 0
    reader_digest: str = ""
    _bytes: Sequence[bytes]
    _special: frozenset[int]
    _unknown: frozenset[int]
    _digest: str

    @property
    def vocab_size(self) -> int:
        """Highest id + 1. Ids that the library leaves out are special and spell nothing."""
        return len(self._bytes)

    @property
    def special_ids(self) -> frozenset[int]:
        """Ids that `encode` never gives for ordinary text, such as `<s>`."""
        return self._special

    @property
    def unknown_ids(self) -> frozenset[int]:
        """Ids for text that the tokenizer does not know; empty if each byte has a token."""
        return self._unknown

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, without special ones.

        Raises:
            SettingsError: the text holds a lone surrogate, or something else that the library
                would not read as it is.
            ModelFilesError: the library fails at it.
        """
        self.require_readable(text)
        try:
            return self.encode_one(text)
        except BaseException as error:
            raise tokenizer_failure(error, f"a text of {len(text):,} characters") from None

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`[encode(t) for t in texts]`, on several threads where there is much to do.

        Raises:
            SettingsError, ModelFilesError: as `encode`.
            WrongTypeError: `texts` is one text, or an element is no text.
        """
        texts = listed(texts, "texts", "give [it]")
        for text in texts:
            self.require_readable(text)
        if sum(map(len, texts)) < self.threads_pay:
            return [self.encode(text) for text in texts]
        try:
            return self.encode_many(texts)
        except BaseException as error:
            raise tokenizer_failure(error, f"one of {len(texts):,} texts") from None

    def token_bytes(self, token: int) -> bytes:
        """What `decode` writes for the id inside a text.

        Raises:
            SettingsError: the tokenizer does not have this id.
            WrongTypeError: it is not an integer.
        """
        try:
            if 0 <= token < len(self._bytes):
                return self._bytes[token]
        except TypeError:  # it is no number
            pass
        (known,) = self.checked([token])
        return self._bytes[known]

    def checked(self, ids: Sequence[int]) -> list[int]:
        """`ids` as Python integers.

        Raises:
            SettingsError: the tokenizer does not have an id.
            WrongTypeError: an id is not an integer.
        """
        return checked_ids(ids, self.vocab_size)

    @property
    def spelled(self) -> tuple[bytes, ...]:
        """`token_bytes` of every id."""
        return tuple(self._bytes)  # nothing is copied if it is a tuple

    def digest(self) -> str:
        """Hex digest of all that shapes the ids."""
        return self._digest

    def require_readable(self, text: str) -> None:
        """Refuse a text that the library would change silently, or fail at.

        Raises:
            SettingsError: it is such a text.
        """
        require_unicode(text)

    @abstractmethod
    def encode_one(self, text: str) -> list[int]:
        """Ids of a readable text, by the library."""

    @abstractmethod
    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """Ids of each of several readable texts, by the library on several threads."""

    @abstractmethod
    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, as a receiver reads it. Raises as `checked`, by calling it."""

    def structure(self) -> TokenizerStructure | None:
        """What the tokenizer does, in neutral terms; None if it cannot be described."""
        described = self._described
        return described if isinstance(described, TokenizerStructure) else None

    @property
    def no_structure_reason(self) -> str:
        """Why `structure()` gives None; empty if it does not."""
        described = self._described
        return "" if isinstance(described, TokenizerStructure) else described

    @cached_property
    def _described(self) -> TokenizerStructure | str:
        try:
            return self.describe()
        except NoStructure as reason:
            return str(reason)

    def describe(self) -> TokenizerStructure:
        """What the tokenizer does, in neutral terms. It is called once.

        Raises:
            NoStructure: it cannot be described.
        """
        raise NoStructure("the tokenizer does not describe itself")

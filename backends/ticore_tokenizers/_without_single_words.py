"""A tokenizer that never finds its added tokens with the flag single_word.

Text is read as it is beside a word, wherever it stands. Ids are those of the tokenizer itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from tokenizers import Tokenizer

from ticore.backend_kit import LibraryTokenizer, NoStructure
from ticore.interfaces import TokenizerStructure

_LABEL = b"without single words\0"


class WithoutSingleWords(LibraryTokenizer):
    """See the module. These added tokens are special ids.

    Args:
        whole: the tokenizer itself.
        library: that of `whole`, which writes texts for ids.
    """

    def __init__(self, whole: LibraryTokenizer, library: Tokenizer) -> None:
        state = json.loads(library.__getstate__())
        added = state["added_tokens"]
        state["added_tokens"] = kept = [token for token in added if not token["single_word"]]
        self._whole = whole
        self._library = Tokenizer.from_buffer(json.dumps(state).encode())
        self._bytes = whole.spelled
        left_out = frozenset(token["id"] for token in added if token["single_word"])
        self._special = whole.special_ids | left_out
        self._unknown = whole.unknown_ids
        self._digest = hashlib.sha256(_LABEL + whole.digest().encode()).hexdigest()
        # The library gives added tokens new ids, without gaps.
        self._numbers = list(range(len(self._bytes)))
        numbered = self._library.get_added_tokens_decoder()
        own = {token["content"]: token["id"] for token in kept}
        for number, token in numbered.items():
            self._numbers[number] = own[token.content]

    def encode_one(self, text: str) -> list[int]:
        """Ids of a text, by the library."""
        return self._numbered(self._library.encode(text, add_special_tokens=False).ids)

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """Ids of each text, by the library."""
        found = self._library.encode_batch_fast(texts, add_special_tokens=False)
        return [self._numbered(encoding.ids) for encoding in found]

    def decode(self, ids: Sequence[int]) -> str:
        """The text that the tokenizer itself writes."""
        return self._whole.decode(ids)

    def describe(self) -> TokenizerStructure:
        """The structure of the tokenizer itself, without the added tokens that are not found."""
        structure = self._whole.structure()
        if structure is None:
            raise NoStructure(self._whole.no_structure_reason)
        added = {
            text: token
            for text, token in structure.added_tokens.items()
            if text not in structure.added_flags or not structure.added_flags[text].single_word
        }
        flags = {text: its for text, its in structure.added_flags.items() if text in added}
        return replace(structure, added_tokens=added, added_flags=flags)

    def _numbered(self, ids: Sequence[int]) -> list[int]:
        return list(map(self._numbers.__getitem__, ids))

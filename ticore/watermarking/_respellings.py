"""Which tokens a writer may have written where a reader finds others: same bytes, cut elsewhere.

    read      | ce | in |            written    | cei | n |        a moved cut
    read      | suff |               written    | su | ff |        a cut inside a token

Of the texts that bundled models write without rollback, most inconsistencies are one of the
respellings that are listed here: one to three tokens, spelled by one or two others with no cut in
common. Nearly every token can be cut, but few neighbours can be cut elsewhere, and half of the
inconsistencies are there. So a *place* is where a cut can be moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..interfaces import Tokenizer

_MOST_READ = 3  # tokens that are respelled together
_MOST_BYTES = 48  # of them


@dataclass(frozen=True)
class Respelling:
    """Other tokens for a part of a text.

    Attributes:
        begin, end: it takes the place of `ids[begin:end]`.
        tokens: the other tokens, with the same bytes and no cut in common.
    """

    begin: int
    end: int
    tokens: tuple[int, ...]

    @property
    def moves_a_cut(self) -> bool:
        """Whether it respells several tokens."""
        return self.end - self.begin > 1


class Respeller:
    """Lists respellings of the tokens of one tokenizer. Thread-safe.

    Args:
        tokenizer: whose tokens; its vocabulary is read when it is first used.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def moved_cuts(self, ids: Sequence[int]) -> list[Respelling]:
        """The respellings of two or three neighbours, in the order of the text.

        Ids that are no tokens of the tokenizer have none.
        """
        return list(self._respelled(ids, 2))

    def all(self, ids: Sequence[int]) -> list[Respelling]:
        """All respellings, in the order of the text. Ids that are no tokens have none."""
        return list(self._respelled(ids, 1))

    def _respelled(self, ids: Sequence[int], least: int) -> Iterator[Respelling]:
        vocabulary, known = self._vocabulary
        # Engines put -1 before a text, and a model may have logits without a token.
        spelled = [vocabulary[token] if 0 <= token < len(vocabulary) else b"" for token in ids]
        for begin in range(len(ids)):
            data, cuts = spelled[begin], set[int]()
            for end in range(begin + 1, min(begin + _MOST_READ, len(ids)) + 1):
                if end > begin + 1:
                    cuts.add(len(data))
                    data += spelled[end - 1]
                if len(data) > _MOST_BYTES or not spelled[end - 1]:
                    break
                if end - begin < least:
                    continue
                if end > begin + 1 and data in known:
                    yield Respelling(begin, end, (known[data],))
                for cut in range(1, len(data)):
                    if cut in cuts:
                        continue
                    first = known.get(data[:cut])
                    last = None if first is None else known.get(data[cut:])
                    if first is not None and last is not None:
                        yield Respelling(begin, end, (first, last))

    @cached_property
    def _vocabulary(self) -> tuple[list[bytes], dict[bytes, int]]:
        """The bytes of each token, and the token of given bytes: special ones are left out."""
        tokenizer = self._tokenizer
        spelled = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
        known = {data: token for token, data in enumerate(spelled) if data}
        structure = getattr(tokenizer, "structure", None)
        found = structure() if callable(structure) else None
        # Byte tokens are written for characters that have no token of their own.
        bytes_alone = set(found.byte_ids if found is not None else ())
        for token, data in enumerate(spelled):
            if data and known[data] in bytes_alone and token not in bytes_alone:
                known[data] = token
        for token in tokenizer.special_ids:
            if token < len(spelled) and known.get(spelled[token]) == token:
                del known[spelled[token]]
        return spelled, known

    def __getstate__(self) -> dict[str, Any]:
        return {"_tokenizer": self._tokenizer}  # a copy reads the vocabulary again


def respelled(ids: Sequence[int], respellings: Sequence[Respelling]) -> list[int]:
    """The tokens with some respellings, none of which overlap."""
    found, at = list[int](), 0
    for one in sorted(respellings, key=lambda one: one.begin):
        found += [*ids[at : one.begin], *one.tokens]
        at = one.end
    return [*found, *ids[at:]]

"""The definition, computed as it is written: turn the list into text, read it back, compare.

On its way the text passes a channel; a continued text passes it as a whole.

Special tokens cut a list into parts, see `ticore.consistency.boundaries`. Each part is a text of
its own, and all but the last are finished. Special tokens are never candidates, and those that cut
nothing make a list inconsistent.

In mode `prefix`, for lists without special tokens, this is Algorithm 1 of Yan & Murawaki. It is
slow and it is right; every faster way is tested against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from ..interfaces import Tokenizer
from .boundaries import boundary_ids, parts
from .channels import PASSAGES, Channel
from .modes import BEHIND_SPACE, CONTINUATIONS, Mode, completions, pending

# Texts are retokenised this many at a time: enough to occupy the library, little to hold.
_BATCH = 1024


class Oracle:
    """Decides by retokenising whole lists.

    Args:
        tokenizer: whose encode decides.
        mode: see `ticore.consistency.modes`.
        channel: see `ticore.consistency.channels`.

    Attributes:
        boundaries: the special ids that cut a list into parts.
    """

    def __init__(
        self, tokenizer: Tokenizer, mode: Mode = "prefix", channel: Channel = "identity"
    ) -> None:
        self.tokenizer = tokenizer
        self.mode = mode
        self.channel = channel
        self.boundaries = boundary_ids(tokenizer)
        self._special = tokenizer.special_ids
        self._send = PASSAGES[channel].send
        self._byte_tokens: dict[int, int] | None = None

    def finished_ok(self, ids: Sequence[int]) -> bool:
        """Whether encode(channel(decode(part))) == part for each part of `ids`."""
        return all(map(self._reads_back, self._parts(ids)))

    def may_begin(self, ids: Sequence[int]) -> bool:
        """Whether a text may begin with `ids`, as the mode has it."""
        *finished, last = self._parts(ids)
        return all(map(self._reads_back, finished)) and (
            self._reads_back(last) or bool(self._may_go_on([last])[0])
        )

    def admits(self, history: Sequence[int], candidates: Iterable[int]) -> npt.NDArray[np.bool_]:
        """For each candidate, whether a text may begin with `history` followed by it: bool[n].

        Never for a special id.
        """
        tokens = [int(token) for token in candidates]
        answers = np.zeros(len(tokens), dtype=bool)
        *finished, last = self._parts(history)
        if not (self._special.isdisjoint(last) and all(map(self._reads_back, finished))):
            return answers
        asked = [n for n, token in enumerate(tokens) if token not in self._special]
        lists = [[*last, tokens[n]] for n in asked]
        answers[asked] = self._admitted(lists)
        return answers

    def _parts(self, ids: Sequence[int]) -> list[list[int]]:
        ids = list(ids)
        if self.boundaries.isdisjoint(ids):
            return [ids]
        return [ids[part.start : part.stop] for part in parts(ids, self.boundaries)]

    def _reads_back(self, part: list[int]) -> bool:
        if not part:
            return True
        known = self._special.isdisjoint(part)
        return known and self.tokenizer.encode(self._arriving(part)) == part

    def _admitted(self, lists: Sequence[list[int]]) -> npt.NDArray[np.bool_]:
        """For each list without special ids whether a text may begin with it: bool[n]."""
        answers = np.zeros(len(lists), dtype=bool)
        for start in range(0, len(lists), _BATCH):
            batch = lists[start : start + _BATCH]
            again = self.tokenizer.encode_batch([self._arriving(ids) for ids in batch])
            answers[start : start + len(batch)] = [
                a == b for a, b in zip(again, batch, strict=True)
            ]
        if self.mode != "prefix":
            left = np.flatnonzero(~answers)
            answers[left] = self._may_go_on([lists[at] for at in left])
        return answers

    def is_mended(self, ids: Sequence[int], texts: Iterable[str]) -> bool:
        """Whether encode of the text of `ids`, followed by one of `texts`, begins with `ids`."""
        text = self.tokenizer.decode(ids)
        again = self.tokenizer.encode_batch([self._send(text + more) for more in texts])
        return any(found[: len(ids)] == list(ids) for found in again)

    def _arriving(self, ids: Sequence[int]) -> str:
        return self._send(self.tokenizer.decode(ids))

    def _may_go_on(self, lists: Sequence[list[int]]) -> npt.NDArray[np.bool_]:
        """For each list, whether encode of some continued text begins with it: bool[n]."""
        answers = np.zeros(len(lists), dtype=bool)
        if self.mode == "prefix":
            return answers
        left = [
            (n, map(self._send, self._continued(ids)))
            for n, ids in enumerate(lists)
            # An unknown one is silent, perhaps, and would stand for any character.
            if self._special.isdisjoint(ids)
        ]
        # Few texts of each list first, then more: one that will do is mostly near.
        size = 2
        while left:
            tried = set[int]()
            for n, again in self._encoded(left, size):
                tried.add(n)
                answers[n] |= again[: len(lists[n])] == lists[n]
            left = [(n, texts) for n, texts in left if n in tried and not answers[n]]
            size = min(4 * size, _BATCH)
        return answers

    def _encoded(
        self, left: Sequence[tuple[int, Iterator[str]]], size: int
    ) -> Iterator[tuple[int, list[int]]]:
        """The next `size` texts of each list, encoded, each with the number of its list."""
        some = _BATCH // size
        for start in range(0, len(left), some):
            batch = [(n, t) for n, texts in left[start : start + some] for t in islice(texts, size)]
            again = self.tokenizer.encode_batch([text for _, text in batch])
            yield from zip((n for n, _ in batch), again, strict=True)

    def _continued(self, ids: list[int]) -> Iterator[str]:
        unfinished = pending(self._last_bytes(ids))
        if unfinished:
            spelled = self._spelled_bytes()
            for character in completions(unfinished):
                rest = character.encode()[len(unfinished) :]
                if all(byte in spelled for byte in rest):
                    text = self.tokenizer.decode([*ids, *(spelled[byte] for byte in rest)])
                    yield text
                    if self.mode == "viable" and character.isspace():
                        yield text + BEHIND_SPACE
        elif self.mode == "viable":
            text = self.tokenizer.decode(ids)
            yield from (text + continuation for continuation in CONTINUATIONS)

    def _last_bytes(self, ids: Sequence[int]) -> bytes:
        """The last bytes of the text, at least as many as an unfinished character can have."""
        found = b""
        for token in reversed(ids):  # some may be silent, however many
            found = self.tokenizer.token_bytes(token) + found
            if len(found) >= 3:
                break
        return found

    def _spelled_bytes(self) -> dict[int, int]:
        """The ids that spell one byte from the middle of a character."""
        if self._byte_tokens is None:
            tokenizer = self.tokenizer
            self._byte_tokens = {
                spelled[0]: token
                for token in range(tokenizer.vocab_size)
                if len(spelled := tokenizer.token_bytes(token)) == 1
                and 0x80 <= spelled[0] < 0xC0
                and token not in tokenizer.special_ids
            }
        return self._byte_tokens

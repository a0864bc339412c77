"""A verifier's tables as arrays, from which an engine makes masks on its device."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._support.caches import BoundedCache
from .._support.packed_bits import Words, unpack, word_count
from ..errors import SettingsError
from ._engines.base import Engine
from ._engines.bpe.answer_rows import AnswerRows
from ._engines.bpe.table_engine import TableEngine
from ._unsupported import Unsupported

if TYPE_CHECKING:
    from ._verifier import Verification

_MOST_CLASSES = 1024  # real text has tens
_KNOWN_ROWS = 4096
_NOTHING = 0  # the class in which no token may follow


class TableRows(NamedTuple):
    """Where the answers about some lists stand in `ExportedTables`, and what the tables do not say.

    Attributes:
        last_tokens: int32[rows], the last token of each list; vocab_size where it does not matter.
        tail_classes: int32[rows], the number of each list's class.
        exception_offsets: int32[rows + 1], the exceptions of row r are exception_offsets[r] up to
            exception_offsets[r + 1].
        exception_ids: int32[n], ids whose answers are not those of the tables.
        exception_answers: bool[n], the answers.
    """

    last_tokens: npt.NDArray[np.int32]
    tail_classes: npt.NDArray[np.int32]
    exception_offsets: npt.NDArray[np.int32]
    exception_ids: npt.NDArray[np.int32]
    exception_answers: npt.NDArray[np.bool_]


class ExportedTables:
    """The tables of a verifier, as arrays that do not change but for more tail classes.

    A token may follow a list if its bit is set in `yes` of the list's tail class; or if it is set
    in `if_unmerged`, and the token does not stand in an interval of the list's last token. A few
    exceptions come on top. Bits are laid out as by `packed_masks`, intervals are of `places`.
    Thread-safe.

    Attributes:
        vocab_size: how many ids there are.
        places: int32[vocab_size], the place of each id in the order that the intervals are of.
        offsets: int64[vocab_size + 2], the intervals of last token t are offsets[t] up to
            offsets[t + 1]. Those of vocab_size, which stands for no token, cover everything.
        starts, ends: int32[n], the places from a start up to its end, which is not included.
    """

    def __init__(self, engine: Engine[Any]) -> None:
        if not isinstance(engine, TableEngine):
            raise Unsupported("its answers are not read from tables of last tokens")
        self._engine = engine
        self.vocab_size, self.places, (self.offsets, self.starts, self.ends) = engine.pair_arrays()
        nothing = np.zeros(word_count(self.vocab_size), dtype=np.uint32)
        self._lock = Lock()
        self._classes = [(nothing, nothing)]
        self._by_content = {(nothing.tobytes(), nothing.tobytes()): _NOTHING}
        # By the object's `id()`; it is held, so no other object has the same.
        self._by_object: BoundedCache[int, tuple[AnswerRows, int | None]] = BoundedCache(
            _KNOWN_ROWS
        )

    @property
    def class_count(self) -> int:
        """How many tail classes there are. `look_up` adds those that it meets first."""
        return len(self._classes)

    def yes(self, first: int = 0) -> Words:
        """The tokens that may follow after any last token: uint32[class_count - first, words].

        Args:
            first: the first class to give. An engine gets new classes alone by the count it has.
        """
        return self._rows(first, 0)

    def if_unmerged(self, first: int = 0) -> Words:
        """The tokens that may follow a last token that does not merge with them, as `yes`."""
        return self._rows(first, 1)

    def _rows(self, first: int, which: int) -> Words:
        rows = [pair[which] for pair in self._classes[first:]]
        return np.array(rows, dtype=np.uint32).reshape(-1, word_count(self.vocab_size))

    def look_up(self, verifications: Sequence[Verification]) -> TableRows:
        """Where the answers about lists stand.

        Args:
            verifications: lists of the verifier that these are the tables of. A row without
                constraint has no place among them.

        Raises:
            InconsistentStateError: no text may begin with one of the lists.
            SettingsError: a row is no list of this verifier.
        """
        last_tokens, classes, counts = [], [], [0]
        exceptions: dict[int, bool]
        ids, answers = list[int](), list[bool]()
        for n, verification in enumerate(verifications):
            if (engine := getattr(verification, "_engine", None)) is not self._engine:
                raise SettingsError(
                    f"row {n}: expected a list of the verifier that these tables are of, found "
                    + ("another object" if engine is None else "one of another")
                    + "; use that one's own tables"
                )
            last, number, exceptions = self._find(verification._state())
            last_tokens.append(last)
            classes.append(number)
            ids += exceptions.keys()
            answers += exceptions.values()
            counts.append(len(ids))
        return TableRows(
            np.array(last_tokens, dtype=np.int32),
            np.array(classes, dtype=np.int32),
            np.array(counts, dtype=np.int32),
            np.array(ids, dtype=np.int32),
            np.array(answers, dtype=bool),
        )

    def _find(self, state: Any) -> tuple[int, int, dict[int, bool]]:
        """The last token of a state, its class and the exceptions."""
        found = self._engine.answers_between_characters(state)
        number = None if found is None else self._class_of(found[0].rows)
        if found is None or number is None:
            words = np.empty(word_count(self.vocab_size), dtype=np.uint32)
            self._engine.packed_mask(state, words)
            admitted = np.flatnonzero(unpack(words, self.vocab_size)).tolist()
            return self.vocab_size, _NOTHING, dict.fromkeys(admitted, True)
        answers, changes = found
        last = self.vocab_size if answers.last < 0 else answers.last
        return last, number, dict.fromkeys(answers.also, True) | changes

    def _class_of(self, rows: AnswerRows) -> int | None:
        """The number of the class with these rows; None if it is new and there are too many."""
        rows_, number = self._by_object.get(id(rows), lambda: (rows, self._number(rows)))
        # Another object may have had this `id()` before its entry was dropped.
        return number if rows_ is rows else self._number(rows)

    def _number(self, rows: AnswerRows) -> int | None:
        yes, if_unmerged = rows.yes, rows.if_unmerged
        if if_unmerged is None:
            if_unmerged = np.zeros_like(yes)
        content = yes.tobytes(), if_unmerged.tobytes()
        with self._lock:
            if content not in self._by_content:
                if len(self._classes) == _MOST_CLASSES:
                    return None
                self._by_content[content] = len(self._classes)
                self._classes.append((yes, if_unmerged))
            return self._by_content[content]

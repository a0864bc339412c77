"""SynthID Text as transformers writes it: `SynthIDTextWatermarkingConfig`.

A hash of a token and those before it, and one key for each of m layers, select m bits (g-values)
from a table. The engine prefers tokens with many ones, in the earlier layers more than in the
later ones. A text's score is the mean of its bits, plain or with weights that fall from 10 to 1.

What the p-value is. The hash is a linear congruence modulo 2^64, and the table has 2^b places, so
that only the lowest b bits of the hash of a token (its *residue*) matter, and tokens with equal
residues have equal bits in every layer. Trying all residues gives the exact distribution of a
token's score under these keys and this table; nothing is assumed to be 1/2 or independent between
layers. A text's p-value is exact if the residues of its distinct n-grams are uniform and
independent given which of them are equal: the score is then a sum of independent copies of a known
variable on a grid, and its tail is found by Fourier transform: see `table_bits`.

Sources: Dathathri et al. 2024 (Nature 634); transformers 5, generation/logits_process.py
(`SynthIDTextWatermarkLogitsProcessor`); google-deepmind/synthid-text (mean and weighted mean).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import SettingsError
from ..evidence import Evidence, Floats, Ints
from ..settings import MOST_CONTEXT, MOST_WHY, an_integer, chosen
from ..tokens import SomeIds, token_ids, windows
from .table_bits import TableBits

_MULTIPLIER = np.uint64(6364136223846793005)
_ONE = np.uint64(1)
_MOST_TABLE = 1 << 24  # as transformers
# The grid of a text's scores has about 5.5 times the square of the layers' number of points: here
# 360,000. Published settings have 20 and 30 layers.
_MOST_LAYERS = 256
# Each layer's bit of each place is looked up once, for the exact chances: some ten seconds.
_MOST_LOOKED_UP = 1 << 30


class TransformersSynthID:
    """What transformers writes with a `SynthIDTextWatermarkingConfig`.

    Scores are the means of a token's g-values, weighted or not; the mean of a text's scores is the
    score of synthid-text's detectors.

    The engine does not mark a token whose context has occurred before, and its detectors mask it.
    Here `Evidence.distinct` leaves out tokens of equal residues, and with them equal ones behind
    equal contexts; another token behind such a context has bits of its own and stays, which costs
    some strength in repetitive text but no correctness.

    Attributes:
        context: `ngram_len` - 1.
        null: see the file's head.
    """

    def __init__(
        self,
        keys: Sequence[int],
        ngram_len: int,
        *,
        sampling_table_size: int = 1 << 16,
        sampling_table_seed: int = 0,
        table: npt.ArrayLike | None = None,
        weighted: bool = True,
    ) -> None:
        """
        Args:
            keys: one for each layer, each in 64 bits with a sign.
            ngram_len: 2 or more.
            sampling_table_size: a power of two to 2^24, as the default is.
            sampling_table_seed: what a CPU draws the table from.
            table: int[sampling_table_size] of zeros and ones, if a GPU wrote the text: it draws
                another one, `processor.sampling_table.cpu().numpy()`. The seed is then not used.
            weighted: whether layers have weights from 10 down to 1, or all the same.

        Raises:
            SettingsError: a value out of these ranges, or settings under which all tokens have the
                same score.
        """
        if not isinstance(keys, Sequence | np.ndarray) or isinstance(keys, str) or not len(keys):
            raise SettingsError(
                "keys: expected a list of integers, found something else or none; give the writer's"
            )
        if len(keys) > _MOST_LAYERS:
            raise SettingsError(
                f"keys: expected at most {_MOST_LAYERS}, one for each layer, found {len(keys)}; "
                f"give the writer's"
            )
        whole = [an_integer("keys", key, -(1 << 63), (1 << 63) - 1, secret=True) for key in keys]
        self._keys = np.array(whole, np.int64).astype(np.uint64)
        self.context = an_integer("ngram_len", ngram_len, 2, MOST_CONTEXT + 1, why=MOST_WHY) - 1
        size = an_integer("sampling_table_size", sampling_table_size, 2, _MOST_TABLE)
        seed = an_integer(
            "sampling_table_seed", sampling_table_seed, -(1 << 63), (1 << 64) - 1, secret=True
        )
        if size * len(whole) > _MOST_LOOKED_UP:
            raise SettingsError(
                f"sampling_table_size: expected at most {_MOST_LOOKED_UP // len(whole)} with "
                f"{len(whole)} keys, found {size}; give the writer's"
            )
        if size & size - 1:
            raise SettingsError(
                f"sampling_table_size: expected a power of two, found {size}; texts of other "
                f"tables are not read here"
            )
        self._last_place = np.uint64(size - 1)
        self._table = _drawn(seed, size) if table is None else _given(table, size)
        self._weights = _weights(len(whole), weighted)
        self._unit = int(self._weights.sum())
        self.null = TableBits(self._chances(size))
        if self.null.chances.max() == 1:
            raise SettingsError(
                "table: expected zeros and ones that these keys tell apart, found the same score "
                "for all tokens; check keys and table"
            )

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        *,
        table: npt.ArrayLike | None = None,
        weighted: bool = True,
    ) -> TransformersSynthID:
        """From `SynthIDTextWatermarkingConfig.to_dict()`.

        Raises:
            SettingsError: no keys or length, an unknown setting, or what the constructor raises.
        """
        read = ("keys", "ngram_len", "sampling_table_size", "sampling_table_seed")
        ignored = ("context_history_size", "skip_first_ngram_calls", "debug_mode")
        given = chosen(config, read, ignored)
        missing = {"keys", "ngram_len"} - set(given)
        if missing:
            raise SettingsError(
                f"the engine's settings: expected keys and ngram_len, found no "
                f"{' and no '.join(sorted(missing))}; give the writer's"
            )
        return cls(**given, table=table, weighted=weighted)

    def evidence(self, ids: SomeIds) -> Evidence:
        """The mean g-values.

        Args:
            ids: int[n], below 2^32: generated tokens, whose first n-grams the engine hashes without
                the prompt.

        Raises:
            SettingsError: other ids.
        """
        ids = token_ids(ids)
        window = windows(ids, self.context + 1)
        residues = self._residues(window)
        scores = self._sums(residues) / self._unit
        positions = np.arange(self.context, self.context + len(window))
        places = residues.astype(np.int64)
        return Evidence(positions, places, places, scores)

    def g_values(self, ids: SomeIds) -> npt.NDArray[np.int8]:
        """int8[n - context, layers]: the bits of each token, in the order of the keys.

        Raises:
            SettingsError: as `evidence`.
        """
        residues = self._residues(windows(token_ids(ids), self.context + 1))
        return np.stack([self._bits(residues, key) for key in self._keys], axis=1)

    def _residues(self, window: Ints) -> npt.NDArray[np.uint64]:
        state = np.ones(len(window), np.uint64)
        for column in window.T.astype(np.uint64):
            state = (state + column) * _MULTIPLIER + _ONE
        return state & self._last_place

    def _bits(self, residues: npt.NDArray[np.uint64], key: np.uint64) -> npt.NDArray[np.int8]:
        places = ((residues + key) * _MULTIPLIER + _ONE) & self._last_place
        bits: npt.NDArray[np.int8] = self._table[places]
        return bits

    def _sums(self, residues: npt.NDArray[np.uint64]) -> Ints:
        """int64[n], from 0 to `unit`."""
        total = np.zeros(len(residues), np.int64)
        for key, weight in zip(self._keys, self._weights, strict=True):
            total += weight * self._bits(residues, key)
        return total

    def _chances(self, size: int) -> Floats:
        sums = self._sums(np.arange(size, dtype=np.uint64))
        return np.bincount(sums, minlength=self._unit + 1) / size


def _weights(layers: int, weighted: bool) -> Ints:
    """int64[layers]: in proportion to `linspace(10, 1, layers)`, or all 1."""
    if not weighted or layers == 1:
        return np.ones(layers, np.int64)
    weights: Ints = 10 * (layers - 1) - 9 * np.arange(layers)
    return weights // int(np.gcd.reduce(weights))


def _drawn(seed: int, size: int) -> npt.NDArray[np.int8]:
    """`torch.randint(0, 2, (size,))` of a CPU, which takes the lowest bit of each random word."""
    words = np.frombuffer(np.random.RandomState(seed & 0xFFFFFFFF).bytes(4 * size), "<u4")
    return (words & 1).astype(np.int8)


def _given(table: npt.ArrayLike, size: int) -> npt.NDArray[np.int8]:
    bits = np.asarray(table)
    if bits.shape != (size,) or not np.isin(bits, (0, 1)).all():
        raise SettingsError(
            f"table: expected {size} zeros and ones, found {bits.dtype} of shape {bits.shape}; "
            f"give the writer's sampling_table, and its sampling_table_size"
        )
    return bits.astype(np.int8)

"""SynthID Text as transformers writes it: `SynthIDTextWatermarkingConfig`.

A hash of a token and those before it, and one key for each of m layers, select m bits (g-values)
from a table. The engine prefers tokens with many ones, in the earlier layers more than in the
later ones. A text's score is the mean of its bits, plain or with weights that fall from 10 to 1; or
the Bayesian score, if the weights of a trained detector are given (see `_synthid_bayesian`).

The p-value is computed as follows.

1. The hash is a linear congruence modulo 2^64, and the table has 2^b entries. So only the lowest b
   bits of a token's hash (its *residue*) matter: tokens with equal residues have equal bits in
   every layer.
2. Trying all residues gives the exact distribution of a token's score under these keys and this
   table. It is not assumed that bits have probability 1/2, or that layers are independent.
3. The residues of a text's distinct n-grams are taken to be uniform and independent, given which of
   them are equal. Then the score is a sum of independent copies of a known variable on a grid. In
   truth those that count once each are drawn without replacement: a small p-value is too high, by
   9 % for 300 tokens at 1e-9 with a table of 2^16.
4. The tail of this sum is computed by Fourier transform: see `_grid_null`.

Sources: Dathathri et al. 2024 (Nature 634); transformers 5, generation/logits_process.py
(`SynthIDTextWatermarkLogitsProcessor`); google-deepmind/synthid-text (mean and weighted mean).
Compared with transformers 5.23: the g-values of its logits processor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from ...errors import SettingsError
from .._base import Array
from .._evidence import Evidence, Floats, Ints
from .._probabilities import probabilities
from .._settings import MAX_CONTEXT, WHY_MAX_CONTEXT, checked_integer, selected_settings
from .._windows import SomeIds, token_ids, windows
from ._grid_null import GridNull
from ._synthid_bayesian import BayesianRatios
from ._writing import context_rows, moved

_MULTIPLIER = np.uint64(6364136223846793005)
_ONE = np.uint64(1)
_MOST_TABLE = 1 << 24  # as transformers
# The grid of a text's scores has about 5.5 times as many points as the square of the number of
# layers: here 360,000. Published settings have 20 and 30 layers.
_MOST_LAYERS = 256
# For the exact distribution, the bit of each layer and residue is looked up once: ten seconds for
# this many.
_MOST_LOOKED_UP = 1 << 30
_STEPS = 1 << 12  # of the Bayesian scores' grid
_PART = 1 << 16  # residues whose bits are in memory at a time


class TransformersSynthID:
    """Reads and writes as transformers does with a `SynthIDTextWatermarkingConfig`. Thread-safe.

    The score of a token is the mean of its g-values, weighted or not; the mean of a text's scores
    is the score of synthid-text's detectors. With `bayesian` it is the Bayesian score, moved and
    scaled so that all scores lie between 0 and 1, and rounded to a grid of 4,096 steps.

    The engine does not mark a token whose context has occurred before, and its detectors mask it.
    Here `Evidence.distinct` counts one token of each residue, so it leaves out equal tokens after
    equal contexts. Another token after such a context has bits of its own and counts. This costs
    some strength in repetitive text, and changes no p-value.

    Attributes:
        context: `ngram_len` - 1.
        null: the distribution under these keys and this table, see the module.
        greedy, once: see `ticore.schemes.Scheme`.
    """

    name: ClassVar[str] = "synthid"
    greedy = False
    once = True

    def __init__(
        self,
        keys: Sequence[int],
        ngram_len: int,
        *,
        sampling_table_size: int = 1 << 16,
        sampling_table_seed: int = 0,
        table: npt.ArrayLike | None = None,
        weighted: bool = True,
        bayesian: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            keys: one for each layer, 256 at most, each a signed integer of 64 bits.
            ngram_len: from 2 to 257.
            sampling_table_size: a power of two, up to 2^24.
            sampling_table_seed: what a CPU draws the table from.
            table: int[sampling_table_size] of zeros and ones, if a GPU wrote the text: it draws
                another table, `processor.sampling_table.cpu().numpy()`. The seed is then not used.
            weighted: whether layers have weights from 10 down to 1, or all the same weight.
            bayesian: the weights of a trained `BayesianDetectorModel`, its `state_dict()`, or a
                mapping with its `beta` and `delta`. `weighted` is then not used.

        Raises:
            SettingsError: a value is out of range, or all tokens have the same score under these
                settings.
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
        whole = [
            checked_integer("keys", key, -(1 << 63), (1 << 63) - 1, secret=True) for key in keys
        ]
        self._keys = np.array(whole, np.int64).astype(np.uint64)
        self.context = (
            checked_integer("ngram_len", ngram_len, 2, MAX_CONTEXT + 1, why=WHY_MAX_CONTEXT) - 1
        )
        size = checked_integer("sampling_table_size", sampling_table_size, 2, _MOST_TABLE)
        seed = checked_integer(
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
                f"tables cannot be detected"
            )
        self._last_place = np.uint64(size - 1)
        self._table = _drawn(seed, size) if table is None else _given(table, size)
        self._weights = _weights(len(whole), weighted)
        self._unit = int(self._weights.sum())
        self._steps: npt.NDArray[np.int16] | None = None
        if bayesian is not None:
            self._unit = _STEPS
            self._steps = self._steps_of(BayesianRatios(bayesian, len(whole)), size)
        self.null = GridNull(self._chances(size))
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
        bayesian: Mapping[str, Any] | None = None,
    ) -> TransformersSynthID:
        """From `SynthIDTextWatermarkingConfig.to_dict()`.

        Args:
            config: the settings.
            table, weighted, bayesian: as of the constructor.

        Raises:
            SettingsError: `keys` or `ngram_len` is missing, or a setting is unknown or out of
                range.
        """
        read = ("keys", "ngram_len", "sampling_table_size", "sampling_table_seed")
        ignored = ("context_history_size", "skip_first_ngram_calls", "debug_mode")
        given = selected_settings(config, read, ignored)
        missing = {"keys", "ngram_len"} - set(given)
        if missing:
            raise SettingsError(
                f"the engine's settings: expected keys and ngram_len, found no "
                f"{' and no '.join(sorted(missing))}; give the writer's"
            )
        return cls(**given, table=table, weighted=weighted, bayesian=bayesian)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores from 0 to 1: see the class.

        Args:
            ids: int[n], below 2^32: the generated tokens without the prompt, which the engine does
                not hash.

        Raises:
            SettingsError: an id is out of range.
        """
        ids = token_ids(ids)
        window = windows(ids, self.context + 1)
        residues = self._residues(window.T.astype(np.uint64))
        scores = self._sums(residues) / self._unit
        places = residues.astype(np.int64)
        return Evidence.after_context(self.context, places, places, scores)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logarithms of the probabilities after all rounds of the tournament.

        See `Scheme.bias`. In each round, from the first layer to the last, two tokens that are
        drawn by the probabilities compete, and one whose bit is 1 wins over one whose bit is 0.
        """
        xp = array_namespace(logits)
        contexts = context_rows(context, self.context, logits).astype(np.uint64)
        tokens = np.arange(logits.shape[-1], dtype=np.uint64)
        residues = self._residues([*contexts.T[:, :, None], tokens])
        shares = probabilities(logits)
        for key in self._keys:
            bits = moved(self._bits(residues, key), logits)
            shares = shares * (1 + bits - xp.sum(bits * shares, axis=-1, keepdims=True))
        left = shares > 0
        return xp.where(left, xp.log(xp.where(left, shares, 1.0)), -xp.inf)

    def g_values(self, ids: SomeIds) -> npt.NDArray[np.int8]:
        """int8[n - context, layers]: the bits of each token, in the order of the keys.

        Raises:
            SettingsError: as `evidence`.
        """
        window = windows(token_ids(ids), self.context + 1)
        return self._all_bits(self._residues(window.T.astype(np.uint64)))

    def _residues(self, columns: Iterable[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]:
        """Of tokens after their contexts: columns that broadcast together, the tokens last."""
        state: npt.NDArray[np.uint64] = np.ones(1, np.uint64)
        for column in columns:
            state = (state + column) * _MULTIPLIER + _ONE
        return state & self._last_place

    def _bits(self, residues: npt.NDArray[np.uint64], key: np.uint64) -> npt.NDArray[np.int8]:
        places = ((residues + key) * _MULTIPLIER + _ONE) & self._last_place
        bits: npt.NDArray[np.int8] = self._table[places]
        return bits

    def _all_bits(self, residues: npt.NDArray[np.uint64]) -> npt.NDArray[np.int8]:
        """int8[n, layers]."""
        return np.stack([self._bits(residues, key) for key in self._keys], axis=1)

    def _steps_of(self, ratios: BayesianRatios, size: int) -> npt.NDArray[np.int16]:
        """The Bayesian score of each residue, as a step of the grid: int16[size]."""
        parts = [
            ratios.of_bits(self._all_bits(np.arange(at, min(at + _PART, size), dtype=np.uint64)))
            for at in range(0, size, _PART)
        ]
        scores = np.concatenate(parts)
        least, most = scores.min(), scores.max()
        steps: Floats = np.rint((scores - least) * (_STEPS / max(most - least, 1e-12)))
        return steps.astype(np.int16)

    def _sums(self, residues: npt.NDArray[np.uint64]) -> Ints:
        """int64[n], from 0 to `unit`."""
        if self._steps is not None:
            return self._steps[residues].astype(np.int64)
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
    """`torch.randint(0, 2, (size,))` on a CPU: the lowest bit of each random word."""
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

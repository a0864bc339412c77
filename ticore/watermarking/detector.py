"""Whether a text was watermarked, read from the text alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError, TicoreError, UnscorableTextError, WrongTypeError
from ..interfaces import Tokenizer
from ..registry import as_tokenizer
from ..schemes import READERS, Evidence, Greens, Readable, reader_named, scheme_named
from ..schemes.evidence import Evidences
from .detection import Detection, Verdict
from .stretches import Segment, find_segment, find_segments

__all__ = ["Detection", "Segment", "Verdict", "WatermarkDetector", "find_segment"]

Ints = npt.NDArray[np.int64]
IDs = Sequence[int] | npt.NDArray[np.integer[Any]]

# Texts are looked at together, so many tokens at a time: little work for each text, and no more
# memory than the processor has at hand.
_MOST_TOGETHER = 1 << 13
_NONE = np.zeros(0, np.int64)


class WatermarkDetector:
    """Looks for the watermark of one scheme under one key.

    Args:
        tokenizer: of the model that wrote; or one of another library, such as transformers, see
            `ticore.registry.as_tokenizer`.
        scheme: its name, the name of an engine (`transformers`, `synthid`, `vllm`, `sglang`) whose
            own watermark is to be read, or any scheme.
        key: the secret it was written with; needed with a scheme's name.
        config: the engine's own settings, its key among them; needed with an engine's name. Those
            of `transformers` must have `vocab_size`, the model config's, where that is more than
            the tokenizer has.
        fpr: the share of texts without a watermark that may be called watermarked: at most, over
            all keys. For one key it is another share, with `unigram` above all, whose one list
            suits some languages and subjects: see `check_key`.
        repeats: `once`: a token behind the same context counts the first time only, without which
            repetitive text looks watermarked. `all`: every time, as in the paper.
        settings: of the scheme, such as gamma; `version=1` for texts that were written before there
            was a version 2.

    Attributes:
        version: of the scheme; None where it has none.

    Raises:
        SettingsError: a setting is out of range or unknown.
        KeyFormatError: there is no key, or it is too short or too long.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | object,
        scheme: str | Readable = "left_hash",
        *,
        key: bytes | str | None = None,
        config: Mapping[str, Any] | None = None,
        fpr: float = 1e-5,
        repeats: Literal["once", "all"] = "once",
        **settings: Any,
    ) -> None:
        if not 0 < fpr < 1:
            raise SettingsError(f"fpr: expected a rate above 0 and below 1, found {fpr!r}")
        if repeats not in ("once", "all"):
            raise SettingsError(f"repeats: expected once or all, found {repeats!r}")
        self.tokenizer = tokenizer = as_tokenizer(tokenizer)
        self.fpr = fpr
        self.scheme: Readable
        if isinstance(scheme, str) and scheme in READERS:
            if config is None or key is not None or settings:
                raise SettingsError(
                    f"{scheme}: expected this engine's own settings as config, and no others, "
                    f"found {'others' if config is not None else 'none'}"
                )
            self.scheme = reader_named(scheme, config, tokenizer.vocab_size)
        elif config is not None:
            raise SettingsError(
                f"config: expected with an engine's name ({', '.join(READERS)}), found it with "
                f"the scheme {scheme!r}"
            )
        else:
            self.scheme = scheme_named(scheme, key, tokenizer.vocab_size, **settings)
        self._repeats = repeats
        name = scheme if isinstance(scheme, str) else getattr(scheme, "name", None)
        self._name = str(name or type(scheme).__name__)
        self.version: int | None = getattr(self.scheme, "version", None)

    def detect(self, text: str) -> Detection:
        """What `text` says.

        Raises:
            UnscorableTextError: it has no token that could be scored.
            SettingsError: it is no valid Unicode.
        """
        return self.detect_ids(self.tokenizer.encode(text))

    def detect_batch(self, texts: Sequence[str]) -> list[Detection | TicoreError]:
        """For each text what `detect` returns, or the error that it raises.

        Raises WrongTypeError where `texts` is one text.
        """
        if isinstance(texts, str | bytes):
            raise WrongTypeError(
                f"expected a list of texts, found one {type(texts).__name__}; use detect(text)"
            )
        found: list[Detection | TicoreError | None] = [None] * len(texts)
        try:
            lists = self.tokenizer.encode_batch(texts)
        except TicoreError:  # one of them is no text
            lists = []
            for at, text in enumerate(texts):
                try:
                    lists.append(self.tokenizer.encode(text))
                except TicoreError as error:
                    lists.append([])
                    found[at] = error
        looked_at = self.detect_ids_batch(lists)
        return [error or one for error, one in zip(found, looked_at, strict=True)]

    def detect_ids(self, ids: IDs) -> Detection:
        """The same as `detect` for a list of token ids.

        Raises UnscorableTextError; SettingsError for ids that the tokenizer does not have.
        """
        (found,) = self._look([ids])
        if isinstance(found, TicoreError):
            raise found
        return found

    def detect_ids_batch(self, lists: Sequence[IDs]) -> list[Detection | TicoreError]:
        """For each list what `detect_ids` returns, or the error that it raises; much faster where
        lists are short."""
        found: list[Detection | TicoreError] = []
        together: list[IDs] = []
        tokens = 0
        for ids in lists:
            if together and tokens + len(ids) > _MOST_TOGETHER:
                found += self._look(together)
                together, tokens = [], 0
            together.append(ids)
            tokens += len(ids)
        return found + self._look(together)

    def _look(self, lists: Sequence[IDs]) -> list[Detection | TicoreError]:
        """What `detect_ids_batch` returns.

        The lists are read as one, and what a token says with tokens of another list before it is
        left out. So a scheme looks at all of them at once.
        """
        if not lists:
            return []
        if len(lists) == 1:
            rows = [np.asarray(lists[0])]
            try:
                evidence = self.scheme.evidence(lists[0])
            except TicoreError as error:
                return [error]
        else:
            try:
                rows = [_row(ids) for ids in lists]
                evidence = self.scheme.evidence(np.concatenate([_NONE, *rows]))
            except TicoreError:  # one of them is not fit to be read
                return [found for ids in lists for found in self._look([ids])]
        lengths = [len(row) for row in rows]
        starts = [0, *accumulate(lengths)]
        texts, scores = _apart(evidence, starts, self.scheme.context)
        counted = texts.distinct() if self._repeats == "once" else texts
        which = np.zeros(len(scores), dtype=bool)
        which[_places(counted, starts)] = True

        null = self.scheme.null
        p_values, strengths = null.p_values(counted).tolist(), null.strengths(counted).tolist()
        segments = find_segments(null, counted)
        greens = counted.totals.astype(np.int64).tolist() if isinstance(null, Greens) else None
        found: list[Detection | TicoreError] = []
        for at, (row, begin, scored) in enumerate(
            zip(rows, starts, counted.lengths.tolist(), strict=False)
        ):
            if not scored:
                found.append(
                    UnscorableTextError(
                        f"expected a text of more than {self.scheme.context} tokens, which decide "
                        f"about those that follow, found {len(row)}; give a longer text"
                    )
                )
                continue
            end = begin + len(row)
            found.append(
                Detection(
                    verdict=self._verdict(p_values[at], segments[at]),
                    p_value=p_values[at],
                    strength=strengths[at],
                    scored=scored,
                    green=None if greens is None else greens[at],
                    tokens=len(row),
                    segment=segments[at],
                    ids=row.astype(np.int64, copy=False),
                    scores=scores[begin:end],
                    counted=which[begin:end],
                    scheme=self._name,
                    version=self.version,
                )
            )
        return found

    def _verdict(self, p_value: float, segment: Segment) -> Verdict:
        # Two questions are asked of each text: half of the rate for either.
        if p_value <= self.fpr / 2:
            return "watermarked"
        return "watermarked in part" if segment.p_value <= self.fpr / 2 else "no watermark found"


def _row(ids: IDs) -> Ints:
    """int64[n]. Raises SettingsError for anything that may change its meaning on the way, which
    `Readable.evidence` is to be asked about."""
    row = np.asarray(ids)
    if row.ndim == 1 and not row.size:
        return _NONE
    if row.ndim != 1 or row.dtype.kind not in "iu" or not np.can_cast(row.dtype, np.int64):
        raise SettingsError(f"ids: expected one row of integers, found {row.dtype}; give integers")
    return row.astype(np.int64, copy=False)


def _apart(
    evidence: Evidence, starts: Sequence[int], context: int
) -> tuple[Evidences, npt.NDArray[np.float64]]:
    """The evidence of each of some texts, of evidence that was found in all of them in a row.

    Args:
        evidence: its positions count through all texts.
        starts: where each text begins, and where the last one ends.
        context: of the scheme.

    Returns:
        Of each text the evidence that does not depend on the text before it; the scores of all
        texts' tokens, nan where one has none.
    """
    scores = np.full(starts[-1], np.nan)
    if len(starts) == 2:
        scores[evidence.positions] = evidence.scores
        return Evidences.of(evidence), scores
    begins = np.array(starts)
    texts = np.repeat(np.arange(len(begins) - 1), np.diff(begins))[evidence.positions]
    positions = evidence.positions - begins[texts]
    own = positions >= context
    scores[evidence.positions[own]] = evidence.scores[own]
    bounds = np.append(0, np.cumsum(np.bincount(texts[own], minlength=len(begins) - 1)))
    return Evidences(replace(evidence, positions=positions).where(own), bounds), scores


def _places(texts: Evidences, starts: Sequence[int]) -> Ints:
    """int64[n]: positions that count through all texts."""
    places = texts.all.positions
    if len(starts) > 2:
        places = places + np.repeat(np.array(starts[:-1]), texts.lengths)
    return places

"""Whether a text was watermarked, read from the text alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError, TicoreError, UnscorableTextError, WrongTypeError
from ..interfaces import Tokenizer
from ..registry import as_tokenizer
from ..schemes import READERS, Evidence, Greens, Null, Readable, reader_named, scheme_named

T = TypeVar("T")
Verdict = Literal["watermarked", "watermarked in part", "no watermark found"]


@dataclass(frozen=True)
class Segment:
    """The stretch of a text that speaks most for a watermark.

    Attributes:
        begin, end: of its tokens, `ids[begin:end]`.
        p_value: the probability that a text of this length without a watermark has a stretch that
            speaks as much for one. An upper bound, whatever the stretch's length.
    """

    begin: int
    end: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Detection:
    """What a text says about a watermark.

    Attributes:
        verdict: at the false-positive rate that was asked for.
        p_value: the probability that a text without a watermark scores as high or higher.
        strength: the score in standard deviations above the mean without a watermark.
        scored: how many tokens count.
        green: how many of them are green; None where a scheme has no green tokens.
        tokens: how many the text has. Its first ones have no score, repeated draws do not count.
        segment: see `Segment`.
        ids: int64[tokens].
        scores: float64[tokens], nan where a token has none.
        counted: bool[tokens].
        scheme: the scheme's name, or that of its class.
        version: of the scheme; None where it has no versions, as other engines' schemes. A text
            that was written with another one shows no watermark.
    """

    verdict: Verdict
    p_value: float
    strength: float
    scored: int
    green: int | None
    tokens: int
    segment: Segment
    ids: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    counted: npt.NDArray[np.bool_]
    scheme: str = ""
    version: int | None = None

    @property
    def looked_for(self) -> str:
        """The scheme and its version, for a person: `gumbel, version 2`."""
        return self.scheme if self.version is None else f"{self.scheme}, version {self.version}"


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
        try:
            lists = self.tokenizer.encode_batch(texts)
        except TicoreError:  # one of them is no text
            return [_tried(self.detect, text) for text in texts]
        return [_tried(self.detect_ids, ids) for ids in lists]

    def detect_ids(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Detection:
        """The same for a list of token ids.

        Raises UnscorableTextError; SettingsError for ids that the tokenizer does not have.
        """
        evidence = self.scheme.evidence(ids)
        counted = evidence.distinct() if self._repeats == "once" else evidence
        if not len(counted):
            raise UnscorableTextError(
                f"expected a text of more than {self.scheme.context} tokens, which decide about "
                f"those that follow, found {len(ids)}; give a longer text"
            )
        null = self.scheme.null
        p_value, segment = null.p_value(counted), find_segment(null, counted)
        scores = np.full(len(ids), np.nan)
        scores[evidence.positions] = evidence.scores
        which = np.zeros(len(ids), dtype=bool)
        which[counted.positions] = True
        return Detection(
            verdict=self._verdict(p_value, segment),
            p_value=p_value,
            strength=null.strength(counted),
            scored=len(counted),
            green=int(counted.scores.sum()) if isinstance(null, Greens) else None,
            tokens=len(ids),
            segment=segment,
            ids=np.asarray(ids, dtype=np.int64),
            scores=scores,
            counted=which,
            scheme=self._name,
            version=self.version,
        )

    def _verdict(self, p_value: float, segment: Segment) -> Verdict:
        # Two questions are asked of each text: half of the rate for either.
        if p_value <= self.fpr / 2:
            return "watermarked"
        return "watermarked in part" if segment.p_value <= self.fpr / 2 else "no watermark found"


def _tried(look: Callable[[T], Detection], at: T) -> Detection | TicoreError:
    try:
        return look(at)
    except TicoreError as error:
        return error


def find_segment(null: Null, evidence: Evidence) -> Segment:
    """The stretch with the highest sum of log-likelihood ratios.

    From a given beginning on, the product of the ratios is a martingale where there is no
    watermark, and exceeds 1/p anywhere with a probability of at most p (Ville). There are as many
    beginnings as scores. Where scores are not independent the product's mean is still at most 1,
    and every stretch counts by itself.
    """
    ratios = null.log_ratio(evidence.scores)
    sums = np.concatenate([[0.0], np.cumsum(ratios)])
    lowest = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - lowest))
    begin = int(np.argmin(sums[: end + 1]))
    count = len(ratios) if null.independent else len(ratios) * (len(ratios) + 1) / 2
    p_value = min(1.0, count * math.exp(-(sums[end] - sums[begin])))
    if begin == end:
        return Segment(0, 0, 1.0)
    positions = evidence.positions
    return Segment(int(positions[begin]), int(positions[end - 1]) + 1, p_value)

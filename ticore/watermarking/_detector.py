"""Whether a text was watermarked, found from the text alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt

from .._support.checks import listed, require, require_one_of, require_type
from .._support.deprecation import warn_deprecated
from ..errors import SettingsError, TicoreError, UnscorableTextError
from ..interfaces import Tokenizer
from ..registry import wrap
from ..schemes import (
    EXTERNAL_SCHEMES,
    BinomialNull,
    Detectable,
    Evidence,
    SchemeSettings,
    external_scheme,
    make_scheme,
)
from ..schemes._evidence import BatchEvidence
from ..schemes._null_distributions import null_with_repeats
from ..schemes._payload import PayloadEvidence, PayloadNull
from ..schemes._registry import as_mapping
from ..schemes._strongest import strongest_p_values
from ..schemes._windows import as_row
from ..schemes.external._grid_null import GridNull
from ._agreement import Repeats, WatermarkAgreement
from ._configurations import Configuration, require_no_payload, require_searchable
from ._detection import TESTS, Detection, DetectionTarget, Verdict
from ._given_texts import detected_each, read_together
from ._other_tokens import with_places, with_search
from ._respellings import Respeller
from ._segments import Segment, find_segments
from ._stretches import Stretch, find_stretches

if TYPE_CHECKING:
    from ._any import AnyWatermarkDetector

Tokenizations = Literal["read", "places", "search"]
Ints = npt.NDArray[np.int64]
IDs = Sequence[int] | npt.NDArray[np.integer[Any]]

_NO_IDS = np.zeros(0, np.int64)
_SHOWN_DIGEST = 12  # digits


class DetectorSettings(TypedDict, total=False):
    """The settings of a `WatermarkDetector` that do not depend on the scheme, by name."""

    fpr: float
    repeats: Repeats
    tokenizer_place: str | None
    tokenizations: Tokenizations


class WatermarkDetector:
    """Looks for the watermark of one scheme under one key. Thread-safe.

    For watermarks of other engines use `for_transformers`, `for_synthid`, `for_vllm`, `for_sglang`
    or `for_textseal`; with a file that holds everything, `from_agreement`.

    Args:
        tokenizer: of the model that wrote; or one of another library, such as transformers, see
            `ticore.wrap`.
        scheme: the name of a scheme, or a scheme as an object.
        key: the secret that the text was written with; only for a scheme that is given by name.
        fpr: the false-positive rate: at most this share of texts without a watermark is called
            watermarked, over all keys. Under one key the share may be higher, above all with
            `unigram`, whose one list may suit a language or a subject: see `check_key`.
        repeats: `once`: a token that repeats a random number counts the first time only, since
            repetitive text would look watermarked otherwise. `all`: every time, as in Kirchenbauer
            et al. 2023.
        tokenizer_place: how results name the tokenizer; None: by the beginning of its digest.
        tokenizations: `read`: the tokens that are read from the text. `places`: results say as
            well how much of the evidence stands where a writer may have had other tokens, see
            `TokenizationCheck`. `search`: such tokens are looked for, and the p-value pays for it:
            it is at most twice that of `read`. The search takes some 5 ms for 200 tokens. Lists of
            green tokens are not searched: a token has too little evidence to pay for it.
        settings: of the scheme, such as gamma; `version=1` for texts that were written before
            there was a version 2. See `ticore.schemes.SchemeSettings`.

    Attributes:
        tokenizer: as ticore knows it.
        scheme: the scheme as an object.
        fpr: as given.
        target: what is looked for; it stands in each result.

    Raises:
        SettingsError: a setting is out of range or unknown, or no backend knows the tokenizer.
        CredentialError: there is no key, or it is too short or too long.
        ModelFilesError: the tokenizer cannot be adapted exactly, see `ticore.wrap`.

    >>> import ticore
    >>> detector = WatermarkDetector(ticore.load_tokenizer("tiny-en"), "gumbel", key=bytes(32))
    >>> found = detector.detect("It was late when they came home, and nobody had seen them.")
    >>> found.verdict, found.target.key
    ('no watermark found', '48e7-e603')
    """

    def __init__(
        self,
        tokenizer: Tokenizer | object,
        scheme: str | Detectable = "left_hash",
        *,
        key: bytes | str | None = None,
        fpr: float = 1e-5,
        repeats: Repeats = "once",
        tokenizer_place: str | None = None,
        tokenizations: Tokenizations = "read",
        **settings: Unpack[SchemeSettings],
    ) -> None:
        require(isinstance(fpr, Real) and 0 < fpr < 1, "fpr", "a rate above 0 and below 1", fpr)
        require_one_of("repeats", repeats, get_args(Repeats))
        require_one_of("tokenizations", tokenizations, get_args(Tokenizations))
        self.tokenizer = tokenizer = wrap(tokenizer)
        self.fpr = float(fpr)  # of any kind of number; results are written as JSON
        self._repeats = repeats
        self._tokenizations = tokenizations
        self._respeller = Respeller(tokenizer)
        self.scheme: Detectable
        if isinstance(scheme, str) and scheme in EXTERNAL_SCHEMES:
            self.scheme = _external(scheme, dict(settings), tokenizer.vocab_size)
        else:
            require_no_payload(settings)
            self.scheme = make_scheme(scheme, key, tokenizer.vocab_size, **settings)
        if tokenizations == "search":
            require_searchable([self.scheme])
        null = self.scheme.null
        self._null = null if repeats == "once" else null_with_repeats(null)
        name = scheme if isinstance(scheme, str) else getattr(scheme, "name", None)
        self.target = DetectionTarget(
            scheme=name or type(self.scheme).__name__,
            tokenizer=tokenizer_place or f"digest {tokenizer.digest()[:_SHOWN_DIGEST]}",
            fpr=self.fpr,
            version=getattr(self.scheme, "version", None),
            key=getattr(self.scheme, "key_fingerprint", None),
        )

    @classmethod
    def from_agreement(
        cls,
        agreement: WatermarkAgreement,
        *,
        tokenizer: Tokenizer | object | None = None,
        fpr: float = 1e-5,
        tokenizations: Tokenizations = "read",
    ) -> WatermarkDetector:
        """A detector of what a Watermarker with the same agreement writes.

        Args:
            agreement: the scheme, its settings, the key and the tokenizer.
            tokenizer: the agreement's, if it is open already; None: opened from its place.
            fpr, tokenizations: see the class.

        Raises:
            SettingsError: the tokenizer is another one than the agreement's, or `fpr` or a setting
                of the agreement is out of range.
            WrongTypeError: `agreement` is not one, such as the name of its file.
            UnknownPlaceError, MissingExtraError, ModelFilesError: as `ticore.load_tokenizer`.
        """
        require_type(
            "agreement", agreement, WatermarkAgreement, "open it with WatermarkAgreement.load"
        )
        if tokenizer is None:
            opened = agreement.open_tokenizer()
        else:
            opened = wrap(tokenizer)
            agreement.require_tokenizer(opened)
        return cls(
            opened,
            agreement.make_scheme(opened.vocab_size),
            fpr=fpr,
            tokenizations=tokenizations,
            repeats=agreement.repeats,
            tokenizer_place=agreement.tokenizer,
        )

    @classmethod
    def for_transformers(
        cls,
        tokenizer: Tokenizer | object,
        watermarking_config: object,
        *,
        vocab_size: int | None = None,
        cuda_threads: int | None = None,
        **settings: Unpack[DetectorSettings],
    ) -> WatermarkDetector:
        """A detector of what transformers writes with a `WatermarkingConfig`.

        Args:
            tokenizer: of the model that wrote.
            watermarking_config: the writer's `WatermarkingConfig`, or its settings as a mapping.
            vocab_size: the model config's, where that is more than the tokenizer has, as with
                Qwen2.5: green lists are drawn from this many ids.
            cuda_threads: where a GPU wrote the text: how many threads it runs at once. See
                `ticore.schemes.external.TransformersKGW`.
            settings: see the class.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        opened = wrap(tokenizer)
        config = dict(as_mapping("transformers", watermarking_config))
        own = {"vocab_size": vocab_size, "cuda_threads": cuda_threads}
        config |= {name: value for name, value in own.items() if value is not None}
        scheme = external_scheme("transformers", config, opened.vocab_size)
        return cls(opened, scheme, **settings)

    @classmethod
    def for_synthid(
        cls,
        tokenizer: Tokenizer | object,
        watermarking_config: object,
        *,
        sampling_table: npt.ArrayLike | None = None,
        weighted: bool = True,
        bayesian: Mapping[str, Any] | None = None,
        **settings: Unpack[DetectorSettings],
    ) -> WatermarkDetector:
        """A detector of what transformers writes with a `SynthIDTextWatermarkingConfig`.

        Args:
            tokenizer: of the model that wrote.
            watermarking_config: the writer's configuration, or its settings as a mapping.
            sampling_table: int[sampling_table_size] of zeros and ones, where a GPU wrote the text:
                it draws another table, `processor.sampling_table.cpu().numpy()`.
            weighted: score by the weighted mean of the g-values; False: by the plain mean.
            bayesian: score as a trained `BayesianDetectorModel` does, whose `state_dict()` this is,
                or a mapping with its `beta` and `delta`. The p-value is exact for this score, too.
            settings: see the class.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        # Parts of scipy that it needs take a second to load.
        from ..schemes.external import TransformersSynthID  # noqa: PLC0415  # only if asked for

        config = as_mapping("synthid", watermarking_config)
        scheme = TransformersSynthID.from_config(
            config, table=sampling_table, weighted=weighted, bayesian=bayesian
        )
        return cls(tokenizer, scheme, **settings)

    @classmethod
    def for_vllm(
        cls,
        tokenizer: Tokenizer | object,
        watermark_config: object,
        **settings: Unpack[DetectorSettings],
    ) -> WatermarkDetector:
        """A detector of what vLLM writes with `--watermark-config`, by any of its algorithms.

        Args:
            tokenizer: of the model that wrote.
            watermark_config: the object that `--watermark-config` takes, as a mapping.
            settings: see the class.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        return cls._for_engine("vllm", tokenizer, watermark_config, settings)

    @classmethod
    def for_sglang(
        cls,
        tokenizer: Tokenizer | object,
        watermark_config: object,
        **settings: Unpack[DetectorSettings],
    ) -> WatermarkDetector:
        """A detector of what SGLang writes with `--enable-watermark`, under one key or two.

        Args:
            tokenizer: of the model that wrote.
            watermark_config: the object that `--watermark-config` takes, as a mapping.
            settings: see the class.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        return cls._for_engine("sglang", tokenizer, watermark_config, settings)

    @classmethod
    def for_textseal(
        cls,
        tokenizer: Tokenizer | object,
        watermark_config: object,
        **settings: Unpack[DetectorSettings],
    ) -> WatermarkDetector:
        """A detector of what TextSeal writes with the types `gumbelmax` and `textseal`.

        Args:
            tokenizer: of the model that wrote.
            watermark_config: the writer's `WatermarkConfig`, or its settings as a mapping.
            settings: see the class.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        return cls._for_engine("textseal", tokenizer, watermark_config, settings)

    @classmethod
    def _for_engine(
        cls, engine: str, tokenizer: object, config: object, settings: DetectorSettings
    ) -> WatermarkDetector:
        opened = wrap(tokenizer)
        return cls(opened, external_scheme(engine, config, opened.vocab_size), **settings)

    @staticmethod
    def any(
        tokenizer: Tokenizer | object,
        configurations: Sequence[Configuration],
        *,
        fpr: float = 1e-5,
        repeats: Repeats = "once",
        tokenizer_place: str | None = None,
        tokenizations: Tokenizations = "read",
    ) -> AnyWatermarkDetector:
        """A detector of many configurations at once: keys, schemes, context widths.

        Args:
            tokenizer: see the class.
            configurations: at least one. Each is a mapping such as `{"scheme": "gumbel", "key":
                key}`, with settings and a `name` of your own if you like; or a
                `WatermarkAgreement`; or a scheme as an object. In a mapping `scheme`, `key` and
                `context` may be lists, which stand for all combinations. For another engine:
                `{"scheme": "vllm", "config": {...}}`. Without a `name` of yours each is named after
                its scheme, key fingerprint and context, with a number if others are so, too.
            fpr: over the whole list: at most this share of texts without a watermark is called
                watermarked, by whichever configuration.
            repeats: see the class.
            tokenizer_place: see the class.
            tokenizations: see the class. `places` is said of the configurations that are found,
                or of the best one. `search` is made for these and for the 8 with the least
                p-values; the p-value pays for both searches, over configurations and over
                tokenizations. A scheme with a payload is looked for without a search, and a list of
                such schemes alone is refused with `search`.

        Raises:
            WrongTypeError: `configurations` is not a list.
            SettingsError, CredentialError: a configuration is wrong or repeats another one, or
                its `name` is another one's or "all together", and the error says which, counted
                from 1; or see the class.

        >>> import ticore
        >>> tokenizer = ticore.load_tokenizer("tiny-en")
        >>> keys = [bytes([number] * 16) for number in range(100)]
        >>> detector = ticore.WatermarkDetector.any(
        ...     tokenizer, [{"scheme": ["gumbel", "left_hash"], "key": keys}]
        ... )
        >>> found = detector.detect("It was late when they came home, and nobody had seen them.")
        >>> found.verdict, found.configurations
        ('no watermark found', 200)
        """
        # It is made of detectors of this class.
        from ._any import AnyWatermarkDetector  # noqa: PLC0415  # that module imports this one

        return AnyWatermarkDetector(
            tokenizer,
            configurations,
            fpr=fpr,
            repeats=repeats,
            tokenizer_place=tokenizer_place,
            tokenizations=tokenizations,
        )

    @property
    def version(self) -> int | None:
        """The version of the scheme; None where it has none."""
        return self.target.version

    def detect(self, text: str) -> Detection:
        """Look for the watermark in a text.

        Args:
            text: without the prompt, if that is possible.

        Returns:
            The verdict and its numbers.

        Raises:
            UnscorableTextError: it has no token that can be scored.
            SettingsError: it is not valid Unicode.
            WrongTypeError: it is not a str.
        """
        return self.detect_ids(self.tokenizer.encode(text))

    def detect_batch(self, texts: Sequence[str]) -> list[Detection | TicoreError]:
        """Look for the watermark in many texts, faster than one by one.

        Args:
            texts: any number.

        Returns:
            For each text what `detect` returns, or the error that it raises.

        Raises:
            WrongTypeError: `texts` is one text.
        """
        texts = listed(texts, "texts", "use detect(text)")
        return detected_each(self.tokenizer, texts, self.detect_ids_batch)

    def detect_ids(self, ids: IDs) -> Detection:
        """Look for the watermark in a list of token ids.

        Args:
            ids: int[n].

        Returns:
            The verdict and its numbers.

        Raises:
            UnscorableTextError: there is no token that can be scored.
            SettingsError: an id is not one that the scheme can score. Those of ticore score the
                tokenizer's ids; engines also those that a model has beyond them.
        """
        (found,) = self._detect_together([ids])
        if isinstance(found, TicoreError):
            raise found
        return found

    def detect_ids_batch(self, lists: Sequence[IDs]) -> list[Detection | TicoreError]:
        """Look for the watermark in many lists of token ids, faster than one by one.

        Args:
            lists: any number.

        Returns:
            For each list what `detect_ids` returns, to the last bit, or the error that it raises.

        Raises:
            WrongTypeError: `lists` is no list.
        """
        lists = listed(lists, "lists of token ids", "use detect_ids(ids)")
        return [one for part in read_together(lists) for one in self._detect_together(part)]

    def detection_of(self, ids: IDs, evidence: Evidence) -> Detection:
        """What `detect_ids` returns, from evidence that is at hand.

        Args:
            ids: int[n].
            evidence: what a scheme like this detector's gives for them.

        Raises:
            UnscorableTextError: there is no token that can be scored.
        """
        (found,) = self._detections([np.asarray(ids)], evidence)
        if isinstance(found, TicoreError):
            raise found
        return found

    def _detect_together(self, lists: Sequence[IDs]) -> list[Detection | TicoreError]:
        """What `detect_ids_batch` returns, from one call of the scheme.

        The lists are joined into one. Scores that depend on tokens of the list before are left out.
        """
        if not lists:
            return []
        if len(lists) == 1:
            try:
                evidence = self.scheme.evidence(lists[0])
                rows = [as_row(lists[0])]
            except TicoreError as error:
                return [error]
        else:
            try:
                rows = [_checked_row(ids) for ids in lists]
                evidence = self.scheme.evidence(np.concatenate([_NO_IDS, *rows]))
            except TicoreError:  # one of them cannot be scored: find out which
                return [found for ids in lists for found in self._detect_together([ids])]
        return self._detections(rows, evidence)

    def _detections(
        self, rows: Sequence[npt.NDArray[Any]], evidence: Evidence
    ) -> list[Detection | TicoreError]:
        """The result for each row, from the evidence of all rows joined."""
        starts = [0, *accumulate(len(row) for row in rows)]
        texts, scores = _split(evidence, starts, self.scheme.context)
        used = texts.distinct() if self._repeats == "once" else texts
        counted = np.zeros(len(scores), dtype=bool)
        counted[_joined_positions(used, starts)] = True

        null = self._null
        p_values, strengths = null.p_values(used).tolist(), null.strengths(used).tolist()
        segments = find_segments(null, used)
        strongest = strongest_p_values(null, used)
        has_greens = isinstance(null, BinomialNull)
        greens = used.totals.astype(np.int64).tolist() if has_greens else [None] * len(rows)
        found: list[Detection | TicoreError] = []
        for at, (row, begin, scored) in enumerate(
            zip(rows, starts, used.lengths.tolist(), strict=False)
        ):
            if not scored:
                found.append(_too_short(len(row), self.scheme.context))
                continue
            end = begin + len(row)
            one = Detection(
                verdict=self._verdict(p_values[at], segments[at]),
                p_value=p_values[at],
                strength=strengths[at],
                scored=scored,
                green=greens[at],
                token_count=len(row),
                segment=segments[at],
                ids=row.astype(np.int64),  # a copy: the caller may change the list
                scores=scores[begin:end],
                counted=counted[begin:end],
                target=self.target,
                stretches=self._stretches(texts, at, segments[at]),
                strongest_p_value=None if strongest is None else float(strongest[at]),
                chances=null.chances if isinstance(null, GridNull) else None,
            )
            if isinstance(null, PayloadNull):
                one = _with_payload(one, null, texts.text(at))
            found.append(
                one if self._tokenizations == "read" else self._checked(one, used.text(at))
            )
        return found

    def _checked(self, one: Detection, counted: Evidence) -> Detection:
        """The detection with what other tokens of the writer may have done."""
        null, respeller = self._null, self._respeller
        if self._tokenizations == "places":
            return with_places(one, null, self.scheme.context, counted, respeller)
        once = self._repeats == "once"
        one = with_search(one, self.scheme, null, counted, respeller, once=once)
        return replace(one, verdict=self._verdict(one.p_value, one.segment))

    def _stretches(self, texts: BatchEvidence, at: int, segment: Segment) -> tuple[Stretch, ...]:
        # A text that is not called marked has no marked part. With repeats="once" none is lost by
        # this: no stretch has a lower p-value than the best segment.
        if segment.p_value > self.fpr / TESTS:
            return ()
        # Each draw counts once here, also with repeats="all".
        evidence = texts.text(at).distinct()
        return find_stretches(self.scheme.null, evidence, self.fpr, tests=TESTS)

    def _verdict(self, p_value: float, segment: Segment) -> Verdict:
        if p_value <= self.fpr / TESTS:
            return "watermarked"
        return (
            "watermarked in part" if segment.p_value <= self.fpr / TESTS else "no watermark found"
        )


def _with_payload(one: Detection, null: PayloadNull, evidence: Evidence) -> Detection:
    """The detection with the payload that is read, and with the scores for this payload."""
    assert isinstance(evidence, PayloadEvidence)
    found = null.read(evidence.distinct())
    scores = np.full(len(one.ids), np.nan)
    scores[evidence.positions] = evidence.scores_of(found.payload)
    return replace(one, scores=scores, payload=found)


def _external(engine: str, settings: dict[str, Any], vocab_size: int) -> Detectable:
    """The scheme of another engine by its old spelling: its name and `config=`."""
    instead = f"WatermarkDetector.for_{engine}(tokenizer, config)"
    config = settings.pop("config", None)
    if config is None or settings:
        raise SettingsError(
            f"scheme: expected one of ticore's own or an object, found {engine!r}, which another "
            f"engine writes; use {instead}"
        )
    warn_deprecated(f"WatermarkDetector(tokenizer, {engine!r}, config=...)", instead, stacklevel=4)
    return external_scheme(engine, config, vocab_size)


def _too_short(count: int, context: int) -> UnscorableTextError:
    return UnscorableTextError(
        f"expected a text of more than {context} tokens, the length of the scheme's context, "
        f"found {count}; give a longer text"
    )


def _checked_row(ids: IDs) -> Ints:
    """int64[n]. Raises SettingsError for ids of a shape or type that joining would hide.

    The caller then gives them to `Detectable.evidence` alone, which says what is wrong.
    """
    row = as_row(ids)
    if row.ndim == 1 and not row.size:
        return _NO_IDS
    if row.ndim != 1 or row.dtype.kind not in "iu" or not np.can_cast(row.dtype, np.int64):
        raise SettingsError(f"ids: expected one row of integers, found {row.dtype}; give integers")
    return row.astype(np.int64, copy=False)


def _split(
    evidence: Evidence, starts: Sequence[int], context: int
) -> tuple[BatchEvidence, npt.NDArray[np.float64]]:
    """The evidence of each text, from that of all texts joined.

    Args:
        evidence: its positions count through all texts.
        starts: where each text begins, and where the last one ends.
        context: of the scheme.

    Returns:
        The evidence of each text that does not depend on the text before it; and the scores of all
        texts' tokens, float64[tokens], nan where a token has none.
    """
    scores = np.full(starts[-1], np.nan)
    if len(starts) == 2:
        scores[evidence.positions] = evidence.scores
        return BatchEvidence.of(evidence), scores
    begins = np.array(starts)
    texts = np.repeat(np.arange(len(begins) - 1), np.diff(begins))[evidence.positions]
    positions = evidence.positions - begins[texts]
    own = positions >= context
    scores[evidence.positions[own]] = evidence.scores[own]
    bounds = np.append(0, np.cumsum(np.bincount(texts[own], minlength=len(begins) - 1)))
    return BatchEvidence(replace(evidence, positions=positions).where(own), bounds), scores


def _joined_positions(texts: BatchEvidence, starts: Sequence[int]) -> Ints:
    """int64[n]: positions that count through all texts."""
    positions = texts.all.positions
    if len(starts) > 2:
        positions = positions + np.repeat(np.array(starts[:-1]), texts.lengths)
    return positions

"""Many configurations at once: keys, schemes and context widths over one reading of a text.

Let p_1, ..., p_m be valid p-values of m configurations, p_c = min(1, 2 min(whole text, segment)).

1. The text: m times the least p_c is at most a with probability a at most, if no configuration's
   watermark is there (Bonferroni). Example: of 1,000 keys one has 2e-9; the text has 2e-6.
2. The configurations: the k-th least p-value is multiplied by m - k + 1, and no corrected value is
   less than the one before (Holm 1979). With probability a at most one is called found that is not
   there, whatever the others are and however they depend on each other.
3. With `tokenizations="search"` the p-value of the whole text under configuration c is the least
   p_c(T) / w(T) over its tokenizations T. It is valid for each c, since the weights w depend on the
   text alone (`_tokenization_search`). So 1 and 2 hold with it. Where no search is made, 2 p_c
   takes its place, the value of the tokens that are read. It is never below the least one, and a
   p-value that is only raised stays valid, however it is chosen where to search.
   Example: of 1,000 keys those 8 are searched that have the least p-values as the text is read.

The p-values of whole texts come from one array program over keys (`ticore.schemes._many_keys`). A
segment takes longer to find. So it is found only for configurations whose segment may matter: a
bound, which is cheap for many keys, says that the others' are no better than what is known.

A scheme with a payload has 256 scores per token, which fill the arrays: its keys are computed one
by one, with their segments, and the payload is read for those configurations alone that may matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from .._support.checks import listed, require_one_of
from .._support.ticks import Tick, no_tick
from ..errors import TicoreError, UnscorableTextError
from ..interfaces import Tokenizer
from ..registry import wrap
from ..schemes import BinomialNull, Detectable, ExponentialNull, NullDistribution
from ..schemes._evidence import BatchEvidence, Evidence
from ..schemes._many_keys import KeyGroup, SomeInts, group_name, has_key_rows, repeated
from ..schemes._null_distributions import null_with_repeats
from ..schemes._payload import PayloadNull
from ..schemes._strongest import strongest_by_length, strongest_p_values
from ..schemes._windows import SomeIds, token_ids
from ._agreement import Repeats
from ._any_detection import AnyDetection, FoundConfiguration
from ._configurations import Configuration, NamedScheme, named_schemes, require_searchable
from ._detection import TESTS, Detection, Verdict, of_both_tests
from ._detector import IDs, Tokenizations, WatermarkDetector
from ._given_texts import detected_each, read_together
from ._other_tokens import with_places, with_search
from ._respellings import Respeller
from ._segments import find_segments, least_p_values
from ._stretches import disjoint, find_stretches

Floats = npt.NDArray[np.float64]

_MOST_SCORES = 1 << 21  # of one text under many keys at a time: 16 MB
_FEWEST_TOGETHER = 6  # fewer keys are quicker one by one
_MOST_SEARCHED = 8  # configurations that are searched although nothing is found as the text is read


class AnyWatermarkDetector:
    """Looks for the watermarks of many configurations in one reading of a text. Thread-safe.

    Made by `WatermarkDetector.any`.

    Args:
        tokenizer, configurations, fpr, repeats, tokenizer_place, tokenizations: see there.

    Attributes:
        tokenizer: as ticore knows it.
        fpr: as given.
        names: of the configurations, in order.
        versions: of their schemes; None where a scheme has none.

    Raises:
        SettingsError, CredentialError, WrongTypeError: see there.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | object,
        configurations: Sequence[Configuration],
        *,
        fpr: float = 1e-5,
        repeats: Repeats = "once",
        tokenizer_place: str | None = None,
        tokenizations: Tokenizations = "read",
    ) -> None:
        require_one_of("tokenizations", tokenizations, get_args(Tokenizations))
        self.tokenizer = tokenizer = wrap(tokenizer)
        self._tokenizations = tokenizations
        self._once = repeats == "once"
        self._respeller = Respeller(tokenizer)
        schemes = named_schemes(configurations, tokenizer, repeats)
        if tokenizations == "search":
            require_searchable([one.scheme for one in schemes])
        self.names = tuple(one.name for one in schemes)
        self.versions = tuple(getattr(one.scheme, "version", None) for one in schemes)
        first = WatermarkDetector(
            tokenizer,
            schemes[0].scheme,
            fpr=fpr,
            repeats=repeats,
            tokenizer_place=tokenizer_place,
        )
        self.fpr = first.fpr
        place = first.target.tokenizer
        groups = defaultdict[object, list[int]](list)
        for at, one in enumerate(schemes):
            name = group_name(one.scheme)
            groups[at if name is None else name].append(at)
        parts = [
            part
            for members in groups.values()
            for part in (
                [members] if len(members) >= _FEWEST_TOGETHER else [[at] for at in members]
            )
        ]
        self._groups = [
            _Group(
                [schemes[at] for at in part], np.array(part), tokenizer, place, self.fpr, repeats
            )
            for part in parts
        ]
        self._places = {
            index: (group, at)
            for group in self._groups
            for at, index in enumerate(group.members.tolist())
        }

    def detect(self, text: str, *, tick: Tick = no_tick) -> AnyDetection:
        """Look for the watermarks in a text.

        Args:
            text: without the prompt, if that is possible.
            tick: called between configurations; what it raises ends the work and is raised here.

        Returns:
            The verdict, the configurations that were found, and their numbers.

        Raises:
            UnscorableTextError: no configuration can score a token of it.
            SettingsError: it is not valid Unicode.
            WrongTypeError: it is not a str.
        """
        return self.detect_ids(self.tokenizer.encode(text), tick=tick)

    def detect_batch(
        self, texts: Sequence[str], *, tick: Tick = no_tick
    ) -> list[AnyDetection | TicoreError]:
        """For each text what `detect` returns, or the error that it raises.

        Args:
            texts: as for `detect`.
            tick: called between texts and configurations; what it raises ends the work and is
                raised here.

        Raises:
            WrongTypeError: `texts` is one text.
        """
        texts = listed(texts, "texts", "use detect(text)")
        return detected_each(self.tokenizer, texts, partial(self.detect_ids_batch, tick=tick))

    def detect_ids(self, ids: IDs, *, tick: Tick = no_tick) -> AnyDetection:
        """Look for the watermarks in a list of token ids.

        Args:
            ids: int[n].
            tick: as for `detect`.

        Raises:
            UnscorableTextError: no configuration can score a token.
            SettingsError: an id is not one that the schemes can score, see
                `WatermarkDetector.detect_ids`.
        """
        (found,) = self._detect_together([ids], tick)
        if isinstance(found, TicoreError):
            raise found
        return found

    def detect_ids_batch(
        self, lists: Sequence[IDs], *, tick: Tick = no_tick
    ) -> list[AnyDetection | TicoreError]:
        """For each list what `detect_ids` returns, or the error that it raises.

        Args:
            lists: of token ids, any number.
            tick: as for `detect_batch`.

        Raises:
            WrongTypeError: `lists` is no list.
        """
        lists = listed(lists, "lists of token ids", "use detect_ids(ids)")
        return [one for part in read_together(lists) for one in self._detect_together(part, tick)]

    def _detect_together(
        self, lists: Sequence[IDs], tick: Tick
    ) -> Iterator[AnyDetection | TicoreError]:
        """For each list what `detect_ids` returns, or the error that it raises.

        The configurations that no others are like read all lists at once.
        """
        alone = dict[int, list[Detection | TicoreError]]()
        for group in self._groups:
            if group.is_alone:
                tick()
                alone[int(group.members[0])] = group.detections(lists)
        for row, ids in enumerate(lists):
            try:
                yield self._found_in(ids, {at: found[row] for at, found in alone.items()}, tick)
            except TicoreError as error:
                yield error

    def _found_in(
        self, ids: IDs, alone: Mapping[int, Detection | TicoreError], tick: Tick
    ) -> AnyDetection:
        """What `detect_ids` returns, from what the configurations found that no others are like."""
        p_values = np.full(len(self.names), np.nan)
        bounds = np.ones(len(self.names))
        known: dict[int, Detection] = {}
        strongest = np.ones(len(self.names))
        for group in self._groups:
            if group.is_alone:
                at = int(group.members[0])
                found_alone = alone[at]
                if isinstance(found_alone, UnscorableTextError):
                    continue
                if isinstance(found_alone, TicoreError):
                    raise found_alone
                known[at] = one = found_alone
                p_values[at], bounds[at] = one.p_value, one.segment.p_value
                strongest[at] = np.nan if (p := one.strongest_p_value) is None else p
            else:
                members = group.members
                p_values[members], bounds[members], strongest[members] = group.screened(ids, tick)
        if np.isnan(p_values).all():
            least = min(group.context for group in self._groups)
            raise UnscorableTextError(
                f"expected a text of more than {least} tokens, the length of the shortest context "
                f"of {len(self.names)} configurations, found {len(ids)}; give a longer text"
            )
        # All that may be found at this rate, and in any case the best one.
        limit = max(self.fpr / TESTS, float(np.nanmin(p_values)))
        close = np.fmin(p_values, bounds) <= limit
        if self._tokenizations == "search":  # may find what the tokens that are read do not show
            close[np.argsort(p_values, kind="stable")[:_MOST_SEARCHED]] = True
        close &= ~np.isnan(p_values)
        candidates: list[tuple[float, int, Detection]] = []
        for group in self._groups:
            for at in np.flatnonzero(close[group.members]).tolist():
                tick()
                index = int(group.members[at])
                one = known[index] if group.is_alone else group.detection(ids, at)
                if self._tokenizations == "search":
                    one = self._searched(group, at, one)
                both = of_both_tests(one.p_value, one.segment.p_value)
                candidates.append((both, index, one))
        candidates.sort(key=lambda each: each[:2])
        candidates = [
            (both, at, self._with_stretches(ids, at, one)) for both, at, one in candidates
        ]
        corrected = list(self._corrected(candidates))
        shown = [self._checked(ids, one) for one in corrected if one.p_value <= self.fpr]
        best = shown[0] if shown else self._checked(ids, corrected[0])
        found = tuple(shown)
        stretches = [each for *_, one in candidates for each in one.stretches]
        stretches.sort(key=lambda each: each.p_value)  # the first of those that overlap is kept
        return AnyDetection(
            best.detection.verdict,
            best.p_value,
            found,
            best,
            p_values,
            disjoint(stretches),
            strongest,
        )

    def _searched(self, group: _Group, at: int, one: Detection) -> Detection:
        """The detection with the best tokenization that is found, which its p-value pays for."""
        if isinstance(group.null, PayloadNull):  # no token has a score before the payload is known
            return one
        scheme = group.scheme(at)
        counted = self._counted(scheme.evidence(one.ids))
        return with_search(one, scheme, group.null, counted, self._respeller, once=self._once)

    def _checked(self, ids: IDs, found: FoundConfiguration) -> FoundConfiguration:
        """With what other tokens of the writer may have done to the evidence, if that is asked."""
        one = found.detection
        if self._tokenizations == "read" or one.tokenizations is not None:
            return found
        group, at = self._places[found.index]
        counted = self._counted(group.evidence(ids, at))
        checked = with_places(one, group.null, group.context, counted, self._respeller)
        return replace(found, detection=checked)

    def _counted(self, evidence: Evidence) -> Evidence:
        return evidence.distinct() if self._once else evidence

    def _with_stretches(self, ids: IDs, index: int, one: Detection) -> Detection:
        """With those stretches that are found among all configurations."""
        tests = TESTS * len(self.names)
        if tests * one.segment.p_value > self.fpr:
            return replace(one, stretches=())
        group, at = self._places[index]
        evidence, null = group.evidence(ids, at).distinct(), group.scheme(at).null
        name = self.names[index]
        found = find_stretches(null, evidence, self.fpr, tests=tests, configuration=name)
        return replace(one, stretches=found)

    def _corrected(
        self, candidates: Sequence[tuple[float, int, Detection]]
    ) -> Iterator[FoundConfiguration]:
        """By Holm's method; the candidates are those with the least p-values, in their order."""
        highest = 0.0
        for rank, (p_value, index, detection) in enumerate(candidates):
            times = len(self.names) - rank
            highest = max(highest, min(1.0, times * p_value))
            verdict = _verdict(highest, TESTS * times * detection.p_value, self.fpr)
            corrected = replace(detection, verdict=verdict, corrected_for=times)
            yield FoundConfiguration(index, self.names[index], highest, corrected)


class Screened(NamedTuple):
    """What is known of configurations before their detections are made: float64[configurations].

    Attributes:
        p_values: of the whole text; nan where no token can be scored.
        bounds: no segment has a lower p-value.
        strongest: no scores of the tokens would have a lower p-value; nan where this is not known.
    """

    p_values: Floats
    bounds: Floats
    strongest: Floats


class _Group:
    """The configurations that differ in their keys alone; or one."""

    def __init__(
        self,
        schemes: Sequence[NamedScheme],
        members: npt.NDArray[np.intp],
        tokenizer: Tokenizer,
        place: str,
        fpr: float,
        repeats: Repeats,
    ) -> None:
        self.members = members
        self._schemes = [one.scheme for one in schemes]
        self._targets = [one.target(place, fpr) for one in schemes]
        in_rows = len(schemes) > 1 and has_key_rows(self._schemes[0])
        self._keys = KeyGroup(self._schemes) if in_rows else None
        self._once = repeats == "once"
        null = self._schemes[0].null
        self.null = null if self._once else null_with_repeats(null)
        self._detector = WatermarkDetector(
            tokenizer, self._schemes[0], fpr=fpr, repeats=repeats, tokenizer_place=place
        )

    @property
    def is_alone(self) -> bool:
        """Whether it is one configuration."""
        return len(self._schemes) == 1

    @property
    def context(self) -> int:
        return self._schemes[0].context

    def screened(self, ids: IDs, tick: Tick) -> Screened:
        """What is known of several before their detections are made."""
        if self._keys is None:
            return _joined([self._one_screened(ids, at, tick) for at in range(len(self.members))])
        checked = token_ids(ids, self._keys.scheme.vocab_size)
        count = len(checked) - self.context
        if count <= 0:
            ones = np.ones(len(self.members))
            return Screened(ones * np.nan, ones, ones)
        together = max(1, _MOST_SCORES // count)
        return _joined(
            [
                self._screened(self._keys, checked, slice(at, at + together), tick)
                for at in range(0, len(self.members), together)
            ]
        )

    def _one_screened(self, ids: IDs, at: int, tick: Tick) -> Screened:
        tick()
        evidence = self.evidence(ids, at)
        if not len(evidence):
            return Screened(np.full(1, np.nan), np.ones(1), np.ones(1))
        one = BatchEvidence.of(evidence.distinct() if self._once else evidence)
        return self._with_segments(one)

    def _with_segments(self, texts: BatchEvidence) -> Screened:
        null = self.null
        segments = np.array([one.p_value for one in find_segments(null, texts)])
        return Screened(null.p_values(texts), segments, _known(null, texts))

    def _screened(
        self, group: KeyGroup, ids: npt.NDArray[np.int64], keys: slice, tick: Tick
    ) -> Screened:
        tick()
        scores, seeds = group.scored(ids, keys)
        tokens, counted = ids[self.context :], None
        if self._once:
            first = group.first_of_windows(ids)
            scores, tokens = scores[first], tokens[first]
            seeds = None if seeds is None else seeds[first]
            if seeds is not None and not group.windows_decide:
                counted = ~repeated(tokens, seeds)
        null = self.null
        if type(null) is BinomialNull:
            p_values = _tails(null, scores, counted)
        else:
            evidence = _by_key(scores, seeds, counted)
            if not isinstance(null, ExponentialNull):
                return self._with_segments(evidence)
            p_values = null.p_values(evidence)
        bounds = least_p_values(null, scores, counted)
        return Screened(p_values, bounds, _by_length(null, scores, counted))

    def evidence(self, ids: IDs, at: int) -> Evidence:
        """What the scheme of configuration number `at` of the group gives."""
        return (
            self._schemes[at].evidence(ids) if self._keys is None else self._keys.evidence(ids, at)
        )

    def scheme(self, at: int) -> Detectable:
        """What reads texts for configuration number `at` of the group."""
        return self._schemes[at] if self._keys is None else _OneKey(self._keys, at)

    def detections(self, lists: Sequence[IDs]) -> list[Detection | TicoreError]:
        """What the detector finds in each list, if the group is one configuration."""
        found = self._detector.detect_ids_batch(lists)
        (target,) = self._targets
        return [
            one if isinstance(one, TicoreError) else replace(one, target=target) for one in found
        ]

    def detection(self, ids: IDs, at: int) -> Detection:
        """What the detector of configuration number `at` of the group finds."""
        found = self._detector.detection_of(ids, self.evidence(ids, at))
        return replace(found, target=self._targets[at])


class _OneKey:
    """The scheme of one key of a group, for reading; it fills no tables of the vocabulary."""

    def __init__(self, keys: KeyGroup, at: int) -> None:
        self._keys, self._at = keys, at
        self.context: int = keys.scheme.context
        self.null: NullDistribution = keys.scheme.null

    def evidence(self, ids: SomeIds) -> Evidence:
        return self._keys.evidence(ids, self._at)


def _joined(parts: Sequence[Screened]) -> Screened:
    return Screened(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _known(null: NullDistribution, texts: BatchEvidence) -> Floats:
    """`strongest_p_values`, and nan where they are not known."""
    found = strongest_p_values(null, texts)
    return np.full(len(texts.lengths), np.nan) if found is None else found


def _by_length(
    null: NullDistribution, scores: npt.NDArray[Any], counted: npt.NDArray[np.bool_] | None
) -> Floats:
    """float64[keys]: `strongest_p_values`, where the number of tokens decides them."""
    length, keys = scores.shape
    lengths = np.full(keys, length) if counted is None else counted.sum(axis=0)
    different, which = np.unique(lengths, return_inverse=True)
    found = strongest_by_length(null, different)
    assert found is not None
    return found[which]


def _tails(
    null: BinomialNull, scores: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_] | None
) -> Floats:
    """float64[keys]: `null.p_values`. Few different counts occur, and each is looked up once."""
    length, keys = scores.shape
    green = (scores if counted is None else scores & counted).sum(axis=0)
    total = np.full(keys, length) if counted is None else counted.sum(axis=0)
    pairs, which = np.unique(green * (length + 1) + total, return_inverse=True)
    found: Floats = null.tails(pairs // (length + 1), pairs % (length + 1))[which]
    return found


def _by_key(
    scores: npt.NDArray[np.generic],
    seeds: SomeInts | None,
    counted: npt.NDArray[np.bool_] | None,
) -> BatchEvidence:
    """Scores [n, keys] as the evidence of a text for each key, without positions and draws."""
    of_keys = np.ascontiguousarray(scores.T, np.float64)
    length = scores.shape[0]
    if counted is None:
        flat, bounds = of_keys.ravel(), np.arange(len(of_keys) + 1) * length
    else:
        flat = of_keys[counted.T]
        bounds = np.append(0, np.cumsum(counted.sum(axis=0)))
    unused = np.broadcast_to(np.int64(0), flat.shape)
    of_seeds = unused
    if seeds is not None:
        of_seeds = (seeds.T.ravel() if counted is None else seeds.T[counted.T]).astype(np.int64)
    return BatchEvidence(Evidence(unused, of_seeds, unused, flat), bounds)


def _verdict(corrected: float, whole: float, fpr: float) -> Verdict:
    if corrected > fpr:
        return "no watermark found"
    return "watermarked" if whole <= fpr else "watermarked in part"

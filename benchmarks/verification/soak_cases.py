"""Cases of the soak test: token lists on which the table engine is compared with the definition.

A case starts with one of the lists of `case_openings`. It asks about some positions in the list,
and then pushes tokens that were admitted. A case depends on its name and the texts alone.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ticore._support.utf8 import missing_bytes
from ticore.consistency import Mode, Verification, Verifier
from ticore.consistency._engines.retokenizing import Oracle
from ticore.interfaces import Tokenizer

from .cache_probe import mask_work
from .case_openings import OPENINGS
from .snippets import is_tricky

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Bools = npt.NDArray[np.bool_]

_POSITIONS, _STEPS = 8, 8  # asked about in the list, and after it

# Candidates of each group at a position. In mode `prefix` one more costs little beside the mask and
# the pushes; in the others the definition tries many texts before it refuses a candidate.
_PER_GROUP: dict[Mode, int] = {"prefix": 24, "open": 6, "viable": 4}
_PUSHED = 26  # of all candidates

# How often a candidate that the mask rejects is checked, by how many bytes its last character
# lacks. Where it lacks some, the definition tries thousands of characters, or a hundred thousand.
_CHECK_PROBABILITY = (1.0, 1.0, 0.01, 0.0002)

_EXAMPLES = 3  # per case


@dataclass
class Tally:
    """What one case found.

    Attributes:
        opening: how the case starts; see `case_openings`.
        checks: candidates that were compared with the definition.
        admitted: those of them that may follow.
        lists: lists of which it was compared whether they are admissible and consistent.
        unchecked: candidates that were left out because the definition would take too long.
        mismatches: wrong answers.
        seconds: that the case took.
        examples: some mismatches, with everything that reproduces them.
    """

    opening: str
    checks: int = 0
    admitted: int = 0
    lists: int = 0
    unchecked: int = 0
    mismatches: int = 0
    seconds: float = 0.0
    examples: list[JsonObject] = field(default_factory=list)


class CasePlayer:
    """Plays cases with one tokenizer and mode.

    Args:
        verifier: whose answers are checked.
        texts: real texts.
    """

    def __init__(self, verifier: Verifier, texts: Sequence[str]) -> None:
        self._verifier = verifier
        self.tokenizer: Tokenizer = verifier.tokenizer
        self._mode: Mode = verifier.mode
        self._oracle = Oracle(self.tokenizer, self._mode)
        self._texts = texts
        spelled = map(self.tokenizer.token_bytes, range(self.tokenizer.vocab_size))
        self._tricky = np.array([bool(data) and is_tricky(data) for data in spelled])
        self._before: Bools = np.zeros(len(self._tricky), dtype=bool)

    def play(self, name: str) -> Tally:
        """Play the case of this name. The same name always gives the same case."""
        draw = random.Random(name)
        tally = Tally(draw.choice(list(OPENINGS)))
        started = time.perf_counter()
        self._before = np.zeros(len(self._tricky), dtype=bool)
        ids = OPENINGS[tally.opening](draw, self.tokenizer, self._texts)
        positions = set(draw.sample(range(len(ids) + 1), k=min(_POSITIONS, len(ids) + 1)))
        positions.add(len(ids))
        verification = self._verifier.start()
        for n, token in enumerate([*ids, None]):
            if n in positions:
                self._ask(verification, ids, token, draw, tally)
            if token is not None:
                lost = verification.unrecoverable
                verification.push(token)
                if lost and verification.admissible:
                    self._report(tally, "unrecoverable", ids[:n], None, found=True)
        while not verification.admissible:
            verification.rewind(1)
        for _ in range(_STEPS):
            if (token := self._step(verification, draw)) is None:
                break
            self._ask(verification, ids, None, draw, tally)
            if draw.random() < 0.1:
                verification.rewind(1)
        tally.seconds = time.perf_counter() - started
        return tally

    def _step(self, verification: Verification, draw: random.Random) -> int | None:
        """Push an admitted token, a tricky one half of the time; None if there is none."""
        if mask_work(verification) == "retokenized":
            return None
        admitted = verification.mask()
        tricky = np.flatnonzero(admitted & self._tricky)
        choices = tricky if len(tricky) and draw.random() < 0.5 else np.flatnonzero(admitted)
        if not len(choices):
            return None
        token = int(choices[draw.randrange(len(choices))])
        verification.push(token)
        return token

    def _ask(
        self,
        verification: Verification,
        near: Sequence[int],
        following: int | None,
        draw: random.Random,
        tally: Tally,
    ) -> None:
        """Check everything about the list that `verification` holds.

        Args:
            verification: at some position of the case.
            near: ids to draw candidates from.
            following: the next token of the case.
            draw: random numbers of the case.
            tally: counts the answers.
        """
        ids = list(verification.ids)
        end = self._end_of_text(ids)
        self._check_list(verification, ids, end, draw, tally)
        if not verification.admissible:
            return
        # Where the tokenizer itself decides, a mask may take minutes.
        from_table = mask_work(verification) != "retokenized"
        mask = verification.mask() if from_table else np.zeros(len(self._tricky), dtype=bool)
        candidates = list(self._candidates(near, mask, draw))
        if following is not None:
            candidates.append(following)
        admits = verification.admits(candidates)
        if from_table:
            for token in np.array(candidates)[mask[candidates] != admits].tolist():
                self._report(tally, "mask", ids, token, bool(mask[token]))
            self._check_pushes(verification, ids, candidates, admits, tally)
        self._check_candidates(ids, end, candidates, admits, draw, tally)

    def _check_list(
        self,
        verification: Verification,
        ids: Sequence[int],
        end: bytes,
        draw: random.Random,
        tally: Tally,
    ) -> None:
        """Check whether the list is admissible, and whether a text may end there."""
        if not (verification.admissible or self._is_affordable(end, draw)):
            return
        tally.lists += 1
        if verification.admissible != self._oracle.may_begin(ids):
            self._report(tally, "admissible", ids, None, verification.admissible)
        if verification.consistent != self._oracle.is_consistent(ids):
            self._report(tally, "consistent", ids, None, verification.consistent)

    def _check_pushes(
        self,
        verification: Verification,
        ids: Sequence[int],
        candidates: Sequence[int],
        admits: Bools,
        tally: Tally,
    ) -> None:
        """Check that a list is admissible after a push where `admits` says so."""
        special = self.tokenizer.special_ids
        answers = list(zip(candidates, admits.tolist(), strict=True))
        for token, admitted in answers[:: -(-len(answers) // _PUSHED)]:
            verification.push(token)
            # `admits` rejects special tokens, but they may be pushed where a part of a chat ends.
            expected = self._oracle.may_begin([*ids, token]) if token in special else admitted
            if verification.admissible != expected:
                self._report(tally, "push", ids, token, verification.admissible)
            verification.rewind(1)

    def _check_candidates(
        self,
        ids: Sequence[int],
        end: bytes,
        candidates: Sequence[int],
        admits: Bools,
        draw: random.Random,
        tally: Tally,
    ) -> None:
        """Compare `admits` with the definition, where that is affordable."""
        checked = [
            n
            for n, token in enumerate(candidates)
            if admits[n] or self._is_affordable(end + self.tokenizer.token_bytes(token), draw)
        ]
        tally.unchecked += len(candidates) - len(checked)
        tally.checks += len(checked)
        tally.admitted += int(admits[checked].sum())
        expected = self._oracle.admits(ids, [candidates[n] for n in checked])
        for n, right in zip(checked, expected.tolist(), strict=True):
            if admits[n] != right:
                self._report(tally, "admits", ids, candidates[n], bool(admits[n]))

    def _candidates(self, near: Sequence[int], mask: Bools, draw: random.Random) -> Iterator[int]:
        """Ids from the vocabulary, from the case, and of each answer: any, tricky and new ones."""
        count = _PER_GROUP[self._mode]
        yield from draw.choices(range(self.tokenizer.vocab_size), k=count)
        yield from draw.choices(near, k=count) if near else ()
        changed = mask != self._before
        self._before = mask
        for answer in (mask, ~mask):
            for group in (answer, answer & self._tricky, answer & changed):
                ids = np.flatnonzero(group)
                if len(ids):
                    yield from (int(ids[draw.randrange(len(ids))]) for _ in range(count))

    def _end_of_text(self, ids: Sequence[int]) -> bytes:
        return b"".join(map(self.tokenizer.token_bytes, ids[-8:]))

    def _is_affordable(self, end: bytes, draw: random.Random) -> bool:
        """Whether to ask the definition about a list that is rejected and whose text ends so."""
        return self._mode == "prefix" or draw.random() < _CHECK_PROBABILITY[missing_bytes(end)]

    def _report(
        self, tally: Tally, what: str, ids: Sequence[int], candidate: int | None, found: bool
    ) -> None:
        tally.mismatches += 1
        if len(tally.examples) < _EXAMPLES:
            shortened = list(ids)
            if what == "admits" and candidate is not None:
                shortened = self._shortened(ids, candidate, found)
            tally.examples.append(
                {
                    "what": what,
                    "ids": list(ids),
                    "shortened": shortened,
                    "candidate": candidate,
                    "text": self.tokenizer.decode(shortened),
                    "spelled": repr(
                        b"" if candidate is None else self.tokenizer.token_bytes(candidate)
                    ),
                    "found": found,
                    "expected": not found,
                }
            )

    def _shortened(self, ids: Sequence[int], candidate: int, found: bool) -> list[int]:
        """The shortest end of `ids` after which the same answer is wrong."""
        for start in range(len(ids), 0, -1):
            end = list(ids[start:])
            verification = self._verifier.start(end)
            if (
                verification.admissible
                and self._oracle.may_begin(end)
                and verification.admits([candidate]).item() == found
                and self._oracle.may_begin([*end, candidate]) != found
            ):
                return end
        return list(ids)

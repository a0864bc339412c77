"""The mask rung against the definition, on as many candidates as one has the patience for.

A case begins in one of the ways of `openings`, asks about some places there, and goes on along
tokens that were admitted. It follows from its number alone, whatever ran before.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ticore.consistency import Mode, Verification, Verifier
from ticore.consistency.engine import Bools
from ticore.consistency.modes import pending
from ticore.consistency.oracle import Oracle
from ticore.interfaces import Tokenizer

from .inside import what_is_new
from .openings import OPENINGS
from .snippets import is_tricky

_PLACES, _STEPS = 8, 8  # asked about in the text, and behind it

# How often a candidate that the mask rejects is checked, by how many bytes its last character
# lacks: there the definition tries thousands of characters, or a hundred thousand.
_CHANCE = (1.0, 1.0, 0.01, 0.0002)

_EXAMPLES = 3  # of a case are worked out


@dataclass
class Tally:
    """What one case found.

    Attributes:
        opening: how the case began; see `openings`.
        checks: candidates compared with the definition.
        admitted: those of them that a text may go on with.
        lists: compared as to whether a text may begin with them, or end there.
        passed_over: answers that it would have taken too long to check.
        mismatches: wrong answers.
        examples: some of them, with all that it takes to see them again.
    """

    opening: str
    checks: int = 0
    admitted: int = 0
    lists: int = 0
    passed_over: int = 0
    mismatches: int = 0
    seconds: float = 0.0
    examples: list[dict[str, Any]] = field(default_factory=list)


class Soak:
    """Plays cases with one tokenizer and mode.

    Args:
        verifier: whose answers are checked.
        texts: real ones.
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
        """The case of this name, always the same one."""
        draw = random.Random(name)
        tally = Tally(draw.choice(list(OPENINGS)))
        started = time.perf_counter()
        self._before = np.zeros(len(self._tricky), dtype=bool)
        ids = OPENINGS[tally.opening](draw, self.tokenizer, self._texts)
        places = set(draw.sample(range(len(ids) + 1), k=min(_PLACES, len(ids) + 1)))
        places.add(len(ids))
        verification = self._verifier.start()
        for n, token in enumerate([*ids, None]):
            if n in places:
                self._ask(verification, ids, token, draw, tally)
            if token is not None:
                lost = verification.lost
                verification.push(token)
                if lost and verification.admissible:
                    self._report(tally, "lost", ids[:n], None, found=True)
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
        """Push an admitted token, every other time a tricky one; None if none is found."""
        if what_is_new(verification) == "by_tokenizer":
            return None
        admitted = verification.mask()
        tricky = np.flatnonzero(admitted & self._tricky)
        found = tricky if len(tricky) and draw.random() < 0.5 else np.flatnonzero(admitted)
        if not len(found):
            return None
        token = int(found[draw.randrange(len(found))])
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
        ids = list(verification.ids)
        spelled = self._spelled(ids)
        if verification.admissible or self._is_worth(spelled, draw):
            tally.lists += 1
            if verification.admissible != self._oracle.may_begin(ids):
                self._report(tally, "admissible", ids, None, verification.admissible)
            if verification.finished_ok() != self._oracle.finished_ok(ids):
                self._report(tally, "finished_ok", ids, None, verification.finished_ok())
        if not verification.admissible:
            return
        # Where the tokenizer itself is asked, a mask takes it up to minutes.
        by_table = what_is_new(verification) != "by_tokenizer"
        mask = verification.mask() if by_table else np.zeros(len(self._tricky), dtype=bool)
        candidates = list(self._candidates(near, mask, draw))
        if following is not None:
            candidates.append(following)
        found, special = verification.admits(candidates), self.tokenizer.special_ids
        for token in np.array(candidates)[by_table & (mask[candidates] != found)].tolist():
            self._report(tally, "mask", ids, token, bool(mask[token]))
        for token, admitted in zip(candidates, found.tolist(), strict=True) if by_table else ():
            verification.push(token)
            # A special token is no candidate, but it may be pushed where a part ends.
            expected = self._oracle.may_begin([*ids, token]) if token in special else admitted
            if verification.admissible != expected:
                self._report(tally, "push", ids, token, verification.admissible)
            verification.rewind(1)
        checked = [
            n
            for n, token in enumerate(candidates)
            if found[n] or self._is_worth(spelled + self.tokenizer.token_bytes(token), draw)
        ]
        tally.passed_over += len(candidates) - len(checked)
        tally.checks += len(checked)
        tally.admitted += int(found[checked].sum())
        expected = self._oracle.admits(ids, [candidates[n] for n in checked])
        for n, right in zip(checked, expected.tolist(), strict=True):
            if found[n] != right:
                self._report(tally, "admits", ids, candidates[n], bool(found[n]))

    def _candidates(self, near: Sequence[int], mask: Bools, draw: random.Random) -> Iterator[int]:
        """Ids from anywhere and from the text, and of both answers: any, tricky, and changed."""
        yield from draw.choices(range(self.tokenizer.vocab_size), k=4)
        yield from draw.choices(near, k=3) if near else ()
        changed = mask != self._before
        self._before = mask
        for answer in (mask, ~mask):
            for some in (answer, answer & self._tricky, answer & changed):
                found = np.flatnonzero(some)
                if len(found):
                    yield from (int(found[draw.randrange(len(found))]) for _ in range(3))

    def _spelled(self, ids: Sequence[int]) -> bytes:
        return b"".join(map(self.tokenizer.token_bytes, ids[-8:]))

    def _is_worth(self, spelled: bytes, draw: random.Random) -> bool:
        """Whether to ask the definition about a list that ends in `spelled` and is rejected."""
        return self._mode == "prefix" or draw.random() < _CHANCE[missing(spelled)]

    def _report(
        self, tally: Tally, what: str, ids: Sequence[int], candidate: int | None, found: bool
    ) -> None:
        tally.mismatches += 1
        if len(tally.examples) < _EXAMPLES:
            least = list(ids)
            if what == "admits" and candidate is not None:
                least = self._shortened(ids, candidate, found)
            tally.examples.append(
                {
                    "what": what,
                    "ids": list(ids),
                    "shortened": least,
                    "candidate": candidate,
                    "text": self.tokenizer.decode(least),
                    "spelled": repr(
                        b"" if candidate is None else self.tokenizer.token_bytes(candidate)
                    ),
                    "found": found,
                    "expected": not found,
                }
            )

    def _shortened(self, ids: Sequence[int], candidate: int, found: bool) -> list[int]:
        """The shortest end of `ids` after which the answer is as wrong."""
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


class Cases:
    """Cases that were played, a line each in a file, so that none is played twice.

    Args:
        file: made if it is not there.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        self._file = file
        self._rows = [json.loads(line) for line in file.read_text().splitlines()]

    def play(self, soak: Soak, kind: dict[str, Any], checks: int) -> Iterator[dict[str, Any]]:
        """Cases until there are so many `checks`, each with its number and its `kind`."""
        kind = kind | {"digest": soak.tokenizer.digest()}
        done = {row["case"]: row for row in self._rows if kind.items() <= row.items()}
        with self._file.open("a") as stream:
            for case in count():
                row = done.get(case)
                if row is None:
                    tally = soak.play(f"{kind['seed']} {kind['digest']} {kind['mode']} {case}")
                    row = kind | {"case": case} | asdict(tally)
                    stream.write(json.dumps(row) + "\n")
                    stream.flush()
                yield row
                checks -= row["checks"]
                if checks <= 0:
                    return


def missing(data: bytes) -> int:
    """How many bytes the last character of `data` lacks."""
    unfinished = pending(data)
    if not unfinished:
        return 0
    lead = unfinished[0]
    return (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) - len(unfinished)

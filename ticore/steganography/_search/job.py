"""The search: which branch goes on, and when a message is found.

    first    the tokens that the tokenizer finds, to the end of the message or as far as they can be
    then     the best branch that waits, until another one is better by some bits; and again

A branch ends where its message is complete and not authentic, or where no candidate goes on as the
text does: after a wrong token the next ones are seldom candidates, so most errors show soon.

A pass of the model is what costs time. The model goes back to where two branches part, and reads
from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from ...codecs import Reader
from ...disambiguation import Spellings
from ...errors import CapacityError
from ...interfaces import Decoder
from .._embedding import Progress
from .._jobs import Job, NewText, begin_text
from .._setup import Setup
from .._sought import Sought
from .._step import Step, step_after
from .allowance import Allowance
from .branch import Branch
from .frontier import Frontier

T = TypeVar("T")

WRITER_PASSES = 32
"""How many passes each token allows the writer's own search, or the text is not sent."""

READER_PASSES = 40
"""How many it allows the reader's. With portable numerics this may go a little otherwise."""

_PERSISTENCE = 8.0  # bits by which another branch must be better before the model turns to it


def searched(
    setup: Setup,
    text: str,
    reader: Reader,
    sought: Sought[T],
    progress: Progress | None,
    *,
    by_writer: bool = False,
) -> Job[T | None]:
    """The payload that some tokens that spell a text carry; None if none was found.

    Args:
        setup: of the text.
        text: as it was received.
        reader: of the codec that wrote the text; it has read nothing.
        sought: tells the payload; it has taken no bits.
        progress: told after each pass of the model how far the search came.
        by_writer: whether to take only the passes that the reader surely has, on any machine.

    Raises:
        ExtractionError: the text does not begin with the prompt, or is not valid Unicode.
    """
    passes = WRITER_PASSES if by_writer else READER_PASSES
    spellings = setup.spellings(text)
    decoder = yield from begin_text(NewText(setup.prompt_ids, rewindable=True))
    root = Branch.root(setup.passing.start(setup.sent), reader, sought)
    allowance = Allowance(passes, spellings.tokens_per_byte)
    search = _Search(setup, spellings, decoder, root, allowance, progress)
    return (yield from search.run())


class _Search(Generic[T]):
    """The search in one text.

    Args:
        setup: of the text.
        spellings: of the text.
        decoder: has read the prompt, and can be rewound.
        root: the branch where it begins.
        allowance: how many tokens the model may read.
        progress: see `searched`.
    """

    def __init__(
        self,
        setup: Setup,
        spellings: Spellings,
        decoder: Decoder,
        root: Branch[T],
        allowance: Allowance,
        progress: Progress | None,
    ) -> None:
        self._setup = setup
        self._spellings = spellings
        self._decoder = decoder
        self._allowance = allowance
        self._progress = progress
        self._frontier = Frontier[T]()
        self._root = root
        self._read = [self._root]  # what the model has read, token by token
        self._furthest = self._root

    def run(self) -> Job[T | None]:
        """The payload, if it is found in time."""
        found = yield from self._follow(self._root, as_usual=True)
        while found is None and not self._allowance.used_up:
            branch = self._frontier.pop(lambda each: len(each.after(self._read)))
            if branch is None:
                break
            found = yield from self._follow(branch)
        return found

    def _follow(self, branch: Branch[T], as_usual: bool = False) -> Job[T | None]:
        """Go on with a branch until it ends, or another one is better; the payload if it has one.

        Args:
            branch: where to begin.
            as_usual: go on with the tokenizer's tokens as long as they can be there.
        """
        frontier = self._frontier
        while not self._allowance.used_up:
            step = yield from self._step_after(branch)
            going_on = list[Branch[T]]()
            for grown in self._grown(branch, step):
                if grown.has_all_bits(self._setup.most_bits):
                    found = grown.payload(self._setup.most_bits)
                    if found is not None:
                        return found
                elif grown.place < self._spellings.size:
                    going_on.append(grown)
            if not going_on:
                return None
            usual = self._spellings.usual.get(branch.place) if as_usual else None
            best = max(going_on, key=lambda each: (each.token == usual, frontier.rank(each)))
            for each in going_on:
                if each is not best:
                    frontier.add(each)
            if not as_usual and frontier.rank(best) < frontier.best_rank - _PERSISTENCE:
                frontier.add(best)
                return None
            frontier.reach(best)
            self._allowance.reach(best.place)
            branch = best
        return None

    def _grown(self, branch: Branch[T], step: Step | None) -> Sequence[Branch[T]]:
        """The branches with one more token."""
        if step is None:
            return ()
        following = self._spellings.following(step.choices, branch.place)
        grown = [branch.grown(step, index, end) for index, end in following]
        return [each.at_end() if each.place == self._spellings.size else each for each in grown]

    def _step_after(self, branch: Branch[T]) -> Job[Step | None]:
        """What may come after a branch; None if nothing can."""
        if branch.length >= self._setup.room:
            return None
        missing = branch.after(self._read)
        common = branch.length - len(missing)
        if common < len(self._read) - 1:
            self._decoder.rewind(len(self._read) - 1 - common)
        for each in missing:
            yield each.token
            self._tell(each)
        self._allowance.use(len(missing))
        self._read[common + 1 :] = missing
        session = self._spellings.session(branch.place)
        try:
            return step_after(self._decoder, self._setup.candidates, branch.passing, session)
        except CapacityError:
            return None

    def _tell(self, branch: Branch[T]) -> None:
        """Tell that the model has read a branch."""
        if branch.bits > self._furthest.bits:
            self._furthest = branch
        if self._progress is not None:
            done, needed = self._furthest.bits, self._furthest.frame.bits_needed
            self._progress(done, done + needed)

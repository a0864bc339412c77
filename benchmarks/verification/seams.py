"""Random seams: `ticore.seam` compared with the encoding of the whole, on as many as wanted."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import ticore
from benchmarks._harness.corpora import load_corpora
from benchmarks._harness.progress import messages, progress_bar
from benchmarks._harness.report import results
from benchmarks._harness.tables import text_table
from ticore.interfaces import Tokenizer

from .tokenizer_sources import tokenizer_sources, tokenizers_in

_BATCH = 1000

# What tokenizers treat in a way of their own, and what is split from or joined to neighbours.
PIECES = (
    *("\n", "\n\n", " ", "  ", "\t", "\r\n", "\u2581", "\u3000", "\u200d", "'", "'s", "s", "'LL"),
    *("é", "e", "\u0301", "\u0327", "ſ", "ﬁ", "\u0ba4", "ಠ", "😀", "日本", "語", "。", "、"),
    *("12", "345", "!", "!?", '{"a": 1}', "a", "the", " the", "A", "b", "B", "<", "<|", "|>"),
    *("<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|endoftext|>"),
)


@dataclass
class Tally:
    """What was found.

    Attributes:
        seams: how many were asked about.
        apart, always: how many have this answer.
        around: how many texts were put around seams that are always apart.
        wrong: the lines of code that show a wrong answer.
    """

    seams: int = 0
    apart: int = 0
    always: int = 0
    around: int = 0
    wrong: list[str] = field(default_factory=list)


class SeamCases:
    """Random texts and ids, and what `ticore.seam` says about them.

    Args:
        tokenizer: is asked.
        texts: real texts, of which parts are taken.
        seed: of the random choices.
    """

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str], seed: str) -> None:
        self._tokenizer, self._texts = tokenizer, texts
        self._random = random.Random(seed)
        structure = tokenizer.structure()
        self._added = sorted(structure.added_tokens) if structure else []

    def play(self, count: int) -> Tally:
        """Ask about this many seams."""
        tally = Tally()
        for _ in range(count):
            for wrong in self._play_one(tally):
                tally.wrong.append(wrong)
        return tally

    def text(self, pieces: int) -> str:
        """A random text of fewer than `pieces` pieces."""
        return "".join(self._piece() for _ in range(self._random.randrange(pieces)))

    def _piece(self) -> str:
        draw, kind = self._random, self._random.random()
        if kind < 0.5 or not self._texts:
            return draw.choice(PIECES)
        if kind < 0.6 and self._added:
            added = draw.choice(self._added)
            cut = draw.randrange(len(added) + 1)
            return draw.choice((added, added[:cut], added[cut:]))
        text = draw.choice(self._texts)
        start = draw.randrange(max(1, len(text) - 40))
        return text[start : start + draw.randrange(1, 25)]

    def _play_one(self, tally: Tally) -> Iterator[str]:
        tokenizer, encode, decode = self._tokenizer, self._tokenizer.encode, self._tokenizer.decode
        left, right = self.text(9), self.text(9)
        first, second = encode(left), encode(right)
        as_ids = self._random.random() < 0.5
        if as_ids and self._random.random() < 0.5:  # ids of one text, cut anywhere
            whole = encode(left + right)
            cut = self._random.randrange(len(whole) + 1)
            first, second = whole[:cut], whole[cut:]
        if as_ids and not tokenizer.special_ids.isdisjoint((*first, *second)):
            return
        asked: tuple[list[int], list[int]] | tuple[str, str]
        asked = (first, second) if as_ids else (left, right)
        found = ticore.seam(tokenizer, *asked)
        tally.seams += 1
        tally.apart += found.apart
        tally.always += found.always
        together = decode([*first, *second]) if as_ids else left + right
        expected = encode(together)
        kept = first[: len(first) - found.changed_left], second[found.changed_right :]
        if found.apart != (expected == first + second):
            yield f"seam(tokenizer, *{asked!r}).apart is {found.apart}"
        if [*kept[0], *found.replacement, *kept[1]] != expected:
            yield f"seam(tokenizer, *{asked!r}).replacement is {found.replacement}"
        if not found.always:
            return
        before, after = (decode(first), decode(second)) if as_ids else (left, right)
        for _ in range(3):
            more, rest = self.text(4), self.text(4)
            tally.around += 1
            apart = encode(more + before) + encode(after + rest)
            if encode(more + together + rest) != apart:
                yield f"seam(tokenizer, *{asked!r}).always, but not between {more!r} and {rest!r}"


def run(options: argparse.Namespace) -> int:
    """Play with all tokenizers. Returns the exit status: 1 where an answer was wrong."""
    texts = list(load_corpora(options.texts, options.data).values())
    named = list(options.tokenizer)
    if options.data is not None and not named:
        named = [*tokenizers_in(options.data / "tokenizers"), *_ASSEMBLED]
    sources = tokenizer_sources(named, options.data)
    share = -(-options.seams // len(sources))
    table = text_table(
        "Seams compared with the encoding of the whole",
        ["tokenizer"],
        ["seams", "apart", "always apart", "texts around them", "wrong"],
    )
    wrong = 0
    with progress_bar(share * len(sources)) as advance:
        for source in sources:
            try:
                tokenizer = source.open()
            except ticore.TicoreError as error:
                messages.print(f"{source.name}: {error}", markup=False)
                continue
            cases, total = SeamCases(tokenizer, texts, f"{options.seed} {source.name}"), Tally()
            for start in range(0, share, _BATCH):
                found = cases.play(min(_BATCH, share - start))
                for name in ("seams", "apart", "always", "around"):
                    setattr(total, name, getattr(total, name) + getattr(found, name))
                for line in found.wrong:
                    results.print(f"{source.name} ({source.place}): {line}", markup=False)
                total.wrong += found.wrong
                advance(min(_BATCH, share - start), source.name)
            wrong += len(total.wrong)
            counts = total.seams, total.apart, total.always, total.around, len(total.wrong)
            table.add_row(source.name, *(f"{count:,}" for count in counts))
    results.print(table)
    return 1 if wrong else 0


# Tokenizers of a data folder whose files have no name of their own.
_ASSEMBLED = ("gpt2", "llama-3", "llama-3-gpt2", "llama-3-o200k", "llama-2-metaspace")

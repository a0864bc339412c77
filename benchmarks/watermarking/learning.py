"""What an observer without the key learns: `python -m benchmarks.watermarking.learning`.

By counting: the tokens that marked texts have more often than unmarked ones are called green. That
works whatever the key is; how many texts it takes is shown. By trying: version 1 draws a list from
one word of 32 bits, so that all lists can be tried; version 2 draws it from 128 bits and more.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ticore
from benchmarks.prompts import prompts
from ticore.schemes import scheme_named
from ticore.schemes.keyed import Key, number, spread, spread_number
from ticore.schemes.wide import Seed, WideKey
from ticore.schemes.wide import number as wide_number
from ticore.watermarking import Generator

_KEY = bytes(range(32))
_AT_ONCE = 64


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="holds prompts/")
    parser.add_argument("--texts", type=int, default=1000, help="marked ones, and unmarked ones")
    parser.add_argument("--tokens", type=int, default=200, help="of each text")
    parser.add_argument("--bits", type=int, default=18, help="how many seeds are tried: 2^BITS")
    given = parser.parse_args(arguments)
    model = ticore.load_model("tiny-en", dtype="float32")
    begin = prompts(given.data, "en")
    plain = _written(Generator(model, end_of_text=False, seed=1), begin, given)
    for scheme in ("unigram", "left_hash"):
        mark = ticore.Watermarker(model, scheme, key=_KEY, end_of_text=False, seed=2)
        marked = _written(mark, begin, given)
        _count(scheme, model.tokenizer.vocab_size, marked, plain)
        if scheme == "unigram":
            _try(given.bits, model.tokenizer.vocab_size)
    return 0


def _written(writer: Any, begin: Sequence[str], given: argparse.Namespace) -> list[list[int]]:
    found: list[list[int]] = []
    while len(found) < given.texts:
        count = min(_AT_ONCE, given.texts - len(found))
        some = [begin[(len(found) + n) % len(begin)] for n in range(count)]
        found += [list(text.ids) for text in writer.generate_batch(some, given.tokens)]
    return found


def _count(scheme: str, size: int, marked: list[list[int]], plain: list[list[int]]) -> None:
    """The share of tokens whose colour is told right, of the vocabulary and of running text.

    With `left_hash` there is a list for each token before; the one after the likeliest is learnt.
    """
    before = None if scheme == "unigram" else _likeliest(plain)
    context = [] if before is None else [before]
    green = scheme_named(scheme, _KEY, size).bias(context, np.zeros(size)) > 0
    usual = _counts(plain, size, before)
    for texts in (n for n in (1, 3, 10, 30, 100, 300, 1000, 3000) if n <= len(marked)):
        seen = _counts(marked[:texts], size, before)
        expected = usual * seen.sum() / usual.sum()
        guessed = seen > expected
        right = guessed == green
        running = (right * usual).sum() / usual.sum()
        print(
            f"{scheme:10s} {texts:5d} texts: {right.mean():6.1%} of the vocabulary's colours, "
            f"{running:6.1%} of running text",
            flush=True,
        )


def _counts(texts: list[list[int]], size: int, before: int | None) -> npt.NDArray[np.float64]:
    counts = np.zeros(size)
    for ids in texts:
        row = np.array(ids)
        np.add.at(counts, row if before is None else row[1:][row[:-1] == before], 1)
    return counts


def _likeliest(texts: list[list[int]]) -> int:
    return int(np.argmax(np.bincount(np.concatenate(texts))))


def _try(bits: int, size: int) -> None:
    """Try 2^bits seeds, the right one among them, on 125 tokens of which four fifths are green."""
    rng = np.random.default_rng(0)
    tokens = rng.choice(size, 125, replace=False).astype(np.uint32)
    first = Key.derive(_KEY, "ticore watermark unigram")
    right = first.seed([0])
    started = time.process_time()
    found = _best(
        _some(right, bits),
        _shown(number(right, tokens), rng),
        lambda seed: spread_number(seed, spread(tokens)),
    )
    each = (time.process_time() - started) / 2**bits
    print(
        f"version 1: of 2^{bits} seeds the best is {'the right' if found == right else 'a wrong'} "
        f"one; {each * 1e9:.0f} ns a seed in NumPy, so all 2^32 take {each * 2**32 / 3600:.1f} h"
    )
    second = WideKey.derive(_KEY, "ticore watermark unigram, version 2")
    seed, words = second.seed([second.token_word(0)]), second.token_word(tokens)
    shown = _shown(wide_number(seed, words), rng)
    other = WideKey.derive(_KEY[::-1], "another").token_word(tokens)
    wrong = int(rng.integers(2**32))
    for what, draw in {
        "all else known": lambda a: wide_number(Seed(a, seed.b), words),
        "but not the other word of the seed": lambda a: wide_number(Seed(a, wrong), words),
        "but not the tokens' words": lambda a: wide_number(Seed(a, seed.b), other),
    }.items():
        found = _best(_some(seed.a, bits), shown, draw)
        kind = "the right" if found == seed.a else "a wrong"
        print(f"version 2, one word of the seed, {what}: the best is {kind} one")


def _some(right: int, bits: int) -> npt.NDArray[np.uint32]:
    begin = right >> bits << bits
    return np.arange(begin, begin + (1 << bits), dtype=np.uint32)


def _shown(numbers: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """What an observer takes for green: a fifth of it wrongly."""
    return (numbers < 1 << 30) ^ (rng.random(len(numbers)) < 0.2)


def _best(seeds: npt.NDArray[np.uint32], shown: npt.NDArray[np.bool_], draw: Any) -> int:
    best, most = -1, -1
    for some in np.array_split(seeds, max(1, len(seeds) >> 12)):
        same = ((draw(some[:, None]) < 1 << 30) == shown).sum(axis=1)
        at = int(np.argmax(same))
        if same[at] > most:
            best, most = int(some[at]), int(same[at])
    return best


if __name__ == "__main__":
    sys.exit(main())

"""What an observer learns without the key: `python -m benchmarks.watermarking.learning`.

By counting: the tokens that marked texts have more often than unmarked ones are called green. That
works whatever the key is. Texts are drawn here, token by token, with the frequencies that FILE has
(of single tokens, and of those after the likeliest one), green ones likelier by as much as a model
was seen to make them; the observer knows the frequencies. So the figures are in his favour.

By trying: version 1 draws a list from one word of 32 bits, so that all lists can be tried; version
2 draws it from 128 bits and more.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ticore
from ticore.schemes import scheme_named
from ticore.schemes.keyed import Key, number, spread, spread_number
from ticore.schemes.wide import Seed, WideKey
from ticore.schemes.wide import number as wide_number

_KEY = bytes(range(32))
_TEXTS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
_LENGTH = 200
# Of the tokens that `unigram` writes with delta 2, 85 % are green: `tiny-en`, temperature 1.
_LIKELIER = 0.85 / 0.15
_KEYS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", type=Path, required=True, metavar="FILE", help="UTF-8, or .gz")
    parser.add_argument("--tokenizer", default="tiny-en", metavar="PLACE")
    parser.add_argument("--characters", type=int, default=6_000_000, help="read so many of FILE")
    parser.add_argument("--bits", type=int, default=18, help="how many seeds are tried: 2^BITS")
    given = parser.parse_args(arguments)
    tokenizer = ticore.load_tokenizer(given.tokenizer)
    opening = gzip.open if given.text.suffix == ".gz" else open
    with opening(given.text, "rt", encoding="utf-8", errors="replace") as file:
        lines = file.read(given.characters).splitlines()
    ids = np.concatenate([np.array(row, np.int64) for row in tokenizer.encode_batch(lines)])
    size = tokenizer.vocab_size
    counts = np.bincount(ids, minlength=size)
    likeliest = int(np.argmax(counts))
    after = np.bincount(ids[1:][ids[:-1] == likeliest], minlength=size)
    _count("unigram", [], counts / counts.sum(), _LENGTH)
    _count("left_hash", [likeliest], after / after.sum(), _LENGTH * counts[likeliest] / len(ids))
    _try(given.bits, size)
    return 0


def _count(scheme: str, context: list[int], usual: npt.NDArray[np.float64], length: float) -> None:
    """The share of colours that are told right, of the tokens that occur and of running text.

    Args:
        usual: the probability of each token without a watermark.
        length: tokens of each text that follow this context.
    """
    occurring = usual > 0
    print(f"{scheme}: {occurring.sum():,} tokens occur, {length:.1f} of each text", flush=True)
    for texts in _TEXTS:
        kinds, running = [], []
        for number_of_key in range(_KEYS):
            key = bytes([number_of_key]) * 16
            marks = scheme_named(scheme, key, len(usual))
            green = marks.bias(context, np.zeros(len(usual))) > 0
            shares = np.where(green, _LIKELIER, 1) * usual
            rng = np.random.default_rng(number_of_key)
            seen = rng.multinomial(round(texts * length), shares / shares.sum())
            right = (seen > usual * seen.sum()) == green
            kinds.append(right[occurring].mean())
            running.append((right * usual).sum())
        print(
            f"  {texts:6,d} texts: {np.mean(kinds):6.1%} of the tokens, "
            f"{np.mean(running):6.1%} of running text",
            flush=True,
        )


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

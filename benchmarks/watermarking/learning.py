"""What an observer who has no key learns from watermarked texts.

python -m benchmarks.watermarking.learning --text FILE

By counting: the tokens that are more frequent in watermarked texts than in others are called green.
This works for every key. Texts are simulated token by token with the frequencies of FILE: of single
tokens, and of tokens after the most frequent one. Green tokens are more likely by a factor that was
measured with a model. The observer knows the frequencies, which is more than a real one would.

By trying: version 1 draws a list from one word of 32 bits, so all lists can be tried. Version 2
draws it from at least 128 bits.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

import ticore
from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.progress import track
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject
from ticore.errors import InputFileError
from ticore.interfaces import Tokenizer
from ticore.schemes import make_scheme
from ticore.schemes._keyed_numbers_v1 import KeyV1, keyed_uniform, spread, spread_number
from ticore.schemes._keyed_numbers_v2 import KeyV2, Seed
from ticore.schemes._keyed_numbers_v2 import keyed_uniform as keyed_uniform_v2

Floats = npt.NDArray[np.float64]

TEXT_COUNTS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
_KEY = bytes(range(32))
_LENGTH = 200
# With `tiny-en` at temperature 1, 85 % of the tokens that `unigram` writes with delta 2 are green.
_GREEN_FACTOR = 0.85 / 0.15
_KEYS = 5
_SHOWN_TOKENS = 125
_WRONG_COLOURS = 0.2  # of the tokens that an observer sees


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.learning", __doc__)
    parser.add_argument(
        "--text", type=Path, required=True, metavar="FILE", help="a UTF-8 text, maybe .gz"
    )
    parser.add_argument(
        "--tokenizer", default="tiny-en", metavar="PLACE", help="the tokenizer to open"
    )
    parser.add_argument(
        "--characters", type=positive_int, default=6_000_000, help="to read of FILE"
    )
    parser.add_argument("--bits", type=positive_int, default=18, help="try 2^BITS seeds")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    tokenizer = ticore.load_tokenizer(options.tokenizer)
    ids = _encoded(tokenizer, options.text, options.characters)
    size = tokenizer.vocab_size
    counts = np.bincount(ids, minlength=size)
    most_frequent = int(np.argmax(counts))
    after = np.bincount(ids[1:][ids[:-1] == most_frequent], minlength=size)
    tokens_after = _LENGTH * counts[most_frequent] / len(ids)
    counting = [
        *_learn_by_counting("unigram", [], counts / counts.sum(), _LENGTH),
        *_learn_by_counting("left_hash", [most_frequent], after / after.sum(), tokens_after),
    ]
    trying = _learn_by_trying(options.bits, size)
    settings = {name: str(value) for name, value in vars(options).items()}
    report = new_report(settings, complete=True) | {"counting": counting, "trying": trying}
    return publish(options, report, counting, tables(report))


def _encoded(tokenizer: Tokenizer, file: Path, characters: int) -> npt.NDArray[np.int64]:
    opening = gzip.open if file.suffix == ".gz" else open
    try:
        with opening(file, "rt", encoding="utf-8", errors="replace") as stream:
            lines = stream.read(characters).splitlines()
    except OSError as error:
        raise InputFileError(
            f"expected a text in {file}: {error}; name another with --text"
        ) from error
    ids = [np.array(line, np.int64) for line in tokenizer.encode_batch(lines)]
    if sum(map(len, ids)) < 2:
        raise InputFileError(f"expected a text in {file}, found less than two tokens; name another")
    return np.concatenate(ids)


def _learn_by_counting(
    scheme: str, context: list[int], usual: Floats, length: float
) -> Iterator[JsonObject]:
    """The share of colours that the observer gets right, by the number of texts.

    Args:
        scheme: its name.
        context: the context whose list is learned.
        usual: the probability of each token in this context without a watermark.
        length: tokens per text that follow this context.
    """
    occurring = usual > 0
    for texts in track(TEXT_COUNTS, scheme, len(TEXT_COUNTS)):
        of_tokens, of_running_text = [], []
        for n in range(_KEYS):
            watermark = make_scheme(scheme, bytes([n]) * 16, len(usual))
            green = watermark.bias(context, np.zeros(len(usual))) > 0
            marked = np.where(green, _GREEN_FACTOR, 1) * usual
            rng = np.random.default_rng(n)
            seen = rng.multinomial(round(texts * length), marked / marked.sum())
            right = (seen > usual * seen.sum()) == green
            of_tokens.append(right[occurring].mean())
            of_running_text.append((right * usual).sum())
        yield {
            "scheme": scheme,
            "text_count": texts,
            "tokens_per_text": float(length),
            "occurring_tokens": int(occurring.sum()),
            "right_of_tokens": float(np.mean(of_tokens)),
            "right_of_running_text": float(np.mean(of_running_text)),
        }


def _learn_by_trying(bits: int, size: int) -> list[JsonObject]:
    """Try 2^bits seeds, with the right one among them, on tokens whose colours an observer saw."""
    rng = np.random.default_rng(0)
    tokens = rng.choice(size, min(_SHOWN_TOKENS, size), replace=False).astype(np.uint32)
    seed = KeyV1.derive(_KEY, "ticore watermark unigram").seed([0])
    started = process_time()
    best = _best(
        _seeds_around(seed, bits),
        _seen_green(keyed_uniform(seed, tokens), rng),
        lambda tried: spread_number(tried, spread(tokens)),
    )
    seconds = (process_time() - started) / 2**bits
    found = [{"version": 1, "known": "nothing", "right": best == seed, "seconds_per_seed": seconds}]
    wide_key = KeyV2.derive(_KEY, "ticore watermark unigram, version 2")
    wide, words = wide_key.seed([wide_key.token_word(0)]), wide_key.token_word(tokens)
    seen = _seen_green(keyed_uniform_v2(wide, words), rng)
    other_words = KeyV2.derive(_KEY[::-1], "another").token_word(tokens)
    wrong_word = int(rng.integers(2**32))
    for known, draw in {
        "everything but one word of the seed": lambda a: keyed_uniform_v2(Seed(a, wide.b), words),
        "the words of tokens": lambda a: keyed_uniform_v2(Seed(a, wrong_word), words),
        "the other word of the seed": lambda a: keyed_uniform_v2(Seed(a, wide.b), other_words),
    }.items():
        best = _best(_seeds_around(wide.a, bits), seen, draw)
        found.append({"version": 2, "known": known, "right": best == wide.a})
    return found


def _seeds_around(seed: int, bits: int) -> npt.NDArray[np.uint32]:
    """All seeds that differ from `seed` in the lowest `bits` bits only."""
    first = seed >> bits << bits
    return np.arange(first, first + (1 << bits), dtype=np.uint32)


def _seen_green(numbers: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Which tokens the observer calls green; one in five wrongly."""
    return (numbers < 1 << 30) ^ (rng.random(len(numbers)) < _WRONG_COLOURS)


def _best(
    seeds: npt.NDArray[np.uint32],
    seen: npt.NDArray[np.bool_],
    draw: Callable[[npt.NDArray[np.uint32]], npt.NDArray[Any]],
) -> int:
    """The seed whose list agrees best with what the observer saw."""
    best, most = -1, -1
    for part in np.array_split(seeds, max(1, len(seeds) >> 12)):
        agreeing = ((draw(part[:, None]) < 1 << 30) == seen).sum(axis=1)
        at = int(np.argmax(agreeing))
        if agreeing[at] > most:
            best, most = int(part[at]), int(agreeing[at])
    return best


def tables(report: JsonObject) -> Iterator[Table]:
    """The tables of a report."""
    counting = text_table(
        "By counting: the share of colours that an observer gets right",
        ["scheme"],
        ["texts", "of the tokens that occur", "of running text"],
    )
    for row in report["counting"]:
        shares = (f"{row[name]:.1%}" for name in ("right_of_tokens", "right_of_running_text"))
        counting.add_row(row["scheme"], f"{row['text_count']:,}", *shares)
    yield counting
    bits = report["settings"]["bits"]
    trying = text_table(
        f"By trying 2^{bits} seeds: which seed fits best",
        ["version", "what the observer knows", "best seed"],
        ["ns per seed (NumPy)", "hours for all 2^32"],
    )
    for row in report["trying"]:
        each = row.get("seconds_per_seed")
        times = ("", "") if each is None else (f"{each * 1e9:.0f}", f"{each * 2**32 / 3600:.1f}")
        verdict = "the right one" if row["right"] else "a wrong one"
        trying.add_row(str(row["version"]), row["known"], verdict, *times)
    yield trying


if __name__ == "__main__":
    sys.exit(main())

"""What one program pays that verifies: CPU time and memory of opening, of pushes, of whole lists.

    python -m benchmarks.verification.one_process tokenizers:FILE --data DIR

The first run stores tables, and what is known of a large file; those after it are opened from these
(TICORE_CACHE names their folder). DIR holds `corpora`, as for `benchmarks.verification`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import ticore
from benchmarks._harness.corpora import load_corpora
from ticore.consistency import compare
from ticore.consistency._engines.list_check import list_check
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Tokenizer

from .survey_stages import peak_bytes

T = TypeVar("T")

_LANGUAGES = ("English", "Japanese", "Chinese")
_PUSHED = 4000  # tokens that are not timed, then half of those that are
_LIST = 500_000  # characters of each list that is compared
_LISTS = 3


def main() -> int:
    """Measure one tokenizer, and print a line for each measurement."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tokenizer", help="the place of a tokenizer, BACKEND:LOCATION")
    parser.add_argument("--data", type=Path, help="the folder that holds corpora")
    options = parser.parse_args()
    _say("imports", time.process_time())
    seconds, tokenizer = _timed(partial(ticore.load_tokenizer, options.tokenizer))
    _say("opening", seconds)
    seconds, verifier = _timed(partial(ticore.Verifier, tokenizer))
    _say("Verifier", seconds)
    for language, text in load_corpora([], options.data, _LANGUAGES).items():
        _time_pushes(verifier, language, tokenizer.encode(text[: 20 * _PUSHED]))
        _time_lists(tokenizer, language, text)
    return 0


def _time_pushes(verifier: ticore.Verifier, language: str, ids: list[int]) -> None:
    verification = verifier.start()
    for token in ids[:_PUSHED]:
        verification.push(token)
    timed = ids[_PUSHED : 3 * _PUSHED]

    def push_all() -> None:
        for token in timed:
            verification.push(token)

    seconds, _ = _timed(push_all)
    print(f"push, {language}: {seconds / max(1, len(timed)) * 1e6:.1f} us")


def _time_lists(tokenizer: Tokenizer, language: str, text: str) -> None:
    """Tokens per second of `compare`, with the tables that a long text or a scan makes."""
    try:
        list_check(tokenizer)
    except Unsupported as why:
        print(f"compare, {language}: without tables, {why}")
    for number in range(_LISTS):
        some = text[number * _LIST : (number + 1) * _LIST]
        if len(some) < _LIST:
            return
        seconds, (ids,) = _timed(partial(tokenizer.encode_batch, [some]))
        rates = [len(ids) / seconds]
        for _ in range(2):
            seconds, _found = _timed(partial(compare, tokenizer, ids))
            rates.append(len(ids) / seconds)
        encoding, new, again = (f"{rate:,.0f}" for rate in rates)
        print(f"list of {len(ids):,}, {language}: encoding {encoding}, new {new}, again {again} /s")


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


def _say(what: str, seconds: float) -> None:
    peak = peak_bytes()
    memory = "" if peak is None else f", {peak / 1e6:.0f} MB at its peak"
    print(f"{what}: {seconds:.2f} s of CPU{memory}")


if __name__ == "__main__":
    sys.exit(main())

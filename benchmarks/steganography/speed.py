"""The time of a message beside its model, and of many messages at once.

python -m benchmarks.steganography.speed --tokenizers tiny-en tokenizers:DIR/tokenizer.json
python -m benchmarks.steganography.speed --model torch:tiny-en --texts 32

Three tables, in CPU time on one core: the pool of a step, computed as it is and in the plain way;
a token that is written and read with a model of no cost; and texts that are written one by one and
side by side with a real model.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from rich.table import Table

import ticore
from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.environment import one_core
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.timing import time_in_turns
from benchmarks._harness.types import JsonObject
from ticore.candidates import Candidates, PoolSettings
from ticore.interfaces import LanguageModel, Tokenizer
from ticore.steganography import Embedding

from .free_model import FreeModel
from .plain_pool import PlainCandidates

TOP_K = (64, 4096, None)
_KEY = bytes(32)


def time_pools(tokenizer: Tokenizer, rounds: int) -> Iterator[JsonObject]:
    """Milliseconds per pool, as it is and in the plain way, which must give the same."""
    for dtype in ("float32", "float64"):
        model = FreeModel(tokenizer, dtype)
        for top_k in TOP_K:
            made = [
                kind(model, PoolSettings(top_k=top_k)) for kind in (Candidates, PlainCandidates)
            ]
            logits = model.logits_after([])
            pools = [candidates.pool(logits) for candidates in made]
            assert np.array_equal(pools[0].ids, pools[1].ids)
            works = [partial(each.pool, logits) for each in made]
            seconds = time_in_turns(works, rounds, clock=time.process_time)
            found = dict(zip(("now", "plain"), (1e3 * min(each) for each in seconds), strict=True))
            yield {"dtype": dtype, "top_k": top_k, "logits": model.logit_width} | found


def time_tokens(tokenizer: Tokenizer, size: int, rounds: int) -> Iterator[JsonObject]:
    """Milliseconds per token of a message of `size` bytes, beside a model of no cost."""
    message = np.random.default_rng(0).bytes(size)
    for top_k in TOP_K:
        entropy = np.random.default_rng(1).bytes
        stego = ticore.Steganographer(
            FreeModel(tokenizer), key=_KEY, top_k=top_k, finish="none", entropy=entropy
        )
        text = stego.embed(message)
        works: dict[str, Callable[[], object]] = {
            "written": partial(stego.embed, message),
            "written, check='full'": partial(stego.embed, message, check="full"),
            "read": partial(stego.extract, text),
        }
        seconds = time_in_turns(list(works.values()), rounds, clock=time.process_time)
        found = {
            name: 1e3 * min(each) / len(text.ids) for name, each in zip(works, seconds, strict=True)
        }
        yield {"top_k": top_k, "logits": tokenizer.vocab_size} | found


def time_batch(model: LanguageModel, texts: int, rounds: int) -> JsonObject:
    """Milliseconds per token of texts that are written alone and side by side."""
    stego = ticore.Steganographer(
        model, key=_KEY, prompt="The morning was cold and", finish="none", numerics="portable"
    )
    messages = [b"message %03d" % n for n in range(texts)]

    def alone() -> float:
        return per_token(lambda: [stego.embed(message) for message in messages])

    def together() -> float:
        return per_token(lambda: stego.embed_batch(messages, batch_size=texts))

    found = [(alone(), together()) for _ in range(rounds)]
    best = [min(each) for each in zip(*found, strict=True)]
    return {"texts": texts, "alone": best[0], "together": best[1], "ratio": best[0] / best[1]}


def per_token(write: Callable[[], Sequence[object]]) -> float:
    """Milliseconds of CPU time per token of the texts that `write` gives."""
    started = time.process_time()
    written = write()
    seconds = time.process_time() - started
    return 1e3 * seconds / sum(len(each.ids) for each in written if isinstance(each, Embedding))


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("steganography-speed", __doc__)
    parser.set_defaults(json=Path("results/steganography-speed.json"))
    parser.add_argument("--tokenizers", nargs="+", default=["tiny-en"], metavar="PLACE")
    parser.add_argument("--model", default="tiny-en", metavar="PLACE", help="for many texts")
    parser.add_argument("--texts", type=positive_int, default=32, help="side by side")
    parser.add_argument("--bytes", type=positive_int, default=200, help="per message")
    parser.add_argument("--rounds", type=positive_int, default=3)
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    pools, tokens = list[JsonObject](), list[JsonObject]()
    with one_core():
        for place in options.tokenizers:
            tokenizer = ticore.load_tokenizer(place)
            named = {"tokenizer": place}
            pools += [named | row for row in time_pools(tokenizer, 10 * options.rounds)]
            tokens += [named | row for row in time_tokens(tokenizer, options.bytes, options.rounds)]
        model = ticore.load_model(options.model, dtype="float64")
        batch = {"model": options.model} | time_batch(model, options.texts, options.rounds)
    settings = {name: str(value) for name, value in vars(options).items()}
    report = new_report(settings, complete=True)
    report |= {"pools": pools, "tokens": tokens, "batch": batch}
    return publish(options, report, pools, tables(report))


def tables(report: JsonObject) -> Iterator[Table]:
    """The tables of a report."""
    for title, left, rows in (
        ("A pool, milliseconds", ("tokenizer", "dtype"), report["pools"]),
        ("A token beside a model of no cost, milliseconds", ("tokenizer",), report["tokens"]),
        ("A token of one of many texts, milliseconds", ("model",), [report["batch"]]),
    ):
        table = text_table(title, left, [name for name in rows[0] if name not in left])
        for row in rows:
            table.add_row(*[_cell(value) for value in row.values()])
        yield table


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "all" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    sys.exit(main())

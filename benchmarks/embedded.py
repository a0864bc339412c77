"""A bundled model: how well it predicts texts it has not seen, how fast it is, what it writes.

python -m benchmarks.embedded --corpus DIR [--recipe tiny-ja --model tiny-ja --language ja]

DIR holds the texts that the model was trained on; see docs/tiny-en.md. Some of them were held out
of training, and those are predicted here. Without DIR, only speed and sample texts are shown.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.table import Table

import ticore
from benchmarks._harness.cli import (
    add_alias,
    add_prompt_options,
    command,
    exit_status,
    positive_int,
)
from benchmarks._harness.environment import one_core
from benchmarks._harness.progress import track
from benchmarks._harness.prompts import chosen_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.timing import time_in_turns
from benchmarks._harness.types import JsonObject
from ticore.candidates import Candidates, PoolSettings
from ticore.interfaces import LanguageModel
from ticore_embedded import EmbeddedModel
from ticore_embedded._layers import Linear
from training.recipes import RECIPES

DTYPES = ("float32", "float64")
WINDOW = 1024
"""Tokens that are predicted from the start token alone, before the next window starts."""

_PASSAGE = "The morning was cold and grey. " * 60
_ROUNDS = 3
_PRODUCT_ROUNDS = 20


def cross_entropy(model: LanguageModel, text: str) -> tuple[float, int]:
    """How well the model predicts a text, read in windows of `WINDOW` tokens.

    Returns:
        The cross-entropy in bits, and the number of UTF-8 bytes that it is about: a last window
        that is not full is left out.
    """
    tokenizer, bits, size = model.tokenizer, 0.0, 0
    ids = tokenizer.encode(text)
    for start in range(0, len(ids) - WINDOW + 1, WINDOW):
        window = ids[start : start + WINDOW]
        logits = model.score(window).astype(np.float64)
        logits -= logits.max(-1, keepdims=True)
        log_probs = logits[np.arange(WINDOW), window] - np.log(np.exp(logits).sum(-1))
        bits -= float(log_probs.sum()) / math.log(2)
        size += sum(len(tokenizer.token_bytes(i)) for i in window)
    return bits, size


def continuation(
    model: LanguageModel, prompt: str, token_count: int, temperature: float, seed: int
) -> str:
    """The prompt and what the model writes after it, drawn from the 40 likeliest tokens."""
    rng = np.random.default_rng(seed)
    settings = PoolSettings(temperature=temperature, top_k=40)
    candidates = Candidates(model, settings)
    decoder = model.start(model.tokenizer.encode(prompt))
    for _ in range(token_count):
        pool = candidates.pool(decoder.logits())
        decoder.push(
            int(rng.choice(pool.ids, p=pool.unnormalized_probs / pool.unnormalized_probs.sum()))
        )
    return model.tokenizer.decode(decoder.ids)


def tokens_per_second(models: Sequence[LanguageModel], token_count: int) -> list[float]:
    """How many tokens per second each model reads with `push` and `logits`, at its fastest."""

    def read(model: LanguageModel) -> None:
        decoder = model.start([])
        for token in model.tokenizer.encode(_PASSAGE)[:token_count]:
            decoder.push(token)
            decoder.logits()

    works = [lambda model=model: read(model) for model in models]
    seconds = time_in_turns(works, _ROUNDS, clock=time.process_time)
    return [token_count / min(each) for each in seconds]


def products_per_second(models: Sequence[EmbeddedModel]) -> list[float]:
    """How often per second each model's matrices multiply one vector, at the fastest.

    The products of a token take at least as long. As they read every weight once, what limits them
    is the speed of memory.
    """

    def multiply(matrices: Sequence[npt.NDArray[np.floating]]) -> None:
        for matrix in matrices:
            np.vecdot(matrix, matrix[0])

    works = [partial(multiply, _matrices(model)) for model in models]
    seconds = time_in_turns(works, _PRODUCT_ROUNDS, clock=time.process_time)
    return [1 / min(each) for each in seconds]


def _matrices(model: EmbeddedModel) -> list[npt.NDArray[np.floating]]:
    """What reading a token multiplies by."""
    network = model.network
    parts = [part for block in network.blocks for part in (block.attention, block.forward)]
    fields = [value for part in parts for value in vars(part).values()]
    return [each.weight for each in (*fields, network.head) if isinstance(each, Linear)]


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("embedded", __doc__)
    parser.set_defaults(json=Path("results/embedded.json"))
    add_alias(parser, "--out", "json", type=Path)
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="folder of the language's texts")
    parser.add_argument(
        "--recipe",
        choices=sorted(RECIPES),
        default="tiny-en",
        help="the model whose texts those are",
    )
    parser.add_argument("--model", default="tiny-en", metavar="PLACE", help="the model to open")
    add_prompt_options(parser)
    parser.add_argument(
        "--characters", type=positive_int, default=200_000, help="to read of each held-out text"
    )
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--tokens", type=positive_int, default=80, help="tokens per sample text")
    parser.add_argument(
        "--timed-tokens", type=positive_int, default=300, help="tokens whose reading is timed"
    )
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    prompts = chosen_prompts(options, options.model)
    models = [ticore.load_model(options.model, dtype=dtype) for dtype in DTYPES]
    with one_core():
        speeds = tokens_per_second(models, options.timed_tokens)
        embedded = [model for model in models if isinstance(model, EmbeddedModel)]
        products = products_per_second(embedded)
    recipe = RECIPES[options.recipe]
    held_out = [] if options.corpus is None else recipe.load(options.corpus).held_out
    model = models[0]
    predicted = [
        cross_entropy(model, document[: options.characters])
        for document in track(held_out, "held-out texts", len(held_out))
    ]
    texts = [
        continuation(model, prompt, options.tokens, options.temperature, seed)
        for seed, prompt in enumerate(prompts)
    ]
    settings = {name: str(value) for name, value in vars(options).items()}
    report = new_report(settings, complete=True) | {
        "tokens_per_second": dict(zip(DTYPES, speeds, strict=True)),
        "products_per_second": dict(zip(DTYPES, products, strict=False)),
        "bits_per_byte": _bits_per_byte(predicted),
        "texts": texts,
    }
    rows = [{"prompt": prompt, "text": text} for prompt, text in zip(prompts, texts, strict=True)]
    return publish(options, report, rows, tables(report))


def _bits_per_byte(predicted: Sequence[tuple[float, int]]) -> float | None:
    """Bits per byte over all texts together; None if no text fills a window."""
    bits, size = (sum(part) for part in zip(*predicted, strict=True)) if predicted else (0.0, 0)
    return bits / size if size else None


def tables(report: JsonObject) -> Iterator[Table]:
    """The tables of a report."""
    columns = ["tokens per second", "products alone", "share"]
    speed = text_table("Tokens per second of CPU time, one core", ["dtype"], columns)
    for dtype, found in report["tokens_per_second"].items():
        bound = report["products_per_second"].get(dtype, math.nan)
        speed.add_row(dtype, f"{found:.1f}", f"{bound:.1f}", f"{found / bound:.0%}")
    yield speed
    if report["bits_per_byte"] is not None:
        prediction = text_table("Held-out texts", [], ["bits per byte"])
        prediction.add_row(f"{report['bits_per_byte']:.3f}")
        yield prediction
    texts = Table("text", title="What it writes", show_lines=True)
    for text in report["texts"]:
        texts.add_row(text)
    yield texts


if __name__ == "__main__":
    sys.exit(main())

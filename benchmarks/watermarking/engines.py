"""Engines' own watermarks, with and without masks: what is found in ids, in text, and by search.

python -m benchmarks.watermarking.engines --data DIR --model tiny-en --model tiny-ja --texts 50
python -m benchmarks.watermarking.engines --engine "transformers KGW" --texts 10

Tokens are chosen by the code of an installed engine, from logits as the model gives them or under
the masks of `ticore_vllm.ConsistentTokens` and `ConsistentLogitsProcessor`, which are those of a
Verifier. Each text is then read three times by ticore: its ids; its text; and its text with a
search for the writer's tokens, which pays for the search.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

import ticore
from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.progress import progress_bar
from benchmarks._harness.prompts import language_of, load_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table, write_markdown
from benchmarks._harness.types import JsonObject
from ticore.consistency import Verifier
from ticore.interfaces import LanguageModel

from .engine_writers import ENGINES, Engine

_EVIDENCE = {"of_ids": "ids", "of_text": "text", "of_search": "text, with search"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command("watermarking.engines", __doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds prompts/")
    parser.add_argument("--model", action="append", metavar="PLACE", help="may be repeated")
    parser.add_argument("--engine", action="append", choices=list(ENGINES), help="may be repeated")
    parser.add_argument("--texts", type=positive_int, default=50, help="of each kind")
    parser.add_argument("--tokens", type=positive_int, default=100, help="of a text")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the table to FILE as well"
    )
    return exit_status(_run, parser.parse_args(arguments))


def _run(options: argparse.Namespace) -> int:
    models, engines = options.model or ["tiny-en"], options.engine or list(ENGINES)
    settings = {name: getattr(options, name) for name in ("texts", "tokens")}
    rows = []
    with progress_bar(2 * len(models) * len(engines) * options.texts) as advance:
        for place in models:
            model = ticore.load_model(place)
            prompts = load_prompts(options.data, language_of(place))
            for engine in engines:
                for masks in (False, True):
                    texts = []
                    for number in range(options.texts):
                        writer = ENGINES[engine](number, model.tokenizer.vocab_size)
                        prompt = prompts[number % len(prompts)]
                        texts.append(_text(model, writer, prompt, options.tokens, masks))
                        advance(1, "texts")
                    row = {"model": place, "engine": engine, "masks": masks}
                    rows.append(row | _summary(texts))
    settings |= {"models": models, "engines": engines}
    report = new_report(settings, complete=True) | {"rows": rows}
    if options.markdown:
        write_markdown(options.markdown, [_table(rows)])
    return publish(options, report, rows, [_table(rows)])


def _text(
    model: LanguageModel, engine: Engine, prompt: str, tokens: int, masks: bool
) -> dict[str, float]:
    """What is found in one text."""
    tokenizer = model.tokenizer
    ids = _written(model, engine, prompt, tokens, masks)
    text = tokenizer.decode(ids)
    reader, searcher = engine.reader(tokenizer, "read"), engine.reader(tokenizer, "search")
    return {
        "changed": float(list(tokenizer.encode(text)) != ids),
        "of_ids": _evidence(reader.detect_ids(ids).p_value),
        "of_text": _evidence(reader.detect(text).p_value),
        "of_search": _evidence(searcher.detect(text).p_value),
    }


def _written(
    model: LanguageModel, engine: Engine, prompt: str, tokens: int, masks: bool
) -> list[int]:
    """The ids that follow a prompt."""
    prompt_ids = model.tokenizer.encode(prompt)
    text = Verifier(model.tokenizer, view="continuation").start(prompt_ids)
    special = sorted(model.tokenizer.special_ids)
    decoder = model.start(prompt_ids)
    ids: list[int] = []
    for _ in range(tokens):
        logits = np.array(decoder.logits(), dtype=np.float32)
        logits[special] = -np.inf
        if masks:
            logits[: model.tokenizer.vocab_size][~text.mask()] = -np.inf
        token = engine.choose(prompt_ids, ids, logits)
        ids.append(token)
        decoder.push(token)
        if masks:
            text.push(token)
    return ids


def _evidence(p_value: float) -> float:
    """-log10 of a p-value, at most 300."""
    return min(300.0, -math.log10(max(p_value, 1e-300)))


def _summary(texts: Sequence[dict[str, float]]) -> JsonObject:
    means = {name: float(np.mean([text[name] for text in texts])) for name in texts[0]}
    return {"texts": len(texts), **means}


def _table(rows: Sequence[JsonObject]) -> Table:
    headings = ["texts", "read back as other ids", *_EVIDENCE.values()]
    table = text_table("Mean evidence, -log10 p", ["model", "engine", "masks"], headings)
    for row in rows:
        evidence = (f"{row[name]:.2f}" for name in _EVIDENCE)
        share = f"{row['changed']:.0%}"
        masks = "with" if row["masks"] else "without"
        table.add_row(row["model"], row["engine"], masks, str(row["texts"]), share, *evidence)
    return table


if __name__ == "__main__":
    sys.exit(main())

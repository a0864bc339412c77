"""Engines' own watermarks, cured and not: what is found in ids, in text, and by search.

python -m benchmarks.watermarking.engines --data DIR --model tiny-en --model tiny-ja --texts 50
python -m benchmarks.watermarking.engines --mark "transformers KGW" --texts 10

Texts are written in up to four ways. By the code of an installed engine, from logits as the model
gives them ("engine") or under the masks of `ticore_vllm.ConsistentTokens` and
`ConsistentLogitsProcessor`, which are those of a Verifier ("engine, masks"). By
`ticore.Watermarker.for_engine` with rollback ("ticore, rollback") and, where the engine's code
cannot be installed, without ("ticore").

Each text is then read three times by ticore: its ids; its text; and its text with a search for the
writer's tokens, which pays for the search. The JSON report has what was found in every text: texts
of the same number have the same prompt, so differences between ways can be taken in pairs.
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
from benchmarks._harness.tables import text_table, without_repeats
from benchmarks._harness.types import JsonObject
from ticore.consistency import Verifier
from ticore.interfaces import LanguageModel

from .engine_writers import MARKS, Mark

_READ = {"ids": "ids", "text": "text", "search": "text, with search"}
_FOUND_AT = 5.0  # -log10 p
_WAYS = ("engine", "engine, masks", "ticore, rollback")
_CURED = ("engine, masks", "ticore, rollback")
_WAYS_WITHOUT_CODE = ("ticore", "ticore, rollback")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command("watermarking.engines", __doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds prompts/")
    parser.add_argument("--model", action="append", metavar="PLACE", help="may be repeated")
    parser.add_argument("--mark", action="append", choices=list(MARKS), help="may be repeated")
    parser.add_argument("--texts", type=positive_int, default=50, help="of each kind")
    parser.add_argument("--tokens", type=positive_int, default=200, help="of a text")
    return exit_status(_run, parser.parse_args(arguments))


def _run(options: argparse.Namespace) -> int:
    models, marks = options.model or ["tiny-en"], options.mark or list(MARKS)
    settings = {name: getattr(options, name) for name in ("texts", "tokens")}
    kinds = [
        (place, name, way)
        for place in models
        for name in marks
        for way in (_WAYS if MARKS[name].writer else _WAYS_WITHOUT_CODE)
    ]
    opened = {place: ticore.load_model(place) for place in models}
    prompts = {place: load_prompts(options.data, language_of(place)) for place in models}
    rows, every_text = list[JsonObject](), list[JsonObject]()
    with progress_bar(len(kinds) * options.texts) as advance:
        for place, name, way in kinds:
            kind, texts = {"model": place, "mark": name, "way": way}, []
            for number in range(options.texts):
                prompt = prompts[place][number % len(prompts[place])]
                texts.append(
                    _text(opened[place], MARKS[name], way, number + 1, prompt, options.tokens)
                )
                advance(1, "texts")
            rows.append(kind | _summary(texts))
            every_text += [kind | {"number": at + 1} | text for at, text in enumerate(texts)]
    settings |= {"models": models, "marks": marks}
    report = new_report(settings, complete=True) | {"rows": rows, "texts": every_text}
    return publish(options, report, rows, _tables(rows))


def _text(
    model: LanguageModel, mark: Mark, way: str, number: int, prompt: str, tokens: int
) -> dict[str, float]:
    """What is found in one text."""
    tokenizer = model.tokenizer
    if way.startswith("engine"):
        ids = _by_engine(model, mark, number, prompt, tokens, masks=way == "engine, masks")
    else:
        ids = _by_ticore(model, mark, number, prompt, tokens, rollback=way == "ticore, rollback")
    text = tokenizer.decode(ids)
    reader, searcher = (mark.reader(tokenizer, number, looked) for looked in ("read", "search"))
    return {
        "changed": float(list(tokenizer.encode(text)) != ids),
        "of_ids": _evidence(reader.detect_ids(ids).p_value),
        "of_text": _evidence(reader.detect(text).p_value),
        "of_search": _evidence(searcher.detect(text).p_value),
    }


def _by_ticore(
    model: LanguageModel, mark: Mark, number: int, prompt: str, tokens: int, *, rollback: bool
) -> list[int]:
    """The ids that follow a prompt."""
    writer = ticore.Watermarker.for_engine(
        model,
        mark.engine,
        mark.config(number),
        observation=2 if rollback else None,
        end_of_text=False,
        seed=number,
    )
    return list(writer.generate(prompt, max_new_tokens=tokens).ids)


def _by_engine(
    model: LanguageModel, mark: Mark, number: int, prompt: str, tokens: int, *, masks: bool
) -> list[int]:
    """The ids that follow a prompt."""
    assert mark.writer is not None
    writer = mark.writer(mark.config(number), number, model.tokenizer.vocab_size)
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
        token = writer.choose(prompt_ids, ids, logits)
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
    found = {
        f"found_in_{read}": float(np.mean([text[f"of_{read}"] >= _FOUND_AT for text in texts]))
        for read in _READ
    }
    return {"texts": len(texts), **means, **found}


def _tables(rows: Sequence[JsonObject]) -> list[Table]:
    """Mean evidence, and the shares of texts that are found.

    A line has all ways of one watermark. With masks and with rollback the text has the ids that
    were written, so that one column says what is found in either. After several models come the
    means over them.
    """
    rows = [*rows, *_means_over_models(rows)]
    return [
        _table(rows, "Mean evidence (-log10 p)", "of_", "{:.1f}", others=True),
        _table(
            rows,
            "Share of texts with a p-value of 1e-5 or less",
            "found_in_",
            "{:.0%}",
            others=False,
        ),
    ]


def _table(
    rows: Sequence[JsonObject], title: str, values: str, shown: str, *, others: bool
) -> Table:
    """A table of the values whose names begin with `values`.

    Args:
        others: with the share of texts that are read back as other ids.
    """
    table = text_table(
        title,
        ["model", "watermark", "written by"],
        [
            *(["read back as other ids"] if others else []),
            *(f"without either: {read}" for read in _READ.values()),
            "masks: text",
            "rollback: text",
        ],
    )
    above = ""
    for (model, mark), of_mark in _by_mark(rows).items():
        way = "engine" if "engine" in of_mark else "ticore"
        cells = [(way, read) for read in _READ] + [(way, "text") for way in _CURED]
        table.add_row(
            without_repeats(model, above),
            mark,
            way,
            *([f"{of_mark[way]['changed']:.0%}"] if others else []),
            *(
                shown.format(of_mark[way][f"{values}{read}"]) if way in of_mark else ""
                for way, read in cells
            ),
        )
        above = model
    return table


def _means_over_models(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """A row for each mark and way; none where there is one model."""
    if len({row["model"] for row in rows}) == 1:
        return []
    by_kind = dict[tuple[str, str], list[JsonObject]]()
    for row in rows:
        by_kind.setdefault((row["mark"], row["way"]), []).append(row)
    return [
        {"model": "all", "mark": mark, "way": way}
        | {
            name: float(np.mean([row[name] for row in of_kind]))
            for name in of_kind[0]
            if name not in ("model", "mark", "way")
        }
        for (mark, way), of_kind in by_kind.items()
    ]


def _by_mark(rows: Sequence[JsonObject]) -> dict[tuple[str, str], dict[str, JsonObject]]:
    """The rows of each model and mark, by the way of writing."""
    found = dict[tuple[str, str], dict[str, JsonObject]]()
    for row in rows:
        found.setdefault((row["model"], row["mark"]), {})[row["way"]] = row
    return found


if __name__ == "__main__":
    sys.exit(main())

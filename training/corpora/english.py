"""English: novels cleaned of their line breaks, and a little of the modern web.

A novel arrives hard-wrapped or with one paragraph per line, depending on who digitised it. Both
leave here with one paragraph per line, so that for the model a newline ends a paragraph.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from .documents import Corpus, joined, read_documents, read_prompts

# Every twentieth novel is kept out of training: five novels by five authors.
HELD_OUT_EVERY, HELD_OUT_PHASE = 20, 9
# The web texts are few and the only modern English there is, so an epoch reads them five times.
WEB_REPEATS = 5
# One web text is shorter than a window, so several make a document.
WEB_TEXTS_A_DOCUMENT = 50
SENTENCE_START = re.compile(r"(?<=[.!?])[\"']?[ \n]+|\n")

_WRAPPED_WIDTH = 100
_OPENING = 60  # characters by which a prompt is known; all are longer


def load(folder: Path) -> Corpus:
    """Read the novels and the web texts in `folder`, and split off the held-out novels.

    Args:
        folder: holds 100_english_novels.txt.gz and c4_pf_decoding.jsonl. Web texts that begin as
            one of the prompts in `folder`/../../prompts/en.jsonl are left out.
    """
    novels = [unwrap(novel) for novel in read_documents(folder / "100_english_novels.txt.gz")]
    held_out = novels[HELD_OUT_PHASE::HELD_OUT_EVERY]
    train = [n for i, n in enumerate(novels) if i % HELD_OUT_EVERY != HELD_OUT_PHASE]
    return Corpus(train + _web_texts(folder) * WEB_REPEATS, held_out)


def _web_texts(folder: Path) -> list[str]:
    """Web documents, without those whose openings serve as prompts in evaluation."""
    prompts = {prompt[:_OPENING] for prompt in read_prompts(folder)}
    with open(folder / "c4_pf_decoding.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [row["prefix"] + row["gold_completion"] for row in rows]
    kept = [unwrap(text) for text in texts if text[:_OPENING] not in prompts]
    return joined(kept, WEB_TEXTS_A_DOCUMENT)


def unwrap(text: str) -> str:
    """`text` with one paragraph per line, and single spaces.

    >>> unwrap("It was\\nthe best\\n\\nof  times.")
    'It was the best\\nof times.'
    """
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.strip().split("\n")]
    widths = [len(line) for line in lines if line]
    wrapped = bool(widths) and np.percentile(widths, 95) < _WRAPPED_WIDTH
    if not wrapped:
        return "\n".join(line for line in lines if line)
    # A wrapped text ends its paragraphs with an empty line or, failing those, a short line.
    full = float(np.percentile(widths, 90))
    has_blank_lines = len(widths) < 0.97 * len(lines)
    paragraphs: list[str] = []
    fresh = True
    for line in lines:
        if not line:
            fresh = True
            continue
        if fresh:
            paragraphs.append(line)
        else:
            paragraphs[-1] += " " + line
        fresh = not has_blank_lines and len(line) < 0.75 * full
    return "\n".join(paragraphs)

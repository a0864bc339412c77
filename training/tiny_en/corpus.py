"""Text to train on: novels cleaned of their line breaks, and a little of the modern web.

A novel arrives hard-wrapped or with one paragraph per line, depending on who digitised it. Both
leave here with one paragraph per line, so that for the model a newline ends a paragraph.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sentencepiece

DOCUMENT_MARK = "<|doc|>"
# Every twentieth novel is kept out of training: five novels by five authors.
HELD_OUT_EVERY, HELD_OUT_PHASE = 20, 9
# The web texts are few and the only modern English there is, so an epoch reads them five times.
WEB_REPEATS = 5
# One web text is shorter than a window, so several make a document.
WEB_TEXTS_A_DOCUMENT = 50
# Documents that are read side by side.
MIXED = 32

_WRAPPED_WIDTH = 100
_OPENING = 60  # characters by which a prompt is known; all are longer
_SENTENCE_START = re.compile(r"(?<=[.!?])[\"']?[ \n]+|\n")


@dataclass(frozen=True)
class Corpus:
    """Documents to train on and documents kept out, with one paragraph per line."""

    train: list[str]
    held_out: list[str]


def load(folder: Path) -> Corpus:
    """Read the novels and the web texts in `folder`, and split off the held-out novels.

    Args:
        folder: holds 100_english_novels.txt.gz and c4_pf_decoding.jsonl. Web texts that begin as
            one of the prompts in `folder`/../../prompts/en.jsonl are left out.
    """
    with gzip.open(folder / "100_english_novels.txt.gz", "rt", encoding="utf-8") as file:
        novels = [unwrap(novel) for novel in file.read().split(DOCUMENT_MARK)]
    held_out = novels[HELD_OUT_PHASE::HELD_OUT_EVERY]
    train = [n for i, n in enumerate(novels) if i % HELD_OUT_EVERY != HELD_OUT_PHASE]
    return Corpus(train + _web_texts(folder) * WEB_REPEATS, held_out)


def _web_texts(folder: Path) -> list[str]:
    """Web documents, without those whose openings serve as prompts in evaluation."""
    with open(folder.resolve().parents[1] / "prompts" / "en.jsonl", encoding="utf-8") as file:
        prompts = {json.loads(line)["text"][:_OPENING] for line in file}
    with open(folder / "c4_pf_decoding.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [row["prefix"] + row["gold_completion"] for row in rows]
    kept = [unwrap(text) for text in texts if text[:_OPENING] not in prompts]
    parts = range(0, len(kept), WEB_TEXTS_A_DOCUMENT)
    return ["\n".join(kept[at : at + WEB_TEXTS_A_DOCUMENT]) for at in parts]


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


def train_tokenizer(texts: list[str], pieces: int, prefix: Path) -> None:
    """Write `prefix`.model: SentencePiece BPE with byte fallback, the flags of Llama-2's."""
    lines = (line for text in texts for line in text.split("\n") if 0 < len(line) < 4000)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines,
        model_prefix=str(prefix),
        vocab_size=pieces,
        model_type="bpe",
        byte_fallback=True,
        character_coverage=0.9999,
        split_digits=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        input_sentence_size=200_000,
        shuffle_input_sentence=True,
        max_sentence_length=16_384,
        num_threads=2,
        minloglevel=1,
    )


def windows(
    texts: list[str], tokenizer: sentencepiece.SentencePieceProcessor, length: int, seed: int
) -> Iterator[np.ndarray]:
    """Endless training windows int64[length + 1]: the start token, then text from a sentence on.

    Neighbours come from different documents, so that a batch mixes authors. Each visit to a
    document cuts it in new places.
    """
    rng = np.random.default_rng(seed)
    order = (texts[i] for _ in itertools.count() for i in rng.permutation(len(texts)))
    under_way = [_windows_of(next(order), tokenizer, length, rng) for _ in range(MIXED)]
    while True:
        place = int(rng.integers(MIXED))
        window = next(under_way[place], None)
        if window is None:
            under_way[place] = _windows_of(next(order), tokenizer, length, rng)
        else:
            yield window


def _windows_of(
    text: str,
    tokenizer: sentencepiece.SentencePieceProcessor,
    length: int,
    rng: np.random.Generator,
) -> Iterator[np.ndarray]:
    starts = [0] + [m.end() for m in _SENTENCE_START.finditer(text)]
    at = int(rng.integers(0, min(len(starts), 40)))
    while at < len(starts):
        # Six characters per token are more than any English text needs.
        ids = tokenizer.encode(text[starts[at] : starts[at] + 6 * length])[:length]
        if len(ids) < length:
            return
        yield np.array([tokenizer.bos_id(), *ids], dtype=np.int64)
        read = starts[at] + len(tokenizer.decode(ids))
        at = max(at + 1, int(np.searchsorted(starts, read, side="right")) - 1)

"""Japanese: literature in modern spelling from Aozora Bunko, and articles of the Wikipedia."""

from __future__ import annotations

import re
from pathlib import Path

from .documents import Corpus, joined, read_documents, read_prompts

# Every sixtieth work, and every sixtieth document of articles, is kept out of training.
HELD_OUT_EVERY, HELD_OUT_PHASE = 60, 9
# Modern articles are a fifth of the text, so an epoch reads them twice.
ARTICLE_REPEATS = 2
# One paragraph is shorter than a window, so several make a document.
PARAGRAPHS_A_DOCUMENT = 20
SENTENCE_START = re.compile(r"(?<=[。！？])[」』）]?|\n")


def load(folder: Path) -> Corpus:
    """Read what is in `folder`, and split off what is held out.

    Args:
        folder: holds aozora_modern_kana.txt.gz and jaquad_contexts.txt.gz. Paragraphs that hold
            one of the prompts in `folder`/../../prompts/ja.jsonl are left out.
    """
    works = [without_indents(work) for work in read_documents(folder / "aozora_modern_kana.txt.gz")]
    articles = joined(_paragraphs(folder), PARAGRAPHS_A_DOCUMENT)
    held_out = [some[HELD_OUT_PHASE::HELD_OUT_EVERY] for some in (works, articles)]
    works, articles = (
        [text for i, text in enumerate(some) if i % HELD_OUT_EVERY != HELD_OUT_PHASE]
        for some in (works, articles)
    )
    return Corpus(works + articles * ARTICLE_REPEATS, [*held_out[0], *held_out[1]])


def _paragraphs(folder: Path) -> list[str]:
    """Paragraphs of articles, without those that hold a prompt of the evaluation."""
    prompts = read_prompts(folder)
    # A line is a sentence, and empty lines part the paragraphs.
    blocks = read_documents(folder / "jaquad_contexts.txt.gz", mark="\n\n")
    return [
        block.replace("\n", "")
        for block in blocks
        if not any(line in prompts for line in block.split("\n"))
    ]


def without_indents(text: str) -> str:
    """`text` without empty lines, and without the wide space that begins a paragraph in print.

    >>> without_indents("　夜が来た。\\n\\n　「誰だ」\\n")
    '夜が来た。\\n「誰だ」'
    """
    lines = (line.strip("\u3000 \t\r") for line in text.split("\n"))
    return "\n".join(line for line in lines if line)

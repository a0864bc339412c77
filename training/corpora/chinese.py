"""Chinese: Lu Xun, technical articles in translation, and articles of the Wikipedia."""

from __future__ import annotations

import re
from pathlib import Path

from .documents import Corpus, joined, read_documents, read_prompts

# Every sixtieth document of each kind is kept out of training.
HELD_OUT_EVERY, HELD_OUT_PHASE = 60, 9
# One text of the Wikipedia is shorter than a window, so several make a document.
TEXTS_A_DOCUMENT = 10
SENTENCE_START = re.compile(r"(?<=[。！？])[”’」）]?|\n")


def load(folder: Path) -> Corpus:
    """Read what is in `folder`, and split off what is held out.

    Args:
        folder: holds luxun.txt, lctt_opensource_fedora.txt.gz and cmrc2018_contexts.txt. Texts that
            hold one of the prompts in `folder`/../../prompts/zh.jsonl are left out.
    """
    prompts = tuple(read_prompts(folder))
    essays = read_documents(folder / "luxun.txt")
    articles = _without(prompts, read_documents(folder / "lctt_opensource_fedora.txt.gz"))
    encyclopedia = _without(prompts, read_documents(folder / "cmrc2018_contexts.txt", mark="\n\n"))
    train: list[str] = []
    held_out: list[str] = []
    for documents in (essays, articles, joined(encyclopedia, TEXTS_A_DOCUMENT)):
        for i, document in enumerate(documents):
            (held_out if i % HELD_OUT_EVERY == HELD_OUT_PHASE else train).append(document)
    return Corpus(train, held_out)


def _without(prompts: tuple[str, ...], texts: list[str]) -> list[str]:
    return [text for text in texts if not any(prompt in text for prompt in prompts)]

"""A text with a watermark, as `ticore watermark`, and each token that was taken back on the way.

Each step of the text is told as one of these:

    ["kept", " was"]            a token came and stays
    ["pending", "␣c"]           with this token the text is not read back as it was written
    ["mended", 2, " canoe"]     the last 2 pending tokens are read back after all, as this text
    ["dropped", 2]              the last 2 pending tokens are taken back
    ["backtracked"]             what was kept or mended last is taken back
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._support.visible import visible_token
from ..chat import prompt_ids
from ..interfaces import LanguageModel
from ..watermarking import TextChange, Watermarker
from .detecting import verdict_or_why_not
from .fields import Fields
from .jobs import Watch, Work
from .mark_sharing import FIELDS, SharedMark
from .models import Models

MARK_FIELDS = (*FIELDS, "prompt", "length", "words", "payload")
LENGTHS: Mapping[str, int] = {"short": 80, "medium": 200, "long": 400}  # in tokens
TEMPERATURES: Mapping[str, float] = {"usual": 1.0, "bold": 1.4}
_OBSERVATION = 10  # enough for Chinese and Japanese; where nothing can be mended, none are waited

Step = list[str | int]


def mark(fields: Fields, models: Models) -> Work:
    """Work that writes a watermarked text, tells each step, and looks for the watermark in it."""
    shared, prompt = SharedMark.of(fields), fields.text("prompt", "")
    payload = fields.text("payload", "") or None
    length = LENGTHS[fields.choice("length", tuple(LENGTHS), "medium")]
    temperature = TEMPERATURES[fields.choice("words", tuple(TEMPERATURES), "usual")]

    def work(watch: Watch) -> dict[str, Any]:
        model, agreement = shared.open(models)
        writer = Watermarker.from_agreement(
            model,
            agreement,
            payload=payload,
            view="whole",
            observation=_OBSERVATION,
            temperature=temperature,
        )
        stream, story = writer.stream(prompt, max_new_tokens=length), Story(model, prompt)
        watch.step(["kept", story.text])
        for change in stream.changes():
            for step in story.steps(change):
                watch.step(step)
        written = stream.result()
        return {
            "text": written.whole,
            "tokens": len(written.ids),
            "temporary": written.temporary,
            "rollbacks": written.rollbacks,
            "backtracks": written.backtracks,
            "seconds": written.seconds,
            **verdict_or_why_not(written.whole, model, agreement),
        }

    return work


class Story:
    """Tells the changes of a text as steps that show text.

    Args:
        model: that writes.
        prompt: what the text begins with.

    Attributes:
        text: the text so far, without pending tokens.
    """

    def __init__(self, model: LanguageModel, prompt: str) -> None:
        self._tokenizer = model.tokenizer
        self._ids = prompt_ids(model, prompt)
        self._sampled: tuple[int, ...] = ()  # the last token, if it has not been told yet
        self.text = self._tokenizer.decode(self._ids)

    def steps(self, change: TextChange) -> Iterator[Step]:
        """What a change shows. A token is told when it is known whether it stays at once."""
        at_once = change.kind == "committed" and change.tokens == self._sampled
        if self._sampled and not at_once:
            yield ["pending", visible_token(self._tokenizer.token_bytes(*self._sampled))]
        self._sampled = ()
        match change.kind:
            case "sampled":
                self._sampled = change.tokens
            case "dropped":
                yield ["dropped", len(change.tokens)]
            case "backtracked":
                self._go_to(self._ids[: -len(change.tokens)])
                yield ["backtracked"]
            case "committed":
                before = self.text
                self._go_to([*self._ids, *change.tokens])
                added = self.text[len(before) :]
                yield ["kept", added] if at_once else ["mended", len(change.tokens), added]

    def _go_to(self, ids: list[int]) -> None:
        self._ids, self.text = ids, self._tokenizer.decode(ids)

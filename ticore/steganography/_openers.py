"""Natural beginnings of texts: the writer picks one, and the reader recognizes it.

    writer   picks "The road to the village"; the text goes on " was long and dusty."
    reader   finds this opener in what it received, and takes it for the prompt

So two people need not share a prompt. The lists are files beside this one, one for each language
and version. A list never changes, since reader and writer must have the same one; better ones get
a new number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from heapq import nlargest
from importlib.resources import files
from typing import Literal, get_args

from ..channels import PassingTexts
from ..errors import SettingsError, shown
from ..interfaces import Tokenizer

OPENERS: Mapping[str, str] = {"en": "en-1", "ja": "ja-1", "zh": "zh-1"}
"""By language the newest list."""

Topic = Literal["everyday", "travel", "cooking", "work", "story"]
TOPICS = get_args(Topic)

_NAMES = tuple(OPENERS.values())  # all that were ever published


def openers_name(given: object) -> str:
    """The name of a list, such as `en-1`, for itself or for its language, such as `en`.

    Raises:
        SettingsError: there is no such list.
    """
    name = OPENERS.get(given, given) if isinstance(given, str) else None
    if name not in _NAMES:
        known = ", ".join((*OPENERS, *_NAMES))
        raise SettingsError(f"openers: expected one of {known}, found {shown(given)}")
    return name


@cache
def _listed(name: str) -> dict[str, list[str]]:
    """The openers of a list, by topic."""
    text = files(__package__).joinpath("opener_lists", f"{name}.json").read_text("utf-8")
    found: dict[str, list[str]] = json.loads(text)
    return found


@dataclass(frozen=True)
class Openers:
    """The openers that both sides use, with one tokenizer and one channel.

    Attributes:
        name: of the list.
        by_topic: the openers of each topic, as the channel reads them.
    """

    name: str
    by_topic: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, name: str, tokenizer: Tokenizer, passing: PassingTexts) -> Openers:
        """Those of a list that the tokenizer gives back and that the channel leaves alone.

        Raises:
            SettingsError: the list is unknown, or there are none.
        """

        def is_usable(opener: str) -> bool:
            back = tokenizer.decode(tokenizer.encode(opener))
            return opener != "" and back == opener and passing.may_go_on(opener)

        by_topic = dict[str, tuple[str, ...]]()
        for topic, openers in _listed(openers_name(name)).items():
            as_read = map(passing.channel.read, openers)
            by_topic[topic] = tuple(opener for opener in as_read if is_usable(opener))
        if not any(by_topic.values()):
            raise SettingsError(
                f"openers: expected a list with texts that this tokenizer and the channel "
                f"{passing.channel.name!r} leave alone, found none in {name!r}; take the list of "
                f"another language, or give a prompt"
            )
        return cls(name, by_topic)

    def about(self, topic: str | None) -> tuple[str, ...]:
        """The openers of a topic, or all of them.

        Raises:
            SettingsError: there are none of this topic.
        """
        if topic is None:
            return tuple(opener for some in self.by_topic.values() for opener in some)
        if found := self.by_topic.get(topic) if isinstance(topic, str) else None:
            return found
        known = ", ".join(topic for topic, some in self.by_topic.items() if some)
        raise SettingsError(f"topic: expected one of {known}, found {shown(topic)}")

    def like(self, text: str, most: int) -> list[str]:
        """The openers that a text may have begun with before it was edited, the likeliest first."""

        def likeness(opener: str) -> float:
            return SequenceMatcher(None, opener, text[: len(opener)], autojunk=False).ratio()

        return nlargest(most, self.about(None), key=likeness)

    def found_in(self, text: str) -> Iterator[tuple[str, str]]:
        """Each opener in a text, from the left, and the text from there on."""
        # Of openers that begin alike the longest one is found.
        ordered = sorted(self.about(None), key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, ordered)), text):
            yield match[0], text[match.start() :]

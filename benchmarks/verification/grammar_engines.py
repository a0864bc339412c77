"""What masks of grammar engines take, to see ours beside: another job with results of one shape.

Every engine writes one bit per token into a buffer of rows. The grammar engines follow a JSON
schema, along texts that fit it.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from statistics import median
from typing import Protocol

from benchmarks._harness.types import JsonObject
from ticore.interfaces import Tokenizer

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
_WORDS = ("river", "gate", "market", "lamp", "under", "quiet", "paper", "north", "engine", "salt")


class GrammarEngine(Protocol):
    """Follows the schema in `rows` texts at once."""

    def fill(self) -> None:
        """Write the mask of each row into a buffer."""

    def push(self, row: int, token: int) -> None:
        """Append a token to one row."""


class XGrammar:
    """xgrammar, with one matcher per row."""

    def __init__(self, tokenizer: Tokenizer, rows: int) -> None:
        library = import_module("xgrammar")
        spelled, end = _spelled(tokenizer)
        info = library.TokenizerInfo(
            spelled, library.VocabType.RAW, vocab_size=len(spelled), stop_token_ids=[end]
        )
        grammar = library.GrammarCompiler(info).compile_json_schema(json.dumps(SCHEMA))
        self._matchers = [library.GrammarMatcher(grammar) for _ in range(rows)]
        self._buffer = library.allocate_token_bitmask(rows, len(spelled))

    def fill(self) -> None:
        for row, matcher in enumerate(self._matchers):
            matcher.fill_next_token_bitmask(self._buffer, row)

    def push(self, row: int, token: int) -> None:
        self._matchers[row].accept_token(token)


class LLGuidance:
    """llguidance, with one matcher per row."""

    def __init__(self, tokenizer: Tokenizer, rows: int) -> None:
        library = import_module("llguidance")
        self._arrays = import_module("llguidance.numpy")
        spelled, end = _spelled(tokenizer)
        wrapper = library.TokenizerWrapper(_Described(tokenizer, spelled, end))
        grammar = library.LLMatcher.grammar_from_json_schema(json.dumps(SCHEMA))
        known = library.LLTokenizer(wrapper)
        self._matchers = [library.LLMatcher(known, grammar) for _ in range(rows)]
        self._buffer = self._arrays.allocate_token_bitmask(rows, len(spelled))

    def fill(self) -> None:
        for row, matcher in enumerate(self._matchers):
            self._arrays.fill_next_token_bitmask(matcher, self._buffer, row)

    def push(self, row: int, token: int) -> None:
        self._matchers[row].consume_token(token)


class _Described:
    """A tokenizer as llguidance asks for it."""

    def __init__(self, tokenizer: Tokenizer, spelled: list[bytes], end: int) -> None:
        self._tokenizer = tokenizer
        self.tokens = spelled
        self.eos_token_id, self.bos_token_id = end, None
        self.special_token_ids = sorted(tokenizer.special_ids)

    def __call__(self, text: str | bytes) -> list[int]:
        return self._tokenizer.encode(text if isinstance(text, str) else text.decode())


ENGINES: dict[str, Callable[[Tokenizer, int], GrammarEngine]] = {
    "xgrammar": XGrammar,
    "llguidance": LLGuidance,
}


def time_grammar_engines(
    tokenizer: Tokenizer, sizes: Sequence[int], steps: int, seed: int
) -> Iterator[tuple[str, JsonObject]]:
    """For each engine: its name, and CPU seconds of a step by batch size, or why there are none."""
    for name, make in ENGINES.items():
        try:
            seconds = {str(size): _step(tokenizer, make, size, steps, seed) for size in sizes}
        except ImportError as error:
            yield name, {"skipped": str(error)}
        else:
            yield name, {"again": seconds}


def _step(
    tokenizer: Tokenizer,
    make: Callable[[Tokenizer, int], GrammarEngine],
    rows: int,
    steps: int,
    seed: int,
) -> float:
    """CPU seconds for the masks of all rows, the median of the second half of the steps."""
    draw = random.Random(seed)
    engine = make(tokenizer, rows)
    texts = [tokenizer.encode(json.dumps(_example(draw, steps))) for _ in range(rows)]
    seconds = []
    for step in range(steps):
        started = time.process_time()
        engine.fill()
        seconds.append(time.process_time() - started)
        for row, ids in enumerate(texts):
            engine.push(row, ids[step])
    return median(seconds[steps // 2 :])


def _example(draw: random.Random, tokens: int) -> JsonObject:
    """An object that fits the schema, of more tokens than are asked for."""
    return {
        "name": " ".join(draw.choices(_WORDS, k=draw.randrange(1, 5))),
        "age": draw.randrange(1000),
        "tags": [" ".join(draw.choices(_WORDS, k=2)) for _ in range(tokens)],
    }


def _spelled(tokenizer: Tokenizer) -> tuple[list[bytes], int]:
    """The bytes of every id, none of them empty, and an id that ends a text."""
    spelled = [tokenizer.token_bytes(i) or f"<|{i}|>".encode() for i in range(tokenizer.vocab_size)]
    return spelled, min(tokenizer.special_ids, default=len(spelled) - 1)

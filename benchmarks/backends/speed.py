"""What a token costs: in the Decoder, in transformers' generate, and beside the model."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from statistics import median
from typing import Any, cast, get_args

import numpy as np

import ticore
from benchmarks.workers import Found
from ticore.candidates import Candidates, PoolSettings, to_weights
from ticore.codecs import BitSource, codec_named
from ticore.disambiguation import Beginning, disambiguation_named
from ticore.interfaces import Decoder, LanguageModel, TopDecoder
from ticore.steganography.numerics import Numerics

_ROUNDS = 5  # of what is compared, in turns


def generating(place: str, dtype: str, prompt: str, tokens: int) -> Found:
    """Tokens a second of start, push and logits, and of `generate` on the same network.

    All choose the likeliest token each time, and so read the same ones. transformers computes
    some of a float64 model in float32; `alike` is its generate made to compute what we do.

    Args:
        place: of a model of the torch backend.
    """
    model: Any = ticore.load_model(place, dtype=dtype)
    torch: Any = import_module("torch")
    module, ids = model.network.module, model.tokenizer.encode(prompt)
    first = [] if module.config.bos_token_id is None else [module.config.bos_token_id]
    read = torch.tensor([first + ids], device=module.device)

    def ours() -> None:
        decoder = model.start(ids)
        for _ in range(tokens):
            decoder.push(int(np.argmax(decoder.logits())))

    def theirs() -> None:
        with torch.inference_mode():
            module.generate(
                read,
                attention_mask=torch.ones_like(read),
                do_sample=False,
                min_new_tokens=tokens,
                max_new_tokens=tokens,
                pad_token_id=0,
            )

    def alike() -> None:
        with model.network.computing():
            theirs()

    ways = {"ours": ours, "theirs": theirs, "alike": alike}
    rates = (tokens / seconds for seconds in _in_turns(*ways.values()))
    found = {"place": place, "dtype": dtype, "tokens": tokens}
    return found | dict(zip(ways, rates, strict=True))


def overhead(
    place: str, dtype: str, prompt: str, tokens: int, top_k: int, codec: str = "arithmetic"
) -> Found:
    """Milliseconds a token, median, of each part of writing, one after the other.

    Of texts that go on for `tokens` tokens; the first one is not counted.
    """
    model = ticore.load_model(place, dtype=dtype)
    parts: dict[str, list[float]] = {"model": [], "pool": [], "verifier": [], "codec": []}
    for index in range(2):
        for times in parts.values():
            times.clear()
        _write(model, prompt, tokens, top_k, codec, index, parts)
    found = {name: 1e3 * median(times) for name, times in parts.items()}
    beside = sum(found.values()) - found["model"]
    share = beside / (beside + found["model"])
    settings = {"place": place, "dtype": dtype, "top_k": top_k, "codec": codec}
    return settings | found | {"beside": beside, "share": share}


def parallel(place: str, prompt: str, texts: int) -> Found:
    """Tokens a second of reading messages: by one parallel pass, and token by token."""
    model = ticore.load_model(place, dtype="float64")

    def written(numerics: Numerics) -> tuple[ticore.Steganographer, list[ticore.Embedding]]:
        draw = random.Random(0)
        stego = ticore.Steganographer(
            model,
            key=draw.randbytes(32),
            prompt=prompt,
            numerics=numerics,
            entropy=draw.randbytes,
        )
        return stego, [stego.embed_report(draw.randbytes(32)) for _ in range(texts)]

    def read(stego: ticore.Steganographer, texts: list[ticore.Embedding]) -> None:
        for text in texts:
            stego.extract(text.text)

    both = [written(numerics) for numerics in get_args(Numerics)]
    seconds = _in_turns(*(partial(read, *one) for one in both))
    tokens = [sum(len(text.ids) for text in texts) for _, texts in both]
    stepwise, at_once = (n / each for n, each in zip(tokens, seconds, strict=True))
    return {"place": place, "texts": texts, "stepwise": stepwise, "parallel": at_once}


def _write(
    model: LanguageModel,
    prompt: str,
    tokens: int,
    top_k: int,
    codec: str,
    index: int,
    parts: dict[str, list[float]],
) -> None:
    """The writer's loop, with a clock at each part."""
    draw, prompt_ids = random.Random(index), model.tokenizer.encode(prompt)
    candidates = Candidates(model, PoolSettings(top_k=top_k))
    beginning = Beginning(model.tokenizer, prompt, prompt_ids)
    session = disambiguation_named("stepwise").make(beginning).start()
    bits = BitSource(draw.randbytes(4 * tokens), 32 * tokens, draw.getrandbits)
    writer = codec_named(codec).make().writer(bits)
    decoder = model.start(prompt_ids)
    lap = _Lap(parts)
    for _ in range(tokens):
        lap.begin()
        outlook = candidates.after(decoder)
        lap.end("pool")
        choices = session.refine(outlook.pool, outlook.outside())
        lap.end("verifier")
        weights = to_weights(choices.mass, candidates.settings.weight_bits)
        token = int(choices.ids[writer.choose(weights)])
        lap.end("codec")
        session.push(token)
        lap.add("verifier")
        decoder.push(token)
        _finish(decoder)
        lap.end("model")


def _finish(decoder: Decoder) -> None:
    """Wait for a device that computes while the program goes on: one logit, and it is done."""
    if hasattr(decoder, "top"):
        cast(TopDecoder, decoder).top(1)
    else:
        decoder.logits()


class _Lap:
    """A clock that is read at the end of each part."""

    def __init__(self, parts: dict[str, list[float]]) -> None:
        self._parts = parts
        self._at = 0.0

    def begin(self) -> None:
        self._at = time.perf_counter()

    def end(self, part: str) -> None:
        now = time.perf_counter()
        self._parts[part].append(now - self._at)
        self._at = now

    def add(self, part: str) -> None:
        """More time of a part that has ended once in this round already."""
        now = time.perf_counter()
        self._parts[part][-1] += now - self._at
        self._at = now


def _in_turns(*works: Callable[[], object]) -> list[float]:
    """Median seconds of each, all of them in turns, so that the machine's moods hit all alike."""
    seconds: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(_ROUNDS):
        for times, work in zip(seconds, works, strict=True):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)
    return [median(times) for times in seconds]

"""What a token costs: in the Decoder, in transformers' generate, and besides the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from random import Random
from statistics import median
from typing import Any, cast, get_args

import numpy as np

import ticore
from benchmarks._harness.timing import time_in_turns
from benchmarks._harness.types import JsonObject
from ticore.candidates import Candidates, PoolSettings, to_weights
from ticore.codecs import BitSource, codec_named
from ticore.disambiguation import PromptContext, disambiguation_named
from ticore.interfaces import Decoder, LanguageModel, TopDecoder
from ticore.steganography._portability import Numerics

ROUNDS = 5
"""How often each of the works that are compared is timed."""

_TEXTS = 2  # of which the last one counts
_SIZE = 32  # bytes per message

Parts = dict[str, list[float]]
"""For each part of writing the seconds that each token took."""


def transformers_speed(
    place: str, dtype: str, prompt: str, token_count: int, rounds: int = ROUNDS
) -> JsonObject:
    """Tokens per second of our Decoder, and of transformers' `generate` with the same network.

    Both choose the most likely token at each step, so they read the same tokens. transformers
    computes some parts of a float64 model in float32; `generate_exact` is its `generate` made to
    compute everything in float64, as our Decoder does.

    Args:
        place: a model of the torch backend.
        dtype: that it computes in.
        prompt: the text it starts with.
        token_count: how many tokens are written.
        rounds: how often each way is timed.

    Returns:
        `decoder`, `generate` and `generate_exact` in tokens per second.
    """
    model: Any = ticore.load_model(place, dtype=dtype)
    torch: Any = import_module("torch")
    module, ids = model.network.module, model.tokenizer.encode(prompt)
    bos = [] if module.config.bos_token_id is None else [module.config.bos_token_id]
    input_ids = torch.tensor([bos + ids], device=module.device)

    def decoder() -> None:
        decoder = model.start(ids)
        for _ in range(token_count):
            decoder.push(int(np.argmax(decoder.logits())))

    def generate() -> None:
        with torch.inference_mode():
            module.generate(
                input_ids,
                attention_mask=torch.ones_like(input_ids),
                do_sample=False,
                min_new_tokens=token_count,
                max_new_tokens=token_count,
                pad_token_id=0,
            )

    def generate_exact() -> None:
        with model.network.computing():
            generate()

    works = {"decoder": decoder, "generate": generate, "generate_exact": generate_exact}
    seconds = time_in_turns(list(works.values()), rounds)
    speeds = {name: token_count / median(times) for name, times in zip(works, seconds, strict=True)}
    return {"model": place, "dtype": dtype, "token_count": token_count} | speeds


def token_cost(
    place: str, dtype: str, prompt: str, token_count: int, top_k: int, codec: str = "arithmetic"
) -> JsonObject:
    """What each part of writing a message takes per token.

    Args:
        place: what `ticore.load_model` opens.
        dtype: that it computes in.
        prompt: the text before the message.
        token_count: tokens that are written and timed.
        top_k: candidates per step.
        codec: its name.

    Returns:
        Medians in milliseconds: `model_ms`, `pool_ms`, `verifier_ms`, `codec_ms`; `besides_ms`, the
        sum of all but the model; `share`, what part of the whole that is.
    """
    model = ticore.load_model(place, dtype=dtype)
    parts: Parts = {}
    for index in range(_TEXTS):
        parts = {"model": [], "pool": [], "verifier": [], "codec": []}
        _write(model, prompt, token_count, top_k, codec, Random(index), parts)
    found = {f"{name}_ms": 1e3 * median(seconds) for name, seconds in parts.items()}
    whole = sum(found.values())
    besides = whole - found["model_ms"]
    settings = {"model": place, "dtype": dtype, "top_k": top_k, "codec": codec}
    return settings | found | {"besides_ms": besides, "share": besides / whole}


def parallel_reading(place: str, prompt: str, text_count: int, rounds: int = ROUNDS) -> JsonObject:
    """How fast messages are read: with the bits of single tokens, and in one parallel pass.

    Args:
        place: what `ticore.load_model` opens.
        prompt: the text before each message.
        text_count: how many messages.
        rounds: how often each way is timed.

    Returns:
        `one_by_one` and `parallel` in tokens per second.
    """
    model = ticore.load_model(place, dtype="float64")

    def write(numerics: Numerics) -> tuple[ticore.Steganographer, list[ticore.Embedding]]:
        draw = Random(0)
        stego = ticore.Steganographer(
            model,
            key=draw.randbytes(32),
            prompt=prompt,
            numerics=numerics,
            entropy=draw.randbytes,
        )
        return stego, [stego.embed(draw.randbytes(_SIZE)) for _ in range(text_count)]

    def read(stego: ticore.Steganographer, texts: Sequence[ticore.Embedding]) -> None:
        for text in texts:
            stego.extract(text.text)

    both = [write(numerics) for numerics in get_args(Numerics)]
    seconds = time_in_turns([partial(read, *one) for one in both], rounds)
    token_counts = [sum(len(text.ids) for text in texts) for _, texts in both]
    one_by_one, parallel = (
        count / median(times) for count, times in zip(token_counts, seconds, strict=True)
    )
    return {
        "model": place,
        "text_count": text_count,
        "one_by_one": one_by_one,
        "parallel": parallel,
    }


def _write(
    model: LanguageModel,
    prompt: str,
    token_count: int,
    top_k: int,
    codec: str,
    draw: Random,
    parts: Parts,
) -> None:
    """Write random bits as the Steganographer does, with a clock after each part."""
    prompt_ids = model.tokenizer.encode(prompt)
    candidates = Candidates(model, PoolSettings(top_k=top_k))
    context = PromptContext(model.tokenizer, prompt, prompt_ids)
    session = disambiguation_named("stepwise").make(context).start()
    bits = BitSource(draw.randbytes(4 * token_count), 32 * token_count, draw.getrandbits)
    writer = codec_named(codec).make().writer(bits)
    decoder = model.start(prompt_ids)
    clock = _PartClock(parts)
    for _ in range(token_count):
        clock.start()
        pool = candidates.after(decoder)
        clock.end("pool")
        # Asked for its logits only where no candidate can be read back.
        outside = (more for _ in "." for more in candidates.remaining(decoder.logits(), pool))
        choices = session.refine(pool, outside)
        clock.end("verifier")
        weights = to_weights(choices.mass, candidates.settings.weight_bits)
        token = int(choices.ids[writer.choose(weights)])
        clock.end("codec")
        session.push(token)
        clock.extend("verifier")
        decoder.push(token)
        _wait_for_logits(decoder)
        clock.end("model")


def _wait_for_logits(decoder: Decoder) -> None:
    """Wait for a device that computes while the program continues: one logit is enough."""
    if hasattr(decoder, "top"):
        cast(TopDecoder, decoder).top(1)
    else:
        decoder.logits()


class _PartClock:
    """A clock that is read at the end of each part of a step."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._at = 0.0

    def start(self) -> None:
        self._at = time.perf_counter()

    def end(self, part: str) -> None:
        """Count the time since the last reading for a part."""
        self._parts[part].append(0.0)
        self.extend(part)

    def extend(self, part: str) -> None:
        """Count the time for a part that has ended once in this step already."""
        now = time.perf_counter()
        self._parts[part][-1] += now - self._at
        self._at = now

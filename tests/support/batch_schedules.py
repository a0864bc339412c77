"""Random readings, rewindings and droppings of many texts at once, and one by one beside them."""

from __future__ import annotations

import random

import numpy as np

from ticore.interfaces import BatchModel, Decoder


def largest_difference(
    model: BatchModel, *, seed: int, rows: int = 5, steps: int = 30, longest: int = 20
) -> float:
    """Of the logits of a batch and of Decoders that do the same.

    Rows begin at different lengths, one with a full context if that is short, are left out at
    times, are rewound by different amounts, up to their prompts, and are dropped until one is left.
    """
    draw = random.Random(seed)

    def some_ids(count: int) -> list[int]:
        return draw.choices(range(model.logit_width), k=count)

    prompts = [some_ids(draw.randint(1, longest)) for _ in range(rows)]
    prompts[0] = some_ids(min(2 * longest, model.context_length))
    batch, apart = model.start_batch(prompts), dict(enumerate(map(model.start, prompts)))
    assert batch is not None
    worst = 0.0
    for step in range(steps):
        tokens = {}
        for row, decoder in apart.items():
            pushed = len(decoder.ids) - len(prompts[row])
            if draw.random() < 0.3:
                count = draw.choice([min(3, pushed), draw.randint(0, pushed), pushed])
                batch.rewind(row, count)
                decoder.rewind(count)
            if draw.random() < 0.85 and len(decoder.ids) < model.context_length:
                (tokens[row],) = some_ids(1)
        batch.push(tokens)
        for row, token in tokens.items():
            apart[row].push(token)
        worst = max(worst, *(_difference(batch.logits(row), apart[row]) for row in apart))
        assert [tuple(batch.ids(row)) for row in apart] == [tuple(d.ids) for d in apart.values()]
        if step * rows >= (rows - len(apart) + 1) * steps:
            row = draw.choice(list(apart))
            batch.drop(row)
            del apart[row]
    assert len(apart) == 1
    return worst


def _difference(logits: np.ndarray, decoder: Decoder) -> float:
    return float(abs(logits - decoder.logits()).max())

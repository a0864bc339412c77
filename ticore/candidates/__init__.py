"""The candidates of a step: the tokens to choose from, as integers that every machine agrees on.

Logits are rounded to a grid once. After that everything is integer arithmetic (temperature, top-k,
top-p and weights). So two machines whose logits round to the same values have the same candidates
to the last bit.

- `PoolSettings`: temperature, top-k, top-p and number formats.
- `Candidates`: from a model's logits to the candidates of each step.
- `Pool`: tokens with their rounded logits; `to_weights` makes integer weights of them.
"""

from .._support.deprecation import moved_names
from ._candidates import Candidates, non_candidates
from ._pool import Bools, Ints, Pool, to_weights
from ._settings import PROB_BITS, PoolSettings

__all__ = [
    "PROB_BITS",
    "Bools",
    "Candidates",
    "Ints",
    "Pool",
    "PoolSettings",
    "non_candidates",
    "to_weights",
]

__getattr__ = moved_names(
    __name__,
    {
        "MASS_BITS": "ticore.candidates:PROB_BITS",
    },
)

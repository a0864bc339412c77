"""The candidate pool: what a step may choose from, as integers that every machine agrees on.

Logits are rounded to a grid once; from there on everything is integer arithmetic, so two machines
whose logits round alike have equal pools to the last bit (temperature, top-k, top-p and weights).

settings.py     what shapes a pool
pool.py         tokens with their rounded logits, and the integer weights made of these
candidates.py   from a model's logits to pools
"""

from .candidates import Candidates, Outlook, non_candidates
from .pool import MASS_BITS, Bools, Ints, Pool, to_weights
from .settings import PoolSettings

__all__ = [
    "MASS_BITS",
    "Bools",
    "Candidates",
    "Ints",
    "Outlook",
    "Pool",
    "PoolSettings",
    "non_candidates",
    "to_weights",
]

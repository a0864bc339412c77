"""What to say of many texts whose p-values depend on each other."""

from __future__ import annotations

DEPENDENT_TEXTS = (
    "the false-positive rate holds over all keys; this key's one list of unigram is the same for "
    "all texts and may suit some texts more than others, so their p-values are not independent: "
    "see ticore check-key"
)
"""For one key of `unigram` and many texts."""

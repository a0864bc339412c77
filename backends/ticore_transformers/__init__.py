"""Consistent text from transformers' own `generate`.

    model.generate(**inputs, custom_generate=consistent(tokenizer), do_sample=True)

`consistent` takes tokens back where an inconsistency stays (rollback). `ConsistentLogitsProcessor`
masks candidates at each step, for beams and other callers of processors.

_generate.py          `consistent`
_logits_processor.py  `ConsistentLogitsProcessor`
_caller.py            arguments of `generate` that transformers does not hand on
"""

from ._generate import consistent
from ._logits_processor import ConsistentLogitsProcessor

__all__ = ["ConsistentLogitsProcessor", "consistent"]

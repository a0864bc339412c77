"""Consistent text from transformers' own `generate`.

    ids = generate(model, tokenizer, **inputs, do_sample=True, max_new_tokens=50)

`consistent` is the same for `model.generate(custom_generate=...)`. `ConsistentLogitsProcessor`
masks candidates at each step, for callers of processors. `rollouts` is for trainers of TRL.

_generate.py          `generate`
_consistent.py        `consistent`
_rollouts.py          `rollouts`
_prompts.py           what is continued
_logits_processor.py  `ConsistentLogitsProcessor`
_writing.py           the loop: one call chooses for all texts, one pass reads for all texts
_synced.py            passes in step with other processes, for parameters that are spread over them
_text.py              one text: what is taken back, what a streamer is shown
_choosing.py          the next token of many texts in one call
_processing.py        logits processors for rows that are not in step
_sequences.py         prompts and texts as rows of one tensor
_stop_strings.py      strings that end a text
_caller.py            arguments of `generate` that transformers does not hand on
"""

from ._consistent import consistent
from ._generate import generate
from ._logits_processor import ConsistentLogitsProcessor
from ._rollouts import rollouts

__all__ = ["ConsistentLogitsProcessor", "consistent", "generate", "rollouts"]

"""Watermarks with rollback and without, unattacked and attacked (their section on watermarking).

arms.py        the ways to write a text, and which scheme is measured with which of them
writing.py     how each of them writes texts side by side
giving_up.py   a bound of attempts, for rollback of whole texts
masking.py     stepwise verification: tokens that would make a text inconsistent are never sampled
attacking.py   the replacement attack on many texts at once
detecting.py   what a detector says of a text
paraphrasing.py   paraphrase by another model (`--paraphraser`)
samples.py     groups of texts: written, attacked, detected
summary.py     the measures of one model
section.py     what the page shows
figure.py      what the observation period changes
as_part.py     all of it, for the command

The main arms write exactly 200 tokens and never end before. A strength grows with the length, so
texts that end early would mix two effects; and texts after rollback would end at other places than
those without. What the end of text changes is measured by itself, for one scheme.

Paraphrase is measured where `--paraphraser` names a model that follows instructions, or a server.
"""

from .as_part import PART

__all__ = ["PART"]

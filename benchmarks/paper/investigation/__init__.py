"""How often texts, tokens and candidates are inconsistent, and for how long (section 3, table 1).

plan.py      which texts are looked at
samples.py   texts of the model alone, and where they are inconsistent
summary.py   the rates of one model
section.py   what the page shows
as_part.py   all of it, for the command

Texts are sampled from the whole vocabulary without special tokens, so that all are of the same
length. Each length is measured on the beginnings of the same texts.
"""

from .as_part import PART

__all__ = ["PART"]

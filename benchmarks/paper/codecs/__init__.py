"""Improbable tokens by codec and precision: what `low_probability` shows for messages.

plan.py      which codecs, numbers of candidates and weight bits
samples.py   texts that hold random bits, watched step by step
summary.py   found, expected and given, for each of them
section.py   what the page shows
as_part.py   all of it, for the command

Here nothing is reread: the writer's own steps are watched. So the numbers expected are those of the
very distributions that the codec was given.
"""

from .as_part import PART

__all__ = ["PART"]

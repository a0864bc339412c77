"""Covers: texts without a message, against which those with one have to stand (section 5).

samples.py   free samples of the model, 10 to 128 tokens long
as_part.py   for the command

They have no section of their own: `steganalysis` needs them.
"""

from .as_part import PART

__all__ = ["PART"]

"""Hidden messages: what each cure of inconsistency carries, changes and costs (section 5, table 2).

plan.py      which texts are written
samples.py   texts that hold a message, read back and measured
summary.py   the measures of one model, by number of candidates and by bits per token
claims.py    the paper's claims, computed from our texts
section.py   what the page shows
figures.py   its figures
as_part.py   all of it, for the command

Every method hides the same bits after the same prompts, by arithmetic coding with the paper's stop.
"""

from .as_part import PART

__all__ = ["PART"]

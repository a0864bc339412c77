"""Reading texts of the disambiguation `search`, whose tokens need not be those of the tokenizer.

branch.py     a beginning of the text as tokens, and the bits that these carry
frontier.py   branches that wait, by how probable they are for their length
job.py        the search: which branch goes on, and when a message is found

What the writer samples from is the model's own distribution, so the probability that the model
gives to some tokens, of all that spell the text, is the probability that they were written. The
search follows the most probable ones first. A message is authenticated, so it knows when to stop,
and never finds a wrong one. Raw bits have a checksum instead.
"""

from .job import searched

__all__ = ["searched"]

"""Do texts with a message have the tokens of small probability, as free samples do?

tails.py        improbable tokens of one text: found and expected
comparison.py   their ratio over many texts, with an interval and a test
looking.py      the texts of messages and covers, looked at with the model that wrote them
section.py      what the page shows
as_analysis.py  this as a part of the experiments

`codecs` does the same for codecs and precisions, which the messages do not vary.
"""

from .as_analysis import ANALYSIS

__all__ = ["ANALYSIS"]

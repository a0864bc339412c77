"""Does the place where a text ends give the message's length away?

plan.py       which texts are written
samples.py    texts that hold messages of several sizes, and free ones, as an observer reads them
guessing.py   what an observer without the key makes of the place where a text ends
summary.py    lengths of texts, and how well the sizes of messages are guessed
section.py    what the page shows
as_part.py    all of it, for the command

The observer has model, prompt and settings, and no key. So it knows how many bits each token can
carry, and sees where the text ends.
"""

from .as_part import PART

__all__ = ["PART"]

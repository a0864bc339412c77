"""Regular expressions of pretokenizers: what they tell apart, and how far they look.

- `tree` is what an expression is made of;
- `character_sets` and `syntax` read one, and refuse what they do not know;
- `matching` runs it, and notices whether text that is appended may change the match;
- `open_matches` tells what it still tries at the end of a text, however the text began;
- `neighbours` finds which characters can stand side by side in a match.
"""

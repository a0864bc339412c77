"""Regular expressions of pretokenizers: what they tell apart, and how far they look.

- `syntax` reads an expression, and refuses what libraries understand differently;
- `matching` runs it, and notices whether text that is appended may change the match;
- `neighbours` finds which characters can stand side by side in a match.
"""

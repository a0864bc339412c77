"""Which texts are looked at."""

LENGTHS = (25, 50, 100, 200, 400)
"""Tokens of a text; each length is measured on the beginnings of the longest texts."""

CANDIDATES = 64
"""How many of the likeliest tokens are the candidates of a step."""

SHORT = 100
"""Tokens of the texts in which inconsistencies are followed until they are gone."""

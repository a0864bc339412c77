"""Hiding messages in text and reading them back."""

from .agreement import Agreement
from .keys import Secret, format_key, load_key, new_key, parse_key
from .pact import Pact
from .pasted import Recovered
from .steganographer import Steganographer
from .writing import Embedding

__all__ = [
    "Agreement",
    "Embedding",
    "Pact",
    "Recovered",
    "Secret",
    "Steganographer",
    "format_key",
    "load_key",
    "new_key",
    "parse_key",
]

"""ticore: make the tokens a language model emits survive being turned into text and read back."""

from .errors import TicoreError
from .registry import load_model, load_tokenizer

__all__ = ["TicoreError", "load_model", "load_tokenizer"]

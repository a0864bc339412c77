"""Text to train on, a file per language: read, cleaned, and split into train and held out."""

from .documents import Corpus

__all__ = ["Corpus"]

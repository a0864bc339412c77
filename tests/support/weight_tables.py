"""Weights for codecs under test; they are those of `ticore.testing`."""

from ticore.testing._codecs import endless, tables, weights_of

__all__ = ["endless", "tables", "weights_of"]

"""Verification of BPE tokenizers by the pair test, without the tokenizer.

Inside one part of a text, a list of tokens is what BPE gives iff it gives every two neighbours for
their own text. `derivations` and `rows` decide that for pairs; `shapes`, `splits` and `grouping`
say which neighbours share a part; the engines put both together.
"""

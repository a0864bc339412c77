"""Verification of unigram tokenizers: by the best segmentation of the text, without them."""

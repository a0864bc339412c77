"""What tokenizers do to a text before BPE or unigram: added tokens, normalizers, pretokenizers."""

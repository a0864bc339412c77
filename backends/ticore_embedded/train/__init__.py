"""How the embedded model `tiny-en` was made: corpus, tokenizer, network, training run.

`python -m ticore_embedded.train --corpus DIR --out DIR` does the whole of it. It needs the
`torch` extra; running the finished model does not.
"""

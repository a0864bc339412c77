"""How the bundled model `tiny-en` was made: corpus, tokenizer, network, training run.

`python -m training.tiny_en --corpus DIR --out DIR`, from the repository's root, does all of it. It
needs the extra `torch`; running the trained model does not.
"""

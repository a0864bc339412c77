"""How the bundled models were made: corpora, tokenizers, the network, the training run.

`python -m training tiny-en --corpus DIR --out DIR`, from the repository's root, does all of it for
one model. It needs the extras `torch`, `sentencepiece` and `tokenizers`; running a trained model
needs none of them but its tokenizer's.

recipes.py     what each bundled model is made of
corpora/       text to train on, a file per language
tokenizers.py  a tokenizer of each kind, trained and read
windows.py     the token windows that training reads
sizes.py       the sizes of a network
network.py     the network in PyTorch
loop.py        the training run
"""

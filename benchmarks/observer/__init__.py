"""Can an observer who has everything but the key tell sealed texts from free ones?

python -m benchmarks.observer --samples 2000

plan.py        which texts are written
writing.py     free samples of the same candidates, and of the whole vocabulary
observing.py   what the observer computes of a text
samples.py     groups of texts of all kinds, as the observer sees them
measures.py    numbers by which kinds of texts may differ
telling.py     how well they tell the kinds apart
sizes.py       how well the size of a message is guessed
summary.py     all of it
reporting.py   the tables

The observer has model, prompt and all settings. There are three kinds of texts after the same
prompts:

sealed   messages of random bytes, as `Steganographer.embed_batch` writes them by default
same     free samples of the same candidates: a plain sampler in place of the coder. A text goes on
         until it has carried as many bits as a sealed message of random size would take, and then
         to an end by the same rule
whole    free samples of the whole vocabulary, neither cut nor filtered; as long as the one of
         `same`, and then to an end by the same rule

Samples are stored as they are taken; the same command continues an interrupted run.
"""

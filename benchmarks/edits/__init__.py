"""Messages whose texts are edited: how many are read, by the share of edited tokens.

python -m benchmarks.edits --samples 100 --plot docs/images/edits.svg

*Attack*: each token of the text is, with a given probability, dropped, replaced, or followed by
another one, each in a third of the cases. The other token is drawn from the same text. The attacker
does not know the key and makes no sense of the text. Then the text is decoded, so that what the
reader finds there may differ further. Samples are stored as they are taken; the same command
continues an interrupted run.
"""

"""Watermarks on their way through text: how well they are found, with rollback and without.

python -m benchmarks.watermarking --data DIR --json results/watermarking.json --plot figure.svg
python -m benchmarks.watermarking --attacks --samples 50

Every scheme writes, behind the same prompts and with the same seeds, in three ways: with rollback,
without, and without where the text may not end by itself. So does the model without a watermark,
to be told apart from them. DIR holds prompts/en.jsonl; without it, a few prompts come along.

Samples are kept in a file as they are written. A run that was interrupted goes on where it stopped,
unless settings, model or code are others.
"""

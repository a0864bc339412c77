"""Watermarks in text that is read back: how well they are found, with rollback and without.

python -m benchmarks.watermarking --data DIR --json results/watermarking.json --plot plot.svg
python -m benchmarks.watermarking --attacks --samples 50

Every scheme writes after the same prompts with the same seeds in three ways: with rollback, without
it, and without it where the text may not end before its full length. The model without a watermark
writes as well, and watermarked texts are told apart from its texts. DIR holds prompts/en.jsonl;
without it, bundled prompts are used.

Samples are stored as they are taken. The same command continues an interrupted run; samples of
other settings, another model or other code are not used.
"""

"""Messages in text and back: what disambiguations and codecs carry, change, lose and cost.

python -m benchmarks.steganography --data DIR --json results/steganography.json --plot plot.svg
python -m benchmarks.steganography --samples 10 --top-k 16 256 --naive

Every disambiguation is measured with arithmetic coding, and every codec with stepwise verification:
the same bits with the same keys after the same prompts, with more and more candidates per step.
Each text is read right after it was written, while what the writer cached about tokens is still
there. `--naive` adds stepwise verification as in the paper, which retokenizes the whole text for
each candidate. DIR holds prompts/en.jsonl; without it, bundled prompts are used.

Samples are stored as they are taken. The same command continues an interrupted run; samples of
other settings, another model or other code are not used.
"""

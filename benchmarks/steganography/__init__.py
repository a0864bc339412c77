"""Messages in text and back: what disambiguations and codecs carry, distort, lose and cost.

python -m benchmarks.steganography --data DIR --json results/steganography.json --plot figure.svg
python -m benchmarks.steganography --samples 10 --top-k 16 256 --naive

Every disambiguation writes with arithmetic coding, and every codec with stepwise verification: the
same bits under the same keys behind the same prompts, with more and more candidates a step. Each
text is read again at once, when what its writer found out about tokens is still at hand. `--naive`
adds stepwise verification as the paper's authors have it, who retokenise the whole text for each
candidate. DIR holds prompts/en.jsonl; without it, a few prompts come along.

Samples are kept in a file as they are written. A run that was interrupted goes on where it stopped,
unless settings, model or code are others.
"""

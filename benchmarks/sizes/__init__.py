"""How long a text gets: bytes of a frame and tokens of a text, for each way to seal a message.

    python -m benchmarks.sizes [--samples N] [--model tiny-en --model tiny-ja --model tiny-zh]

Each message is written under several settings, from those that add most to those that add least.
"""

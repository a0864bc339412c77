"""Messages that programs change on their way: how many are read, and what a channel costs.

python -m benchmarks.channels --samples 100 --model tiny-en --model tiny-ja --model tiny-zh

Each journey is what one kind of program does to a text, such as a mail program that wraps and
quotes it; words are put before and after the text as well. A message takes each journey over the
channel that a user would choose for it, and without a channel. Samples are stored as they are
taken; the same command continues an interrupted run.
"""

"""Random messages into text and back: how many are recovered, at how many bits per token, how fast.

python -m benchmarks.round_trip --samples 1000
python -m benchmarks.round_trip --samples 1000 --model torch:smollm2 --batch 32 --chat

One Steganographer writes a message, and a new one reads it. With --batch, many are written side by
side; with --reader, another model or backend reads. Such texts are portable. Samples are stored as
they are taken; the same command continues an interrupted run.
"""

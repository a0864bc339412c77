"""Random messages into text and back: how many are recovered, at how many bits per token, how fast.

python -m benchmarks.round_trip --samples 1000

One Steganographer writes a message, and a new one reads it. Samples are stored as they are taken;
the same command continues an interrupted run.
"""

"""What consistency adds to a step of generation, beside the forward pass of a small network.

    python -m benchmarks.scaling --tokenizer sentencepiece:tokenizer.model --texts 1 16 256

Four ways to choose the next token of many texts: `nothing` is transformers' own step, `masks` is
the same with ConsistentLogitsProcessor, `resample` and `rollback` are the two kinds of
`ticore_transformers.consistent`. The forward pass is that of a random Llama of SmolLM2-135M's shape
with the tokenizer's vocabulary. Logits are random numbers in which the next token of an English
text has about 99 % of the probability. Each other token breaks the text more often than one of a
trained model would. On a CPU it is CPU time on one core. Needs the extra `torch`.
"""

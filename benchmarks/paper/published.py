"""The numbers that Yan & Murawaki published, by model."""

from __future__ import annotations

from .stand_ins import LLAMA_2, QWEN_2_5, SWALLOW

# Their table 1: texts that are read back as other tokens, %, by number of tokens.
TEXT_PERCENT = {
    LLAMA_2: {25: 3.9, 50: 8.1, 100: 17.7, 200: 33.6, 400: 53.0},
    SWALLOW: {25: 3.9, 50: 5.0, 100: 9.6, 200: 15.5, 400: 34.2},
    QWEN_2_5: {25: 8.7, 50: 11.1, 100: 18.1, 200: 39.4, 400: 66.4},
}
# Inconsistent tokens, written and read, %, by number of tokens of a text.
TOKEN_PERCENT = {
    LLAMA_2: {25: 0.176, 400: 0.223},
    SWALLOW: {25: 0.242, 400: 0.186},
    QWEN_2_5: {25: 0.558, 400: 0.467},
}
# Of the 64 likeliest candidates, %: by number and by probability.
CANDIDATE_NUMBER_PERCENT = {LLAMA_2: 1.497, SWALLOW: 2.045, QWEN_2_5: 3.993}
CANDIDATE_PROBABILITY_PERCENT = {LLAMA_2: 0.184, SWALLOW: 1.126, QWEN_2_5: 1.833}
# Inconsistent tokens that were chosen, %: after how many further tokens the text was consistent.
HEALED_PERCENT = {
    LLAMA_2: {1: 0.0, 2: 3.61, 3: 3.61, None: 91.24},
    SWALLOW: {1: 1.36, 2: 68.02, 3: 2.33, None: 18.02},
    QWEN_2_5: {1: 60.03, 2: 27.69, 3: 0.20, None: 12.07},
}
TEMPORARY_PERCENT = {LLAMA_2: 8.76, SWALLOW: 81.98, QWEN_2_5: 87.93}

BITS_PER_TOKEN = (2, 3, 4, 5)
"""Their table 2 groups texts by bits per token: from each of these to less than one more."""

# Their table 2: stepwise verification, for each of BITS_PER_TOKEN. Divergence in nats per token, as
# their program computes it; seconds per text.
STEPWISE_PERPLEXITY = {LLAMA_2: (8.69, 15.07, 26.41, 47.73)}
STEPWISE_DIVERGENCE = {LLAMA_2: (0.070, 0.031, 0.022, 0.020)}
STEPWISE_SECONDS = {LLAMA_2: (5.35, 8.09, 9.10, 9.51)}
# The same against the best rival, mean over the groups and models.
STEPWISE_CHANGE_PERCENT = {"ppl": -14.12, "kld": -47.86}

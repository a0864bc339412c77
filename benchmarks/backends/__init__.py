"""What backends compute, how alike, and how fast: all in one run.

    noise        the largest difference of a logit between backends, number formats, and ways to
                 read a text: cached, uncached, in one parallel pass, in a batch
    robustness   how often a 128-bit message is misread whose reader's logits are off by so much,
                 for each codec and grid
    exchange     how many messages written with one backend are read with another
    speed        the Decoder against transformers' generate; what a token costs beside the model,
                 and where; reading by one parallel pass; many texts in a batch

Runs go on where they were interrupted; `speed` and `noise` are taken anew each time.
"""

"""Model backends: how closely they agree, how fast they are.

    differences  the largest difference of a logit between backends, dtypes, and ways to read
                 (cached, uncached, in one parallel pass, in a batch)
    robustness   how often a 128-bit message is misread where the reader's logits differ by a
                 given noise, for each codec and grid
    exchange     how many messages that one backend wrote are misread with another
    speed        the Decoder and transformers' generate; what a token costs besides the model;
                 reading in one parallel pass; writing many texts in a batch

python -m benchmarks.backends --data DIR --json results/backends.json --plot plot.svg
python -m benchmarks.backends --parts speed

Samples of `robustness` and `exchange` are stored as they are taken, and the same command continues
an interrupted run. `differences` and `speed` are measured again in each run.
"""

"""What all benchmarks share.

types          names of types
cli            command lines
environment    machine, commit and versions of a run
prompts        the prompts that texts start with
workers        processes that carry out tasks; ray_workers: a Ray cluster
code_digest    the digest of the code that produces samples
sample_store   samples on disk, so that a run can continue
collect        carry out the tasks that have no sample yet
corpora        texts to measure on
text_statistics   what the generating model says of a text
sampling       keys, random numbers and likelihoods of a sample
progress       progress bars
report         print tables, write JSON and Parquet, draw the plot
tables         tables for a terminal, JSON files, Parquet files
intervals      of means and ratios over texts
auroc          the area under the ROC curve
shown_rates    numbers with their intervals as a page shows them
number_format  numbers as people read them
style          the look of plots
timing         clocks, paired timing, summaries of timings
model_proxy    a model that passes everything on; timed_model and slow_model change one thing
"""

"""The experiments of Yan & Murawaki, each table and figure beside ours.

python -m benchmarks.paper --data DIR --out results/paper
python -m benchmarks.paper --data DIR --out results/paper --parts investigation --models smollm2
python -m benchmarks.paper --data DIR --out OUT --models torch:/models/Llama-2-7b-hf --as llama-2
python -m benchmarks.paper --parts watermarks --paraphraser smollm2 --out OUT

Models of ours stand in for the paper's, one for each structure of tokenizers. DIR holds prompts/.
Samples are stored in OUT as they are taken: the same command continues an interrupted run, and one
with more samples adds to them. OUT/index.html and OUT/index.md show the results; OUT/results holds
them for programs, OUT/figures the figures.

stand_ins.py     which model stands in for which of the paper's
setting.py       what the samples of one model depend on
part.py          what each part of the paper's experiments offers
analysis.py      parts that take no samples of their own
sections.py      what a page shows
page.py          pages as Markdown and HTML
taking.py        takes the samples of a part
published.py     the paper's numbers
free_texts.py    free sampling of texts
investigation/   how often tokens are inconsistent, and for how long (their section 3)
messages/        what each cure of inconsistency costs hidden messages (their section 5, table 2)
covers/          texts without a message
steganalysis/    whether texts with a message can be told from covers (section 5, table 2)
low_probability/ whether their improbable tokens are as many as in free samples
codecs/          the same by codec and precision
endings/         whether the end of a text gives away the length of its message
watermarks/      how well watermarks are found, with rollback and without, and at which cost
rollback_distribution/   how far rollback moves the distribution of texts
"""

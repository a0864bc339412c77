"""`Verifier`: how fast it decides, whether it is right, what each mode rejects.

python -m benchmarks.verification --data DIR --json results/verification.json --plot plot.png
python -m benchmarks.verification --data DIR --runs
python -m benchmarks.verification --data DIR --batches --plot plot.png
python -m benchmarks.verification --data DIR --soak 1000000
python -m benchmarks.verification --data DIR --rejections
python -m benchmarks.verification --survey --folder TOKENIZERS --markdown table.md

Without --runs, --batches, --soak, --rejections or --survey, it times loading, masks, candidates and
pushes.
DIR holds tokenizers/ and corpora/. Without DIR, name tokenizers with `--tokenizer BACKEND:LOCATION`
and texts with `--texts FILE`, or use the bundled ones.
"""

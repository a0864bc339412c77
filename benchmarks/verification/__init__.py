"""Verification of candidates: how fast each rung is, whether it is right, what each mode rejects.

python -m benchmarks.verification --data DIR --json results/verification.json --plot figure.png
python -m benchmarks.verification --data DIR --runs
python -m benchmarks.verification --data DIR --soak 1000000
python -m benchmarks.verification --data DIR --rejections

DIR holds tokenizers/ and corpora/ (see `places` and `texts`); without it, name tokenizers with
`--tokenizer BACKEND:LOCATION` and texts with `--texts FILE`, or take the little that comes along.
"""

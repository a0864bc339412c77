"""Every disambiguation and codec on the same sealed messages: what each carries, changes and costs.

python -m benchmarks.methods --model tiny-en --model tiny-ja --samples 100 --data DIR
python -m benchmarks.methods --samples 20 --json results/methods.json --plot methods.svg
python -m benchmarks.methods --model smollm2 --kind lists --kind code --kind chat \
    --method stepwise --method "stepwise, open" --method "stepwise, viable"

Messages of 16 random bytes are written and read with each disambiguation (by arithmetic coding; in
stepwise verification, each mode) and with each codec (by stepwise verification): the same messages
with the same keys after the same prompts. Divergence is that of a text: what dropped candidates
cost at its tokens, and what texts cost that were given up since their reader would not find the
message. DIR holds prompts/LANGUAGE.jsonl, the prompts for prose; without it, bundled ones are used,
as for the other kinds of text.

Samples are stored as they are taken. The same command continues an interrupted run, and a larger
number of samples adds to it.
"""

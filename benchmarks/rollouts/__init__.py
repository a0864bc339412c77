"""Rollouts of a chat model, and what becomes of their ids when they are read again.

python -m benchmarks.rollouts --model torch:smollm2 --dtype bfloat16 --rollouts 10000 --out DIR/s
python -m benchmarks.rollouts ... --write rollouts.jsonl     and then: ticore drift rollouts.jsonl

The model replies to conversations that its own template writes, in groups of 16 rollouts of one
prompt. Each rollout is read again in two ways: the text of its ids; and what the template writes of
its messages, as a trainer does that keeps messages. The table counts the first causes.
"""

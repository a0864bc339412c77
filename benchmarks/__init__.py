"""Measurements. Each module runs by `python -m benchmarks.NAME` and writes to results/."""

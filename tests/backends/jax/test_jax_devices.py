"""Eight devices give what one gives. They are the host's, in a process of its own: JAX counts its
devices once, when it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="jax or flax is not installed")
pytest.importorskip("flax", reason="jax or flax is not installed")

import numpy as np

from tests.support.jax_checkpoints import load, save, some_ids

# It imports no PyTorch, which takes longer than all the rest.
PROGRAM = """
import json, sys, types
import numpy as np
from ticore_jax import BACKEND

tokenizer = types.SimpleNamespace(vocab_size=50)
ids = json.loads(sys.argv[1])
for folder in sys.argv[2:]:
    model = BACKEND.load(folder, lambda place: tokenizer, {})
    decoder = model.start(ids[:9])
    for token in (3, 4, *ids[9:]):
        decoder.push(token)
        if token == 4:
            decoder.rewind(2)
    batch = model.start_batch([ids[:9], ids[:3], *[[5]] * 6])
    for n, token in enumerate(ids[9:]):
        batch.push({0: token, 1: ids[3 + n]})
    for row in range(2, 7):
        batch.drop(row)
    batch.push({1: ids[10], 7: 3})
    rows = [decoder.logits(), batch.logits(0), batch.logits(1)]
    np.save(folder + "/logits.npy", np.concatenate([model.score(ids), rows]))
    cache = decoder._reader._cache.layers[0][0]
    print(json.dumps({
        "mesh": dict(model._runner.placement.mesh.shape),
        "shared": sum(not w.sharding.is_fully_replicated for w in model._runner.weights),
        "cache": cache.shape[0] // cache.addressable_shards[0].data.shape[0],
    }))
"""
# How many arrays are shared: in Llama the seven matrices of a layer and the two of the vocabulary;
# in GPT-2 the six of a layer, queries, keys and values apart, and the biases of four. Four devices
# do not divide its vocabulary of 50.
EXPECTED = {
    "llama": {"mesh": {"data": 4, "model": 2}, "shared": 2 * 7 + 2, "cache": 2},
    "gpt2": {"mesh": {"data": 2, "model": 4}, "shared": 2 * (6 + 4), "cache": 4},
}


@pytest.mark.slow
def test_eight_devices_give_the_logits_of_one(tmp_path: Path) -> None:
    folders, ids = [save(tmp_path / case, case) for case in EXPECTED], some_ids(17)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(ids[:-1]), *folders],
        env=os.environ
        | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == list(EXPECTED.values())
    for folder in folders:
        expected = load(folder).score(ids)
        # The batch has read all ids in one row, and in the other the first eleven.
        found, expected = np.load(folder / "logits.npy"), expected[[*range(17), 16, 11]]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)

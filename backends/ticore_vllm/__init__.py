"""Consistent token lists from vLLM.

    vllm serve MODEL --logits-processors ticore_vllm:ConsistentTokens

_interfaces.py   what vLLM gives a logits processor, as far as it is read here
_processor.py    `ConsistentTokens`, the one name for both kinds of engine
_v1.py           for Model Runner V1, which tells of each change of its batch
_v2.py           for Model Runner V2, whose tokens are on the device

There is no entry point on purpose: vLLM would load it into each server, asked for or not.
"""

from ._processor import ConsistentTokens

__all__ = ["ConsistentTokens"]

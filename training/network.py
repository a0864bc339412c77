"""The network in PyTorch, for training only: Llama with tied embeddings and grouped queries.

Parameter names are those of the Hugging Face layout, so a state dict is a checkpoint that
transformers reads. `ticore_embedded._network` runs the same arithmetic in NumPy.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import LlamaConfig


class Attention(nn.Module):
    def __init__(self, c: LlamaConfig) -> None:
        super().__init__()
        self.heads, self.groups = c.num_attention_heads, c.num_key_value_heads
        kv_width = c.num_key_value_heads * c.head_dim
        self.q_proj = nn.Linear(c.hidden_size, c.hidden_size, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, kv_width, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, kv_width, bias=False)
        self.o_proj = nn.Linear(c.hidden_size, c.hidden_size, bias=False)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        batch, length, width = x.shape
        q = self.q_proj(x).view(batch, length, self.heads, -1).transpose(1, 2)
        k = self.k_proj(x).view(batch, length, self.groups, -1).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, self.groups, -1).transpose(1, 2)
        q, k = _rotate(q, *rotation), _rotate(k, *rotation)
        share = self.heads // self.groups
        k, v = k.repeat_interleave(share, 1), v.repeat_interleave(share, 1)
        # Written out, this is two to three times as fast on a CPU as the fused kernel.
        future = torch.full((length, length), -torch.inf, dtype=q.dtype, device=q.device).triu(1)
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5 + future
        mixed = scores.softmax(-1).to(v.dtype) @ v
        out: Tensor = self.o_proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return out


class FeedForward(nn.Module):
    def __init__(self, c: LlamaConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Layer(nn.Module):
    def __init__(self, c: LlamaConfig) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = nn.RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.mlp = FeedForward(c)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), rotation)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Body(nn.Module):
    def __init__(self, c: LlamaConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        self.norm = nn.RMSNorm(c.hidden_size, c.rms_norm_eps)


class Llama(nn.Module):
    """Logits float32[batch, length, vocabulary] of ids int64[batch, length]."""

    def __init__(self, c: LlamaConfig) -> None:
        super().__init__()
        self.config = c
        self.model = Body(c)
        # Muon and Adam both want small, equal starts; what adds to the stream starts smaller.
        for name, p in self.named_parameters():
            if p.ndim == 2:
                last = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * c.num_hidden_layers) if last else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        c = self.config
        inverse = c.rope_theta ** (-torch.arange(0, c.head_dim, 2) / c.head_dim)
        angles = torch.outer(torch.arange(ids.shape[1]), inverse).to(ids.device)
        angles = torch.cat((angles, angles), -1)
        rotation = angles.cos(), angles.sin()
        x = self.model.embed_tokens(ids)
        for layer in self.model.layers:
            x = layer(x, rotation)
        return F.linear(self.model.norm(x), self.model.embed_tokens.weight)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return (x * cos + torch.cat((-right, left), -1) * sin).to(x.dtype)

"""What layers are made of: products, norms and feed-forward parts, for rows float[n, width].

Everything stays in the dtype of the weights: a Python number adapts to the array it meets, while
a float64 scalar of NumPy's own would turn float32 arrays into float64 ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]

# Up to this number of rows, a dot product for each row of a matrix is faster than a matrix product.
# With one row it runs at the speed of memory, 1.5 to 1.8 times as fast as OpenBLAS's product of a
# matrix and a vector; with four rows, in float64, both take as long.
FEW_ROWS = 4


@dataclass(frozen=True)
class Linear:
    """x W^T + b for rows x.

    Attributes:
        weight: float[outputs, inputs]; one row per output, as the bytes are read in order.
        bias: float[outputs], if any.
        dots: whether few rows are multiplied by dot products, which add in another order than
            a matrix product does.
    """

    weight: Array
    bias: Array | None = None
    dots: bool = True

    def __call__(self, x: Array) -> Array:
        product = self.product(x)
        return product if self.bias is None else product + self.bias

    def product(self, x: Array) -> Array:
        """x W^T."""
        product: Array
        if self.dots and len(x) <= FEW_ROWS:
            product = np.vecdot(self.weight[:, None], x).T
        else:
            product = x @ self.weight.T
        return product


@dataclass(frozen=True)
class RMSNorm:
    """Rows scaled to a root mean square of 1, then by a weight.

    Attributes:
        weight: float[width].
        eps: added to the mean square.
    """

    weight: Array
    eps: float

    def __call__(self, x: Array) -> Array:
        mean_square = np.vecdot(x, x)[..., None] / x.shape[-1]
        normed: Array = x / np.sqrt(mean_square + self.eps) * self.weight
        return normed


@dataclass(frozen=True)
class LayerNorm:
    """Rows shifted to a mean of 0 and scaled to a variance of 1, then by a weight and a bias.

    Attributes:
        weight, bias: float[width].
        eps: added to the variance.
    """

    weight: Array
    bias: Array
    eps: float

    def __call__(self, x: Array) -> Array:
        shifted = x - x.mean(axis=-1, keepdims=True)
        variance = np.vecdot(shifted, shifted)[..., None] / x.shape[-1]
        normed: Array = shifted / np.sqrt(variance + self.eps) * self.weight + self.bias
        return normed


Norm = RMSNorm | LayerNorm


def silu(x: Array) -> Array:
    """x times its logistic function."""
    with np.errstate(over="ignore"):  # exp overflows to inf, and x / inf is the right limit, 0
        product: Array = x / (1 + np.exp(-x))
    return product


def gelu(x: Array) -> Array:
    """x times the normal distribution's function, in the approximation by tanh."""
    with np.errstate(over="ignore"):  # the cube overflows to inf, of which tanh is 1
        share = 1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x)))
    product: Array = 0.5 * x * share
    return product


@dataclass(frozen=True)
class GatedFeedForward:
    """down(activation(gate(x)) * up(x)).

    Attributes:
        gate_up: outputs of the gate first, then as many of `up`.
        down: back to the width.
        activation: of the gate.
    """

    gate_up: Linear
    down: Linear
    activation: Callable[[Array], Array]

    def __call__(self, x: Array) -> Array:
        both = self.gate_up(x)
        inner = both.shape[1] // 2
        return self.down(self.activation(both[:, :inner]) * both[:, inner:])


@dataclass(frozen=True)
class FeedForward:
    """down(gelu(up(x)))."""

    up: Linear
    down: Linear

    def __call__(self, x: Array) -> Array:
        return self.down(gelu(self.up(x)))

"""The arrays that are asked with, and those that are answered with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.integer]
Bools = npt.NDArray[np.bool_]

"""The command line: `ticore COMMAND`. Results on stdout, everything else on stderr.

Exit status: 0 done, 1 could not, 2 wrong usage, 130 interrupted. With status 1 or 2, one line on
stderr says why, and stdout is empty. A command that reads several texts prints such a line for each
text that it cannot read, and the results of the others.
"""

from .main import main

__all__ = ["main"]

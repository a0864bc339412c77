"""The command line: `ticore COMMAND`. Results on stdout, everything else on stderr.

Exit status: 0 done, 1 could not (one line on stderr says why), 2 wrong usage.
"""

from .main import main

__all__ = ["main"]

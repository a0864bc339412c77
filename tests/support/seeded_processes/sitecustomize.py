"""Python imports this module as it starts, since its folder is in PYTHONPATH."""

import random
import sys

random._urandom = random.Random(repr(sys.argv[1:])).randbytes

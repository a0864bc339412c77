"""`python -m ticore` is the command `ticore`."""

from ticore_command import main

if __name__ == "__main__":
    main()

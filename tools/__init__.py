"""What the repository needs beside the package: nothing here is installed."""

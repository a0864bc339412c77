"""What the repository needs besides the package; nothing here is installed."""

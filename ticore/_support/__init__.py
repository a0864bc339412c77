"""Small parts that belong to no one room."""

"""The engines that decide whether a list is consistent."""

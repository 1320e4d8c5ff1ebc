"""Made of _async by generate.py."""

"""The client that is awaited. The other one is made of it by generate.py."""

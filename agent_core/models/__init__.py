"""Which chat models there are, and how each is built."""

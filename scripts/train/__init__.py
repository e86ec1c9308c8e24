"""Training of the networks of `graphmem/language`: one command, one table of heads (`python -m scripts.train`)."""

"""Training of the encoder of `graphmem/language`: one command, one table of heads (`python -m scripts.train`)."""

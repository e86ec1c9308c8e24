"""Making of the models that ship: one command, one table (`python -m scripts.train`)."""

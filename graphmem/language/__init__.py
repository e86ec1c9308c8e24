"""Reads language: one run of one encoder a message, one network for two texts (spec 7)."""

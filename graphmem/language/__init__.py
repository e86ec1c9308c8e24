"""Reads language: one run of one encoder a message (spec 7)."""

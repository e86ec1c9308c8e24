"""Implementations of the longer commands of the command line."""

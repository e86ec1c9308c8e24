"""Chats and memories in the files that other services export (spec 18)."""

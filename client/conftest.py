"""Adapters need frameworks that a plain environment does not have; tests/api/test_adapters.py runs them."""

collect_ignore_glob = ["graphmem_client/adapters/*"]

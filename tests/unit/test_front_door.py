"""The names that `import graphmem` gives."""

import subprocess
import sys

import graphmem


def test_there_are_at_most_20_names_and_each_is_there() -> None:
    assert len(graphmem.__all__) <= 20
    assert graphmem.__all__ == sorted(graphmem.__all__)
    assert all(getattr(graphmem, name) is not None for name in graphmem.__all__)
    assert dir(graphmem) == graphmem.__all__


def test_each_name_is_the_one_of_its_module() -> None:
    for name, module in graphmem._MODULES.items():
        assert getattr(graphmem, name).__module__ in (module, "graphmem.model.student", "graphmem_client.errors",
                                                      "graphmem.model.memory")  # fmt: skip


def test_importing_graphmem_loads_no_driver_and_no_model() -> None:
    code = (
        "import graphmem, sys; print([m for m in ('neo4j', 'onnxruntime', 'strawberry', 'httpx') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"

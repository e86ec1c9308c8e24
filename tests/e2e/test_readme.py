"""The README's turn by hand, as it stands there, against a served API."""

import asyncio
import os
import re
import sys
from pathlib import Path

from graphmem.app import Graphmem
from graphmem.settings import Settings

README = Path(__file__).parents[2] / "README.md"


async def test_the_turn_by_hand_works_as_written(gm: Graphmem, api: str, settings: Settings, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    commands = Path(sys.executable).parent
    environment = os.environ | {
        "API": api,
        "GRAPHMEM_HOME": str(settings.home),
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=environment, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    first, second, *block = printed.decode().strip().splitlines()
    assert (block[0], block[-1]) == ("<COMPANION_MEMORY>", "</COMPANION_MEMORY>")
    assert any("Bello" in line for line in block)
    assert "'match': None" in first
    assert "'reply': '" in second

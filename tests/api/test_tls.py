"""The API over TLS, with a certificate of one's own."""

import json
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets import Subprotocol
from websockets.asyncio.client import connect

from graphmem.app import Graphmem
from graphmem.model import Role
from graphmem.settings import Settings
from tests.conftest import PASSWORD, Pupil, another_replica, served
from tests.support.client import Client


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of `localhost` that is signed by itself, and its key."""
    openssl = shutil.which("openssl")
    assert openssl is not None, "install openssl"
    folder = tmp_path_factory.mktemp("tls")
    files = folder / "chain.pem", folder / "key.pem"
    made = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -out {files[0]} -keyout {files[1]}"
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([openssl, *made.split(), *name], check=True, capture_output=True)
    return files


def secure(gm: Graphmem, files: tuple[Path, Path]) -> Graphmem:
    settings = {"tls_certificate": files[0], "tls_key": files[1]}
    return another_replica(gm, settings=gm.settings.model_copy(update=settings))


async def test_requests_and_subscriptions_go_over_tls(
    gm: Graphmem, ann: Pupil, bearer: Callable[[Role], str], certificate: tuple[Path, Path]
) -> None:
    trusted = ssl.create_default_context(cafile=str(certificate[0]))
    async with served(secure(gm, certificate)) as address:
        async with httpx.AsyncClient(base_url=address, verify=trusted, timeout=30) as http:
            ask = 'mutation($p: String!) { openSession(studentId: "ann", password: $p) { token } }'
            opened = await Client(http, bearer(Role.APP)).call(ask, p=PASSWORD)
            known = await Client(http, bearer(Role.APP), opened["token"]).call('{ student(id: "ann") { displayName } }')
            assert known == {"displayName": "Name of ann"}
        where, protocol = address.replace("https", "wss") + "/graphql", Subprotocol("graphql-transport-ws")
        async with connect(where, ssl=trusted, subprotocols=[protocol]) as socket:
            payload = {"Authorization": f"Bearer {bearer(Role.APP)}"}
            await socket.send(json.dumps({"type": "connection_init", "payload": payload}))
            assert json.loads(await socket.recv())["type"] == "connection_ack"


async def test_who_does_not_trust_it_or_speaks_plainly_is_refused(gm: Graphmem, certificate: tuple[Path, Path]) -> None:
    async with served(secure(gm, certificate)) as address:
        async with httpx.AsyncClient(base_url=address) as http:
            with pytest.raises(httpx.ConnectError):
                await http.get("/healthz")
        async with httpx.AsyncClient(base_url=address.replace("https", "http")) as http:
            with pytest.raises(httpx.TransportError):
                await http.get("/healthz")
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(certificate[0])
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3
        async with httpx.AsyncClient(base_url=address, verify=old) as http:
            assert (await http.get("/healthz")).status_code == 200


@pytest.mark.parametrize("names", [["tls_key"], ["tls_certificate"], ["tls_key", "tls_certificate"]])
def test_half_a_setting_or_no_file_is_refused(tmp_path: Path, names: list[str]) -> None:
    given: dict[str, Any] = dict.fromkeys(names, tmp_path / "nothing.pem")
    with pytest.raises(ValueError, match=r"(?i)tls"):
        Settings(**given)

"""The containers as users run them, as far as can be checked without running any."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from graphmem.local.install import locked
from graphmem.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


def test_both_ways_run_the_same_neo4j(services: dict[str, Any]) -> None:
    assert services["neo4j"]["image"] == f"neo4j:{locked().version}-community"


def test_every_port_is_bound_to_this_machine(services: dict[str, Any]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    secrets = [
        services["neo4j"]["environment"]["NEO4J_AUTH"],
        services["graphmem"]["environment"]["GRAPHMEM_NEO4J_PASSWORD"],
        services["graphmem"]["environment"]["GRAPHMEM_SECRET"],
    ]
    assert all(re.fullmatch(r"(neo4j/)?\$\{GRAPHMEM_\w+:\?[^}]+\}", secret) for secret in secrets)


def test_graphmem_waits_for_a_healthy_neo4j(services: dict[str, Any]) -> None:
    for name in ("graphmem", "worker"):
        assert services[name]["depends_on"]["neo4j"] == {"condition": "service_healthy"}
    assert "cypher-shell" in services["neo4j"]["healthcheck"]["test"][1]


def test_api_and_workers_share_their_redis_and_their_secret(services: dict[str, Any]) -> None:
    assert services["worker"]["environment"] == services["graphmem"]["environment"]
    assert services["worker"]["command"] == ["graphmem", "worker"]
    assert "redis" in services
    assert services["graphmem"]["environment"]["GRAPHMEM_BROKER"] == "redis://redis:6379/0"


def test_data_outlives_the_containers(services: dict[str, Any]) -> None:
    volumes = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["volumes"]
    mounted = [volume.split(":") for service in services.values() for volume in service.get("volumes", [])]
    assert {name for name, _ in mounted} == set(volumes)
    assert ["neo4j-data", "/data"] in mounted


def test_queries_are_not_logged_there_either(services: dict[str, Any]) -> None:
    assert services["neo4j"]["environment"]["NEO4J_db_logs_query_enabled"] == "OFF"


def test_every_variable_is_a_setting(services: dict[str, Any]) -> None:
    given = {name for name in services["graphmem"]["environment"] if name.startswith("GRAPHMEM_")}
    assert given <= {f"GRAPHMEM_{name.upper()}" for name in Settings.model_fields}


def test_the_image_runs_as_nobody_special_from_hashed_packages() -> None:
    text = (ROOT / "Dockerfile").read_text()
    installs = [line for line in text.replace("\\\n", " ").splitlines() if " -r requirements/" in line]
    assert len(installs) == 2
    assert all("--require-hashes" in line for line in installs)
    last_stage = text.split("FROM ")[-1]
    assert "\nUSER graphmem\n" in last_stage
    assert "/livez" in last_stage


def test_what_the_image_copies_is_let_in() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.*) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    copied = {path.split("/")[0] for line in copies for path in line.split()}
    assert copied == let_in
    assert all((ROOT / path).exists() for path in let_in)

"""Every setting, in one frozen object: unit, default and the spec section it comes from.

Each field is read from the environment as `GRAPHMEM_<FIELD>` (upper case).
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Base64UrlBytes, Field, FilePath, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "GRAPHMEM_"
TEST_PREFIX = "GRAPHMEM_TEST_"
"""Variables of the tests, which are no settings."""


RecoveryKey = Annotated[Base64UrlBytes, Field(min_length=32, max_length=32)]
"""Public recovery key, as bytes."""


class Settings(BaseSettings):
    """Configuration; `Settings()` reads the environment once.

    Examples
    --------
    >>> Settings(session_minutes=5).session_minutes
    5.0
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", use_attribute_docstrings=True)

    # Where things are
    home: Path = user_data_path("graphmem")
    """folder of database, keys and caches"""
    neo4j_uri: str | None = None
    """Neo4j to use; unset: the local one, started by graphmem itself"""
    neo4j_user: str = "neo4j"
    """user of that Neo4j"""
    neo4j_password: SecretStr | None = None
    """password of that Neo4j"""
    neo4j_timeout: float = Field(60.0, gt=0)
    """seconds a database call may take before UNAVAILABLE (spec 3)"""
    maven: str | None = None
    """address of a Maven repository to fetch the local Neo4j from; unset: the central one"""
    neo4j_bolt_port: int | None = Field(None, ge=1, le=65535)
    """Bolt port of the local Neo4j; unset: a free one, kept from start to start"""
    neo4j_http_port: int | None = Field(None, ge=1, le=65535)
    """port of Neo4j Browser on the local Neo4j; unset: a free one, kept likewise"""
    neo4j_heap_mb: int = Field(512, ge=256)
    """MiB of Java heap of the local Neo4j"""
    neo4j_config: str = ""
    """further settings of the local Neo4j, each `name=value`, with spaces between"""
    secret: SecretStr | None = None
    """server secret that seals session tokens; unset: made once, kept in the home (spec 14)"""
    secret_before: SecretStr | None = None
    """secret before `SECRET` was changed: its tokens still open, none is made with it"""

    # The MCP server, a client of the API (spec 18)
    mcp_api: str = "http://127.0.0.1:8000"
    """address of the API that `graphmem mcp` asks"""
    mcp_token: SecretStr | None = None
    """bearer token of `graphmem mcp` over stdio"""
    mcp_password: SecretStr | None = None
    """the student's password, by which `graphmem mcp` opens a session; unset: it opens none"""

    # Minds and embeddings (spec 17)
    model: str = "offline"
    """`offline`, or a model string such as `openai:NAME`"""
    model_base_url: str | None = None
    """address of an OpenAI-compatible server"""
    model_output: Literal["auto", "schema", "tool", "object", "text"] = "auto"
    """how the model is made to answer in JSON; `auto` finds out"""
    model_timeout: float = Field(20.0, gt=0)
    """seconds one model call may take"""
    model_price_in: float = Field(0.0, ge=0)
    """US dollars per million tokens of a question, where the model's price is not known"""
    model_price_out: float = Field(0.0, ge=0)
    """the same of an answer"""
    degrade: Literal["offline", "refuse"] = "offline"
    """turns that the model fails or whose budget is spent: `offline` (the offline mind answers) or `refuse`
    (UNAVAILABLE, BUDGET_EXCEEDED; the message stays stored, and the same `turnId` completes it)"""
    embedder: str = "onnx:all-MiniLM-L6-v2"
    """the shipped model, or `sentence-transformers:NAME_OR_PATH`"""

    # Safety (spec 20)
    help: str = Field(
        "Please talk to a grown-up you trust today, such as a parent, a teacher or a counsellor at your school. If you "
        "or somebody else is in danger right now, call your local emergency number.",
        min_length=1,
        max_length=2_000,
    )
    """what a reply holds word for word when a message tells of danger: a helpline, a person"""
    not_yet: str = Field(
        "That is something we have not come to yet; let us stay with what we are working on.",
        min_length=1,
        max_length=500,
    )
    """what a reply says instead of a sentence that names a concept which the student has not met"""
    help_institutions: dict[str, str] = {}
    """the same for some institutions, as a JSON object of texts by institution"""
    help_languages: dict[str, str] = {}
    """the same for messages in some languages, as a JSON object of texts by ISO 639-1 code; an institution's own text
    comes before it"""

    # Uncertainty (spec 12)
    conflicts: Literal["newer_wins", "stronger_wins", "manual"] = "newer_wins"
    """of relationships that cannot both be so `newer_wins`, `stronger_wins` (by weight), or `manual`: they wait for a
    person"""

    # The turn (spec 3, 4)
    predict: Literal["combined", "separate"] = "combined"
    """language-model calls before a reply: `combined` (one) or `separate` (two: the next message is predicted first)"""
    facts_kept: int = Field(200, ge=1)
    """facts kept for a student, oldest trimmed"""
    facts_recalled: int = Field(10, ge=0)
    """facts recalled for a turn"""
    memories_recalled: int = Field(10, ge=0, le=100)
    """most memories recalled for a turn (spec 10)"""
    sweep_seconds: float = Field(30.0, gt=0)
    """seconds between two sweeps of stranded work"""

    # Background work (spec 16) and its budgets (spec 5)
    broker: str = Field("memory", pattern=r"^(memory|rediss?://.+)$")
    """who carries jobs: `memory` (the API runs them itself) or `redis://...` (`graphmem worker` does)"""
    jobs_quiet: float = Field(1.0, ge=0)
    """seconds without a turn until the API's process runs jobs"""
    jobs_patience: float = Field(60.0, ge=0)
    """seconds after which jobs are run though turns go on"""
    jobs_lease: float = Field(60.0, gt=0)
    """seconds a worker may hold jobs beyond `MODEL_TIMEOUT` until others take them over"""
    drift_hours: float = Field(24.0, ge=0)
    """hours between two drift cycles of a student (decay, consolidation, and more); 0: none"""
    jobs_late: float = Field(300.0, gt=0)
    """seconds a due job may wait until health turns red"""
    requests_minute: int = Field(60_000, ge=0)
    """most requests of each role of an institution a minute, to one process; 0: no limit"""
    turns_minute: int = Field(6_000, ge=0)
    """the same of turns of one student"""
    observations_minute: int = Field(600, ge=0)
    """the same of observations of one student, for each role"""
    observations_institution_minute: int = Field(30_000, ge=0)
    """the same of observations of an institution"""
    webhooks: dict[str, str] = {}
    """addresses that are told of concerns and dead jobs, as a JSON object by institution: `https://`, or `http://` of
    this machine"""
    budget_student_tokens: int = Field(0, ge=0)
    """tokens a day, of one student, beyond which no model is asked; 0: no limit"""
    budget_tokens: int = Field(0, ge=0)
    """the same of all students together"""
    budget_student_cost: float = Field(0.0, ge=0)
    """the same in US dollars, of one student"""
    budget_cost: float = Field(0.0, ge=0)
    """the same in US dollars, of all students together"""

    # Sealing and sessions (spec 14)
    session_minutes: float = Field(60.0, gt=0)
    """minutes after which a session ends that is not used; each use renews it"""
    session_hours: float = Field(12.0, gt=0)
    """hours after which a session ends even if it is used"""
    sealing_off: str = ""
    """institutions whose students are stored readable, with commas between; `*` at the end stands for anything. Settled
    for an institution with its first student"""
    recovery_keys: dict[str, RecoveryKey] = {}
    """public recovery keys, as `graphmem recovery-key` prints them, as a JSON object by institution: whoever holds the
    secret half can set a new password for its students"""
    argon2_ops: int = Field(3, ge=1)
    """passes of Argon2id over its memory"""
    argon2_mib: int = Field(64, ge=8)
    """MiB of memory of Argon2id"""
    memories_limit: int = Field(1000, ge=10)
    """memories of a student from which on they are compressed, to 0.618 of it"""
    cache_mib: int = Field(512, ge=1)
    """MiB of open students that one process holds in memory"""

    # The door (spec 19)
    tls_certificate: FilePath | None = None
    """certificate chain (PEM) to serve the API with over TLS, 1.2 or later; unset: plain HTTP"""
    tls_key: FilePath | None = None
    """private key (PEM, without a password) of that certificate"""
    graphiql: bool = True
    """whether GraphiQL is served at `/graphql`"""
    people: bool = True
    """whether the page for people is served at `/`"""
    health_seconds: float = Field(1.0, gt=0)
    """seconds in which health and readiness are answered"""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """from which level on graphmem and uvicorn log, to standard error"""
    log_format: Literal["text", "json"] = "text"
    """lines of text, or one JSON document a line"""
    worker_metrics_port: int | None = Field(None, ge=1, le=65535)
    """port on 127.0.0.1 at which a worker serves its metrics; unset: it does not"""

    @model_validator(mode="after")
    def _checked_webhooks(self) -> Self:
        for institution, address in self.webhooks.items():
            parts = urlsplit(address)
            is_own = parts.hostname in ("localhost", "127.0.0.1", "::1")
            allowed = parts.scheme == "https" or (parts.scheme == "http" and is_own)
            if not (allowed and parts.hostname and parts.username is None):
                raise ValueError(f"The webhook of {institution} must be https://, or http:// of this machine.")
        return self

    @model_validator(mode="after")
    def _checked_tls(self) -> Self:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("TLS_CERTIFICATE and TLS_KEY are set together, or neither.")
        return self

    def is_clear(self, institution: str) -> bool:
        """True if the students of an institution are to be stored readable.

        Examples
        --------
        >>> settings = Settings(sealing_off="north, south-*")
        >>> [settings.is_clear(name) for name in ("north", "north-1", "south-1", "")]
        [True, False, True, False]
        """
        named = [each.strip() for each in self.sealing_off.split(",") if each.strip()]
        return any(
            institution.startswith(each.removesuffix("*")) if each.endswith("*") else institution == each
            for each in named
        )

    def help_of(self, institution: str, language: str = "") -> str:
        """Help text of an institution, or else of a language (ISO 639-1 code), or else the common one."""
        return self.help_institutions.get(institution, self.help_languages.get(language, self.help))


def misspelt(names: Iterable[str]) -> dict[str, str | None]:
    """Environment variables that look like settings and are none, each with the setting whose name is closest.

    Examples
    --------
    >>> misspelt(["GRAPHMEM_MODLE", "GRAPHMEM_MODEL", "GRAPHMEM_XYZZY", "MODEL"])
    {'GRAPHMEM_MODLE': 'GRAPHMEM_MODEL', 'GRAPHMEM_XYZZY': None}
    """
    known = [name.upper() for name in Settings.model_fields]
    unknown = {name: name.upper().removeprefix(PREFIX) for name in names if name.upper().startswith(PREFIX)}
    closest = {
        name: get_close_matches(bare, known, n=1, cutoff=0.6)
        for name, bare in unknown.items()
        if bare not in known and not name.startswith(TEST_PREFIX)
    }
    return {name: f"{PREFIX}{found[0]}" if found else None for name, found in closest.items()}

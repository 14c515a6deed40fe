"""Settings of `postgresql://`, from keywords, URL and environment (`MEMCORE_POSTGRES_…`).

Where to connect is said as in any PostgreSQL URL. What is left out there, the driver takes from where PostgreSQL's own
tools take it: `PGHOST`, `PGUSER`, `~/.pgpass` and so on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self
from urllib.parse import unquote, urlencode

from memcore.settings import StoreSettings
from pydantic import AfterValidator, Field, SecretStr, model_validator

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_SCHEMA: Final = re.compile(r"(?!pg_|information_schema)[A-Za-z_][A-Za-z0-9_]{0,62}")
_HOST: Final = re.compile(r"/.*|(\[[0-9A-Fa-f:.%\w]+\]|[\w.-]+)(:[0-9]{1,5})?")
_IN_DSN: Final = (
    *("host", "port", "user", "database", "passfile"),
    *("sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs"),
)


def _check_hosts(text: str) -> str:
    if not all(_HOST.fullmatch(host) for host in text.split(",")):
        msg = "must be a host, host:port, [address]:port or the folder of a socket, or several of them with commas"
        raise ValueError(msg)
    return text


def _check_schema(text: str) -> str:
    if not _SCHEMA.fullmatch(text):
        msg = "must be 1 to 63 letters, digits and underscores, no digit first, and none of PostgreSQL's own schemas"
        raise ValueError(msg)
    return text


class PostgresSettings(StoreSettings):
    """Settings of `postgresql://user:password@host:port/database?…`."""

    host: Annotated[str, AfterValidator(_check_hosts)] | None = None
    """Host, host:port, or the folder of a socket; several with commas are tried in turn."""

    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """The port of every host; 5432 if neither this nor the host says."""

    user: str | None = None
    """The role to connect as."""

    password: SecretStr | None = None
    """Its password; better given by `MEMCORE_POSTGRES_PASSWORD` or a `passfile` than in a URL."""

    database: str | None = None
    """The database; the one named like the role if left out. It must exist."""

    passfile: str | None = None
    """The file with passwords, as `~/.pgpass`."""

    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] | None = None
    """How TLS is used; only `verify-full` proves whom one talks to. The driver's default is `prefer`."""

    sslrootcert: str | None = None
    """The file of the authority that the server's certificate is checked with."""

    sslcert: str | None = None
    """The file of this client's certificate."""

    sslkey: str | None = None
    """The file of this client's key."""

    target_session_attrs: Literal["any", "primary", "standby", "prefer-standby", "read-write", "read-only"] | None = (
        None
    )
    """Which of several hosts to take: `primary` follows a failover. The driver's default is `any`."""

    application_name: str = "memcore"
    """What the server's activity view and log call this client."""

    db_schema: Annotated[str, Field(alias="schema"), AfterValidator(_check_schema)] = "memcore"
    """The schema that holds the tables, of its own so that nobody else's names are touched; made on first open.

    Every statement names it: the search path means nothing here, so that a pooler may hand any connection to anybody.
    """

    min_size: int = Field(default=0, ge=0, le=1000)
    """Connections that are kept however long nothing happens: none, since an agent may be silent for hours."""

    max_size: int = Field(default=8, ge=1, le=1000)
    """Connections at most. Waiting reads share a round trip and writes a commit, so that few carry many tasks, and ten
    processes stay below the hundred connections that a server allows by default."""

    connect_timeout: float = Field(default=10.0, gt=0, le=3600)
    """Seconds to make a connection, TLS and authentication included: a server that is there answers in one or two."""

    acquire_timeout: float = Field(default=30.0, gt=0, le=3600)
    """Seconds to wait for a connection while all are in use: as long as the slowest call may hold one."""

    command_timeout: float = Field(default=30.0, gt=0, le=86400)
    """Seconds for one statement; it is cancelled on the server. The slowest, ranking matches in a large store, takes
    tenths of a second, so that a wait this long means that the network or the server hangs. `purge` has no limit."""

    idle_lifetime: float = Field(default=240.0, gt=0, le=86400)
    """Seconds after which an unused connection is closed: below the 300 to 350 after which load balancers and
    firewalls drop one without a word."""

    statement_cache_size: int = Field(default=100, ge=0, le=10000)
    """Statements that the driver keeps prepared on each connection, which saves a round trip a call.

    0 behind a pooler in transaction mode that does not follow prepared statements (pgbouncer before 1.21, or with
    `max_prepared_statements = 0`).
    """

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        if self.min_size > self.max_size:
            msg = "min_size must not be above max_size"
            raise ValueError(msg)
        return self

    @classmethod
    def parse_url(cls, parts: SplitResult) -> dict[str, Any]:
        """Return what stands in `//user:password@host:port/database`; several hosts are separated by commas."""
        userinfo, _, hosts = parts.netloc.rpartition("@")
        user, _, password = userinfo.partition(":")
        found = {
            "user": unquote(user),
            "password": unquote(password),
            "host": unquote(hosts),
            "database": unquote(parts.path.removeprefix("/")),
        }
        return {name: text for name, text in found.items() if text}

    @property
    def dsn(self) -> str:
        """The URL for the driver, without the password, so that it may stand in a traceback."""
        given = {name: getattr(self, name) for name in _IN_DSN if getattr(self, name) is not None}
        return f"postgresql://?{urlencode(given)}" if given else "postgresql://"

    @property
    def place(self) -> str:
        """Where the data are, for messages: host, database and schema."""
        database = f"database {self.database!r}" if self.database else "the default database"
        return f"schema {self.db_schema!r} of {database} on {self.host or 'the default host'}"

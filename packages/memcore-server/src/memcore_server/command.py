"""`memcore serve URL`: run the memory service over any backend."""

from __future__ import annotations

import os
import socket
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import memcore
import typer
from memcore.errors import MemoryConfigurationError
from memcore.settings import mask_url

from memcore_server.limits import ServiceLimits
from memcore_server.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore.backend import Backend

TOKENS_VARIABLE: Final = "MEMCORE_SERVER_TOKENS"
_KEPT_ALIVE: Final = 75
"""Seconds that an idle connection is kept: longer than clients and proxies keep theirs, so that they close first."""
_LIMITS: Final = ServiceLimits()

app = typer.Typer(name="serve", add_completion=False, pretty_exceptions_enable=False)


@app.command()
def serve(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            envvar="MEMCORE_URL",
            help="The store to serve, such as sqlite:///memory.db.",
            show_envvar=False,
        ),
    ],
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8420,
    tokens: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"The JSON list of tokens; or the environment variable {TOKENS_VARIABLE}."),
    ] = None,
    request_bytes: Annotated[int, typer.Option(min=1024, help="Bytes of a request at most.")] = _LIMITS.request_bytes,
    request_seconds: Annotated[
        float, typer.Option(min=0.001, help="Seconds for a request at most.")
    ] = _LIMITS.request_seconds,
    requests: Annotated[int, typer.Option(min=1, help="Requests at once at most.")] = _LIMITS.requests,
    namespaces: Annotated[int, typer.Option(min=1, help="Namespaces in use at most.")] = _LIMITS.namespaces,
    grace: Annotated[
        int, typer.Option(min=1, help="Seconds that requests under way may take when the service is told to end.")
    ] = 30,
) -> None:
    """Serve a store to many machines over HTTP.

    Ends at SIGTERM or Ctrl-C: it finishes what is under way, and closes the store. TLS is the matter of a proxy before
    it.
    """
    limits = ServiceLimits(
        request_bytes=request_bytes, request_seconds=request_seconds, requests=requests, namespaces=namespaces
    )
    known = _read_tokens(tokens)
    if known is None and not _is_loopback(host):
        raise MemoryConfigurationError(
            f"without tokens only this machine may ask: give --tokens or {TOKENS_VARIABLE}, or listen on 127.0.0.1"
        )

    def connect(namespace: str) -> Backend:
        return memcore.connect(url, namespace=namespace)

    for namespace in known.namespaces if known else ["default"]:
        connect(namespace)  # a wrong URL, setting or name is told at once
    with _listen(host, port) as listener:
        place = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        warning = "; WARNING: no tokens: every program on this machine may read, change and erase everything"
        _tell(f"serving {mask_url(url)} at {place}" + ("" if known else warning))
        _run(connect, known, limits, listener, grace)


def _run(
    connect: Callable[[str], Backend],
    tokens: Tokens | None,
    limits: ServiceLimits,
    listener: socket.socket,
    grace: int,
) -> None:
    import uvicorn  # noqa: PLC0415 - loaded only where something is served

    from memcore_server import access_log  # noqa: PLC0415
    from memcore_server.app import create_app  # noqa: PLC0415

    access_log.to_stdout()
    config = uvicorn.Config(
        create_app(connect, tokens=tokens, limits=limits),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_KEPT_ALIVE,
        timeout_graceful_shutdown=grace,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _read_tokens(path: Path | None) -> Tokens | None:
    if path is not None:
        return Tokens.read(path.read_text(encoding="utf-8"), source=str(path))
    text = os.environ.get(TOKENS_VARIABLE)
    return Tokens.read(text, source=TOKENS_VARIABLE) if text else None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small writes at once only where the protocol is named; else an answer waits 40 ms for the client
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise MemoryConfigurationError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return listener


def _tell(text: str) -> None:
    sys.stderr.write(f"memcore: {text}\n")
    sys.stderr.flush()

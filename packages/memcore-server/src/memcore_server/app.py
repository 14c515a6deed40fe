"""The memory service as an ASGI application."""

from __future__ import annotations

from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from memcore_server import access_log, record_routes, routes
from memcore_server.backends import Backends
from memcore_server.calls import DEFAULT_NAMESPACE
from memcore_server.faults import Refused
from memcore_server.gate import Gate
from memcore_server.limits import ServiceLimits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import NoReturn

    from memcore.backend import Backend
    from memcore_http.wire_errors import ErrorCode
    from starlette.requests import Request

    from memcore_server.tokens import Tokens

_BY_STATUS: Final[dict[int, ErrorCode]] = {404: "no_such_route", 405: "no_such_method"}


def create_app(
    connect: Callable[[str], Backend],
    *,
    tokens: Tokens | None = None,
    limits: ServiceLimits | None = None,
    log: Callable[[dict[str, Any]], None] = access_log.write,
) -> FastAPI:
    """Return the application that serves what `connect` makes.

    Args:
        connect: makes a backend, not yet open, for a namespace.
        tokens: who may ask; without any, whoever asks for a local name (`localhost`, `127.0.0.1`).
        limits: bounds on requests.
        log: takes one line of the access log for each request.
    """
    bounds = limits or ServiceLimits()
    backends = Backends(connect, bounds)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await backends.close()

    app = FastAPI(
        title="memcore memory service",
        version=version("memcore-server"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        exception_handlers={RequestValidationError: _refuse_invalid, HTTPException: _refuse_unknown},
    )
    app.state.backends = backends
    app.state.probed = tokens.namespaces[0] if tokens else DEFAULT_NAMESPACE
    app.add_middleware(Gate, tokens=tokens, limits=bounds, log=log)
    for router in (routes.probes, routes.router, record_routes.router):
        app.include_router(router)
    return app


async def _refuse_invalid(_request: Request, error: Exception) -> NoReturn:
    """Tell where a request is wrong, and nothing of what it holds."""
    faults = error.errors() if isinstance(error, RequestValidationError) else ()
    places = sorted({".".join(map(str, fault["loc"])) for fault in faults})
    raise Refused("invalid_request", f"the request is not what the protocol says: {', '.join(places)}") from error


async def _refuse_unknown(_request: Request, error: Exception) -> NoReturn:
    """Tell that there is no such route, or no such method, or that the body is no JSON."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for no other
    raise Refused(
        _BY_STATUS.get(error.status_code, "invalid_request"), allow=(error.headers or {}).get("Allow")
    ) from error

"""The OpenAPI document says what the service does: requests made from it get answers that are in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from memcore_http import wire, wire_records
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Process, Service

ROUTES = 25
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
"""Not those that take what the document allows for what is accepted: it cannot say what a payload holds."""


def test_every_route_answers_as_the_document_says(serve: Callable[..., Process]) -> None:
    """Over a real service: a backend belongs to one event loop, and each request made in process has its own."""
    document = schemathesis.openapi.from_url(serve("memory://", "--namespaces", "100000").url + "/openapi.json")
    operations = [operation.ok() for operation in document.get_all_operations()]
    for operation in operations:
        _try(operation)
    assert len(operations) == ROUTES


async def test_the_document_has_every_route_of_the_protocol(service: Service) -> None:
    document = (await service.request("GET", "/openapi.json")).json()
    constants = [*vars(wire).values(), *vars(wire_records).values()]
    routes = {(route.method, route.path) for route in constants if isinstance(route, wire.Route)}
    documented = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert documented == routes | {("GET", "/health"), ("GET", "/ready")}


async def test_the_document_describes_every_error_as_the_typed_body(service: Service) -> None:
    document = (await service.request("GET", "/openapi.json")).json()
    for path, methods in document["paths"].items():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if status != "200":
                    assert "ErrorBody" in json.dumps(response["content"]), (path, status)


def _try(operation: Any) -> None:
    @given(case=operation.as_strategy())
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def try_case(case: Any) -> None:
        case.call_and_validate(checks=CHECKS)

    try_case()

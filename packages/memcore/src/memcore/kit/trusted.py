"""Models made of parts that were checked when they came in: several times as fast as validating them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")


def build(model: type[M], fields: dict[str, Any]) -> M:
    """Return a model that has these fields, all that it has by name, as they are; the dictionary becomes its own."""
    made = model.__new__(model)
    set_attribute = object.__setattr__
    set_attribute(made, "__dict__", fields)
    set_attribute(made, "__pydantic_fields_set__", set(fields))
    set_attribute(made, "__pydantic_extra__", None)
    set_attribute(made, "__pydantic_private__", None)
    return made

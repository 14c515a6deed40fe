"""Who may ask: bearer tokens, each bound to one namespace and to reading or writing.

They stand in a JSON list, in a file or in `MEMCORE_SERVER_TOKENS`:

    [{"token": "…", "namespace": "team-a", "access": "write"},
     {"sha256": "…", "namespace": "team-a", "access": "read"}]

`sha256` is the digest of a token in hexadecimal, so that the list holds no secret.
"""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest
from typing import Annotated, Final, Literal, Self

from memcore.errors import MemoryConfigurationError
from pydantic import BaseModel, Field, SecretStr, TypeAdapter, ValidationError, model_validator

_SCHEME: Final = "bearer "


class Token(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True):
    """One token: itself or its digest, and what it allows."""

    token: Annotated[SecretStr, Field(min_length=16, max_length=4096)] | None = None
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    namespace: str = Field(min_length=1, max_length=200)
    access: Literal["read", "write"]

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.token is None) == (self.sha256 is None):
            raise ValueError("either token or sha256 is needed")
        return self

    @property
    def digest(self) -> str:
        """The digest that a presented token must have."""
        return self.sha256 or _digest(self.token.get_secret_value() if self.token else "")


class Tokens:
    """Every token of a service."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = {token.digest: token for token in tokens}

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """Return the tokens of a JSON list.

        Raises:
            MemoryConfigurationError: it is none, it is empty, or two entries are of one token; no value is shown.
        """
        try:
            tokens = TypeAdapter(list[Token]).validate_json(text)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False, include_context=False)
            texts = [f"{'.'.join(map(str, fault['loc'])) or 'list'}: {fault['msg']}" for fault in faults]
            problem = "; ".join(texts)
        else:
            found = cls(tokens)
            if tokens and len(found) == len(tokens):
                return found
            problem = "a token stands twice" if tokens else "the list is empty"
        raise MemoryConfigurationError(f"bad tokens in {source}: {problem}")

    def find(self, authorization: str | None) -> Token | None:
        """Return the token that an `Authorization` header presents, in the same time whichever it is."""
        if authorization is None or not authorization.lower().startswith(_SCHEME):
            return None
        presented = _digest(authorization[len(_SCHEME) :].strip())
        found = None
        for digest, token in self._tokens.items():
            if compare_digest(digest, presented):
                found = token
        return found

    @property
    def namespaces(self) -> list[str]:
        """The namespaces of the tokens, each once, in order."""
        return list(dict.fromkeys(token.namespace for token in self._tokens.values()))

    def __len__(self) -> int:
        return len(self._tokens)


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()

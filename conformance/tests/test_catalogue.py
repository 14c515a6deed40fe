from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from memcore_conformance import cases as rooms
from memcore_conformance.catalogue import Catalogue, case, catalogue

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


def _room(name: str, **parts: object) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(parts)
    return module


async def _something(_trial: Trial) -> None:
    """Something holds."""


def test_a_case_is_titled_by_its_docstring_and_proves_the_clause_of_its_id() -> None:
    made = case("I-43b")(_something)
    assert (made.title, made.clause) == ("Something holds", "I-43")


@pytest.mark.parametrize("bad", ["I-43", "43a", "I-4a", "I-43A", ""])
def test_an_id_is_a_clause_and_a_letter(bad: str) -> None:
    with pytest.raises(ValueError, match="an id such as"):
        case(bad)


def test_an_unknown_claim_or_faculty_is_an_error() -> None:
    with pytest.raises(ValueError, match="claims of"):
        case("I-43a", claims=("itmes",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs of"):
        case("I-43a", needs=("telepathy",))  # type: ignore[arg-type]


def test_a_case_without_a_sentence_is_an_error() -> None:
    async def nameless(_trial: Trial) -> None: ...

    with pytest.raises(ValueError, match="is its title"):
        case("I-43a")(nameless)


def test_two_cases_of_one_id_are_an_error() -> None:
    first, second = case("I-43a")(_something), case("I-43a")(_something)
    with pytest.raises(ValueError, match="share an id: I-43a"):
        Catalogue([_room("one", part=first), _room("two", part=second)])


def test_every_case_that_is_written_is_in_the_catalogue() -> None:
    source = "".join(file.read_text() for file in Path(str(rooms.__path__[0])).glob("*.py"))
    assert source.count("@case(") == len(catalogue())


def test_the_digest_follows_the_declaration_of_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect, "getsource", lambda module: module.__name__)
    made = [
        Catalogue([_room("one", part=part)]).digest
        for part in (case("I-43a")(_something), case("I-43a", level="should")(_something), case("I-43b")(_something))
    ]
    assert len(set(made)) == 3


def test_the_digest_follows_the_source_of_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for source in ("expect.equal(1, 1)", "pass"):
        monkeypatch.setattr(inspect, "getsource", lambda _module, source=source: source)
        made.append(Catalogue([_room("one", part=case("I-43a")(_something))]).digest)
    assert made[0] != made[1]

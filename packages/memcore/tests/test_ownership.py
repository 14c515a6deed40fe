"""Who owns which store (O-01 to O-09)."""

from __future__ import annotations

import pytest
from memcore import InMemoryStore, MemoryItem, MemoryQuery
from memcore.ownership import Branch, Session


def test_a_branch_makes_one_store_at_its_first_access_and_keeps_it() -> None:  # O-01
    branch = Branch()

    assert isinstance(branch.memory, InMemoryStore)
    assert branch.memory is branch.memory
    assert branch.memory is not Branch().memory


def test_a_session_makes_one_store_at_its_first_access_and_keeps_it() -> None:  # O-02
    session = Session()

    assert isinstance(session.memory, InMemoryStore)
    assert session.memory is session.memory
    assert session.memory is not Session().memory


def test_a_session_without_branches_shares_its_store_with_one_default_branch() -> None:  # O-03
    session = Session()
    (branch,) = session.branches

    assert branch.memory is session.memory
    assert branch.session is session


def test_an_explicit_store_of_a_session_reaches_the_branches_without_one() -> None:  # O-04
    explicit, own = InMemoryStore(), InMemoryStore()
    fresh, private = Branch(), Branch(memory=own)
    session = Session([fresh, private], memory=explicit)

    assert session.memory is explicit
    assert fresh.memory is explicit
    assert private.memory is own


def test_an_explicit_store_of_a_session_reaches_its_default_branch() -> None:  # O-04
    explicit = InMemoryStore()
    (branch,) = Session(memory=explicit).branches

    assert branch.memory is explicit


def test_a_branch_of_another_session_fails_the_whole_batch() -> None:  # O-05
    owner, taker = Session(), Session()
    free = Branch()

    with pytest.raises(ValueError, match="belongs to another session"):
        taker.include_branches([free, *owner.branches])

    assert free.session is None
    assert free not in taker.branches
    assert free.memory is not taker.memory
    assert owner.branches[0].session is owner


def test_a_new_session_with_a_branch_of_another_claims_none() -> None:  # O-05
    free, owned = Branch(), Session().branches[0]

    with pytest.raises(ValueError, match="belongs to another session"):
        Session([free, owned])

    assert free.session is None


def test_the_first_claim_on_a_branch_wins() -> None:  # O-06
    branch = Branch()
    first, second = Session([branch]), Session()
    first.remove_branch(branch)
    second.include_branches(branch)

    assert branch.session is second
    assert branch.memory is first.memory
    assert branch.memory is not second.memory


def test_a_branch_that_made_its_own_store_keeps_it() -> None:  # O-06
    branch = Branch()
    own = branch.memory
    session = Session([branch])

    assert branch.memory is own
    assert session.memory is not own


def test_a_branch_is_included_once_however_often_it_is_given() -> None:
    session = Session()
    branch = Branch()
    session.include_branches([branch, branch])
    session.include_branches(branch)

    assert session.branches.count(branch) == 1


def test_branches_come_in_the_order_of_their_inclusion_from_any_iterable() -> None:
    branches = [Branch() for _ in range(3)]
    session = Session(iter(branches))

    assert session.branches == tuple(branches)


def test_a_removed_branch_keeps_its_store_and_can_be_claimed_again() -> None:  # O-07
    session = Session()
    (branch,) = session.branches
    session.remove_branch(branch)

    assert branch.memory is session.memory
    assert branch.session is None
    assert session.branches == ()
    assert Session([branch]).branches == (branch,)


def test_only_a_branch_of_the_session_can_be_removed() -> None:
    stranger = Session().branches[0]

    with pytest.raises(ValueError, match="not of this session"):
        Session().remove_branch(stranger)
    assert stranger.session is not None


@pytest.mark.parametrize("owner", [Branch(), Session()])
def test_the_store_cannot_be_assigned(owner: Branch | Session) -> None:  # O-08
    with pytest.raises(AttributeError):
        owner.memory = InMemoryStore()  # type: ignore[misc]


async def test_a_shared_store_is_shared_and_a_private_one_private() -> None:  # O-09
    shared, private = Branch(), Branch(memory=InMemoryStore())
    session = Session([shared, private])
    await shared.memory.store(MemoryItem(content="told"))

    assert len(await session.memory.search(MemoryQuery())) == 1
    assert await private.memory.search(MemoryQuery()) == []


async def test_nothing_is_stored_or_searched_by_itself() -> None:  # O-09
    class Watched(InMemoryStore):
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(name)

    branch = Branch(memory=Watched())
    session = Session([branch], memory=Watched())
    session.remove_branch(branch)
    session.include_branches(branch)

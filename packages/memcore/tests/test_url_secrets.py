from __future__ import annotations

import memcore
import pytest
from memcore.errors import MemoryConfigurationError
from memcore.settings import mask_url, url_secrets

SECRET = "s3cr3t-PASS"
URLS = [
    f"postgresql://bob:{SECRET}@db.internal/x",
    f"postgresql://bob:{SECRET}/with?odd#signs@db.internal/x",
    f"bob:{SECRET}@db.internal/x",
    f"https://memory.internal/?api_key={SECRET}",
    f"https://memory.internal/?a=1&Auth%54oken={SECRET}&b=2",
]


@pytest.mark.parametrize("url", URLS)
def test_a_masked_url_shows_no_password_and_no_secret_of_its_query(url: str) -> None:
    assert SECRET not in mask_url(url)


@pytest.mark.parametrize("url", URLS)
def test_the_secrets_of_a_url_can_be_listed_to_find_them_in_other_text(url: str) -> None:
    assert any(SECRET in secret for secret in url_secrets(url))


def test_a_secret_is_listed_as_written_and_as_it_reads() -> None:
    assert url_secrets("postgresql://bob:p%40ss@db/x") == ["p%40ss", "p@ss"]


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///memory.db",
        "sqlite:////var/a@b.db",
        "sqlite:///C:/memory.db",
        "http://host:80/path",
        "memory://?namespace=a",
    ],
)
def test_a_url_without_a_secret_is_shown_as_it_is(url: str) -> None:
    assert (mask_url(url), url_secrets(url)) == (url, [])


@pytest.mark.parametrize("url", [f"memory://bob:{SECRET}@[x/", f"memory://?limits={SECRET}", f"bob:{SECRET}@db"])
def test_neither_the_error_of_a_wrong_url_nor_its_causes_show_a_secret(url: str) -> None:
    with pytest.raises(MemoryConfigurationError) as caught:
        memcore.connect(url)

    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__

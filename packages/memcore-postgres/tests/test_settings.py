"""Where to connect and how long to wait, from URL, keywords and environment."""

from __future__ import annotations

import pytest
from memcore import MemoryConfigurationError
from memcore_postgres.settings import PostgresSettings

SECRET = "s3cr3t/pass@word"
QUOTED = "s3cr3t%2Fpass%40word"


def resolve(url: str, environ: dict[str, str] | None = None, **keywords: object) -> PostgresSettings:
    return PostgresSettings.resolve(url, keywords, prefix="MEMCORE_POSTGRES_", environ=environ or {})


def test_a_url_says_role_password_host_and_database() -> None:
    settings = resolve(f"postgresql://ada:{QUOTED}@db.internal:6432/my%20memory")
    assert settings.password is not None
    assert (settings.user, settings.password.get_secret_value()) == ("ada", SECRET)
    assert (settings.host, settings.database) == ("db.internal:6432", "my memory")


def test_what_a_url_leaves_out_is_left_to_the_driver() -> None:
    assert resolve("postgresql://").dsn == "postgresql://"


def test_several_hosts_may_be_named() -> None:
    settings = resolve("postgresql://one:5433,[::1]:5434/db?target_session_attrs=primary")
    assert "host=one%3A5433%2C%5B%3A%3A1%5D%3A5434" in settings.dsn


def test_parameters_of_the_driver_are_kept() -> None:
    dsn = resolve("postgresql:///db?host=/run/postgresql&sslmode=verify-full&sslrootcert=/etc/ca.pem").dsn
    assert dsn == ("postgresql://?host=%2Frun%2Fpostgresql&database=db&sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem")


def test_our_own_settings_stay_out_of_the_driver_s_url() -> None:
    assert resolve("postgresql://h/db?schema=tenant_a&namespace=n&max_size=3").dsn == "postgresql://?host=h&database=db"


def test_the_schema_is_called_memcore_unless_named() -> None:
    assert resolve("postgresql://h/db").db_schema == "memcore"
    assert resolve("postgresql://h/db?schema=tenant_a").db_schema == "tenant_a"


def test_the_environment_gives_what_a_url_should_not_hold() -> None:
    settings = resolve("postgresql://ada@h/db", {"MEMCORE_POSTGRES_PASSWORD": SECRET})
    assert settings.password is not None
    assert settings.password.get_secret_value() == SECRET


def test_a_keyword_outranks_the_url_and_the_url_the_environment() -> None:
    environ = {"MEMCORE_POSTGRES_MAX_SIZE": "2", "MEMCORE_POSTGRES_SCHEMA": "env"}
    settings = resolve("postgresql://h/db?max_size=3&schema=url", environ, max_size=4)
    assert (settings.max_size, settings.db_schema) == (4, "url")


@pytest.mark.parametrize("schema", ["", "pg_mine", "information_schema", 'a"b', "a b", "1st", "a" * 64, "é"])
def test_a_schema_that_is_no_plain_name_is_refused(schema: str) -> None:
    with pytest.raises(MemoryConfigurationError, match="bad setting: schema"):
        resolve("postgresql://h/db", schema=schema)


def test_a_password_may_hold_an_at_sign() -> None:
    settings = resolve("postgresql://ada:pa@ss@h/db")
    assert settings.password is not None
    assert (settings.password.get_secret_value(), settings.host) == ("pa@ss", "h")


@pytest.mark.parametrize("url", ["postgresql://ada:qqq/zzz@h/db", "postgresql://h:qqqzzz/db", "postgresql://a b/db"])
def test_a_host_that_is_none_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(MemoryConfigurationError, match="bad setting: host") as caught:
        resolve(url)
    assert "zzz" not in str(caught.value)
    assert "qqq" not in str(caught.value)


def test_an_unknown_parameter_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(MemoryConfigurationError, match=r"unknown setting 'poolsize'.*max_size.*schema"):
        resolve("postgresql://h/db?poolsize=3")


def test_a_pool_that_is_smaller_than_its_least_size_is_refused() -> None:
    with pytest.raises(MemoryConfigurationError, match="min_size must not be above max_size"):
        resolve("postgresql://h/db?min_size=5&max_size=4")


def test_size_limits_are_taken_as_json() -> None:
    assert resolve('postgresql://h/db?limits={"batch":7}').limits.batch == 7


@pytest.mark.parametrize("show", [repr, str, lambda settings: settings.dsn, lambda settings: settings.place])
def test_the_password_is_shown_nowhere(show: object) -> None:
    settings = resolve(f"postgresql://ada:{QUOTED}@h/db")
    assert callable(show)
    assert "s3cr3t" not in show(settings)

"""Settings: what is wrong with them is said by name, and no value is shown (B-01)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import MemoryConfigurationError

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


@case("B-01b", claims=("backend",))
async def the_accepted_settings_are_named(trial: Trial) -> None:
    """An error about a setting names those that are accepted, such as `namespace`."""
    with expect.raises(MemoryConfigurationError, where=_names_namespace, what="naming what is accepted"):
        await trial.make_backend(no_such_setting=1)


@case("B-01c", claims=("backend",))
async def a_bad_value_is_an_error_that_names_its_setting(trial: Trial) -> None:
    """A value that a setting cannot have is refused when the backend is made, by the name of the setting."""
    for value in (7, None, ""):
        with expect.raises(MemoryConfigurationError, where=_names_namespace, what="naming the setting"):
            await trial.make_backend(namespace=value)


@case("B-01d", claims=("backend",))
async def a_refused_value_is_not_shown(trial: Trial) -> None:
    """An error about settings shows no value: it may be a secret."""
    for settings in ({"no_such_setting": "hunter2"}, {"namespace": ["hunter2"]}):
        with expect.raises(MemoryConfigurationError, where=_shows_nothing, what="without the value"):
            await trial.make_backend(**settings)


def _names_namespace(error: Exception) -> bool:
    return "namespace" in str(error)


def _shows_nothing(error: BaseException) -> bool:
    chain = [str(error), str(error.__cause__ or ""), "" if error.__suppress_context__ else str(error.__context__ or "")]
    return "hunter2" not in "".join(chain)

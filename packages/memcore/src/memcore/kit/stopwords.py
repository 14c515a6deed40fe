"""English words that say how a question is asked, not what about: left out of queries, never out of the index.

What also names something is not here: May, Will, the US, vitamin D.
"""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final = frozenset(
    (  # noqa: SIM905 - a list of literals would fill a page
        "what which who whom whose when where why how "
        "am is are was were be been being have has had having do does did doing can could would shall should "
        "i me my we our you your he him his she her it its they them their this that these those "
        "a an the and or but if of to in on at by for with from as into about than then so "
        "s t ll re ve"  # what an apostrophe leaves: "what's", "don't", "we'll"
    ).split()
)

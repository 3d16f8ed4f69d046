"""The scenarios, by subject. Each module has a list, `SCENARIOS`; this one puts them together.

They tell anew, in steps of our own, what FDB's documentation of its programs, its regression tests and questions of
its users are about.
"""

from __future__ import annotations

from scenario import Scenario

from . import configured, copying, finding, language, looking, overlaying, reading, removing, writing

SCENARIOS: list[Scenario] = [
    *writing.SCENARIOS,
    *finding.SCENARIOS,
    *reading.SCENARIOS,
    *removing.SCENARIOS,
    *looking.SCENARIOS,
    *copying.SCENARIOS,
    *overlaying.SCENARIOS,
    *configured.SCENARIOS,
    *language.SCENARIOS,
]

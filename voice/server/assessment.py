"""The assessment of a conversation as it goes over the wire: always whole, to be replaced and never merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voice.server.engine import State
from voice.server.flow import Evidence
from voice.wire.assumptions import Assumptions
from voice.wire.spellings import ASSUMED


def assessment(given: Mapping[str, Any], state: State, assumed: Assumptions) -> dict[str, Any]:
    """All seven fields. `given` is the client's input on creation, its evidence marked as seeded."""
    recommendation = None if state.recommendation is None else _spelled(state.recommendation, assumed)
    return {
        "age": given.get("age"),
        "sex": given.get("sex"),
        "relationship": given.get("relationship"),
        "evidence": [*given.get("evidence", ()), *(_evidence(entry, assumed) for entry in state.evidence)],
        "unmatched_evidence": [{assumed["evidence.name"]: text, "state": "present"} for text in state.unmatched],
        "conditions": [] if recommendation is None else recommendation.get("conditions", []),
        "recommendation": recommendation,
    }


def _evidence(entry: Evidence, assumed: Assumptions) -> dict[str, Any]:
    return {
        assumed["evidence.id"]: entry.id,
        assumed["evidence.name"]: entry.name,
        assumed["evidence.common_name"]: entry.name,
        "state": entry.state,
        "origin": entry.origin,
    }


def _spelled(recommendation: Mapping[str, Any], assumed: Assumptions) -> dict[str, Any]:
    """A flow's recommendation under the keys that go over the wire."""
    names = {key: f"recommendation.{key}" for key in recommendation}
    return {(assumed[names[key]] if names[key] in ASSUMED else key): value for key, value in recommendation.items()}

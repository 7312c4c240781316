"""From a configuration to the first words to the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from voice.app.demo import DemoOptions
from voice.app.link import conversation_input, make_link, url_of
from voice.config import Config, ConfigError, load
from voice.server.inputs import ConversationInput
from voice.wire.ces_link import CesLink


def told(folder: Path, server: str) -> dict[str, Any]:
    file = folder / "my.toml"
    file.write_text(f"[server]\n{server}", encoding="utf-8")
    found = conversation_input(load(file))
    ConversationInput.model_validate(found)
    return found


def test_what_is_not_configured_is_left_to_the_server() -> None:
    """A null where the server has a default of its own may be refused, or taken for a choice."""
    assert conversation_input(Config()) == {
        "settings": {
            "language": "en",
            "channel": "voice",
            "ui_widgets_enabled": True,
            "opening_message_enabled": True,
            "handoff_policies": [],
        },
        "assessment": {"evidence": []},
    }


def test_everything_that_is_configured_is_told(tmp_path: Path) -> None:
    """A nurse has entered it once; the patient would be asked again."""
    found = told(
        tmp_path,
        """
        language = "pl"
        channel = "text"
        widgets = false
        risk_factors_enabled = false
        geographic_risk_factors_enabled = true
        handoff_policies = ["stop_intent_handoff", "pre_triage_handoff"]
        age = 0
        age_unit = "month"
        sex = "female"
        relationship = "child"
        evidence = [{ id = "s_98", state = "present" }, { id = "p_8", state = "absent" }]
        """,
    )
    assert found == {
        "settings": {
            "language": "pl",
            "channel": "text",
            "ui_widgets_enabled": False,
            "opening_message_enabled": True,
            "risk_factors_enabled": False,
            "geographic_risk_factors_enabled": True,
            "handoff_policies": ["stop_intent_handoff", "pre_triage_handoff"],
        },
        "assessment": {
            "age": {"value": 0, "unit": "month"},
            "sex": "female",
            "relationship": "child",
            "evidence": [{"id": "s_98", "state": "present"}, {"id": "p_8", "state": "absent"}],
        },
    }


@pytest.mark.parametrize("screen", ["true", "false", "'auto'"])
def test_widgets_are_asked_for_with_a_screen_and_without(tmp_path: Path, screen: str) -> None:
    """The answers that a question offers are what makes a short answer understood; cards are read out."""
    assert told(tmp_path, f"screen = {screen}")["settings"]["ui_widgets_enabled"] is True


APP = "projects/p/locations/eu/apps/shop"


def ces_of(folder: Path, ces: str, server: str = "") -> Config:
    file = folder / "my.toml"
    file.write_text(f'[server]\nbackend = "ces"\n{server}\n[ces]\n{ces}', encoding="utf-8")
    return load(file)


def test_a_conversation_with_google_needs_its_application(tmp_path: Path) -> None:
    """The operator reads what is missing, and how it is written."""
    with pytest.raises(ConfigError, match="needs app in"):
        ces_of(tmp_path, "")
    with pytest.raises(ConfigError, match=r"ces\.app: an application looks like projects/"):
        ces_of(tmp_path, 'app = "shop"')


def test_the_place_of_the_application_is_in_the_address(tmp_path: Path) -> None:
    """Data of European patients goes to the European server and to no other."""
    config = ces_of(tmp_path, f'app = "{APP}"')
    assert url_of(config).startswith("wss://ces.googleapis.com/")
    assert url_of(config).endswith("/BidiRunSession/locations/eu")
    assert url_of(ces_of(tmp_path, f'app = "{APP}"', 'url = "wss://here"')) == "wss://here"
    assert url_of(Config()) == "ws://127.0.0.1:8765/api/ct/v2/realtime"


async def test_parts_of_the_application_are_named_by_their_ids_or_in_full(tmp_path: Path) -> None:
    """What the console shows can be pasted either way."""
    config = ces_of(tmp_path, f'app = "{APP}"\ndeployment = "d"\nentry_agent = "{APP}/agents/a"')
    assert config.ces.named("deployments", config.ces.deployment) == f"{APP}/deployments/d"
    assert config.ces.named("agents", config.ces.entry_agent) == f"{APP}/agents/a"
    assert config.ces.named("agents", "") == ""
    assert isinstance(make_link(config, lambda event: None), CesLink)


@pytest.mark.parametrize(
    ("ces", "words"),
    [
        ("variables = { since = 2026-01-01 }", "ces.variables: a date"),
        ("variables = { level = nan }", "ces.variables: a date, a time or a number"),
        ('quota_project = "p\\nAuthorization: x"', "ces.quota_project: "),
    ],
)
def test_what_cannot_go_out_is_refused_when_the_file_is_read(tmp_path: Path, ces: str, words: str) -> None:
    """Not by an error in the middle of the first conversation."""
    with pytest.raises(ConfigError, match=words):
        ces_of(tmp_path, f'app = "{APP}"\n{ces}')


def test_a_demo_over_another_protocol_keeps_the_rest_of_the_configuration(tmp_path: Path) -> None:
    """A designer tries the tools that the kiosk will have."""
    file = tmp_path / "my.toml"
    file.write_text('[voice]\nwpm = 200\n[ces.tools.a]\ncommand = ["x"]\n[ces.tools.a.schema]\ntype = "object"\n')
    config = DemoOptions(config=load(file)).speaking("ces").config
    assert (config.server.backend, config.voice.wpm) == ("ces", 200)
    assert config.ces.tools["a"].arguments == {"type": "object"}
    assert config.ces.app

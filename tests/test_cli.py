"""The command line as an operator meets it: one line for every mistake, an exit code that says which kind it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from voice.cli import INTERRUPTED
from voice.commands.app import app
from voice.commands.errors import FAULT, WRONG_INPUT, explain, fault

COMMANDS = ["demo", "talk", "serve", "say", "wire", "devices", "doctor", "models", "bench"]


def voice(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the program without any sound card."""
    away = {"PULSE_SERVER": "unix:/nonexistent", **env}
    return subprocess.run(
        [sys.executable, "-m", "voice.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **away},
    )


def voice_reads(given: bytes, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program with `given` on its standard input."""
    command = [sys.executable, "-m", "voice.cli", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, timeout=120)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_these_are_the_commands() -> None:
    """A command that is gone breaks somebody's script."""
    assert sorted(get_command(app).commands) == sorted(COMMANDS)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("models", "bench")])
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    """Whoever asks for help gets something to copy."""
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    assert f"Example: voice {name}" in command.help
    assert all(option.help or option.param_type_name == "argument" for option in command.params)


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["talk", "--nope"], "No such option: --nope; see "),
            (["tlak"], "No such command 'tlak'"),
            (["demo", "--seed", "x"], "--seed"),
            (["talk", "--config", "nowhere.toml"], "nowhere.toml: there is no such file"),
            (["demo", "--room", "--flow", "nowhere.toml"], "nowhere.toml"),
            (["models", "fetch", "klingon"], 'no model is called "klingon"'),
            (["talk"], "microphone"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_a_mistake_is_one_line(self, arguments: list[str], says: str, tmp_path: Path) -> None:
        """An operator reads what is wrong and what to do, not a traceback."""
        done = voice(*arguments, VOICE_MODELS=str(tmp_path))
        assert done.returncode == WRONG_INPUT
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("voice: ")
        assert says in done.stderr

    def test_a_fault_of_the_program_tells_its_place_and_no_message(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The message of an unexpected error may hold what a patient said."""
        with pytest.raises(KeyError) as caught:
            {}["I have a rash"]
        assert explain(caught.value) == FAULT
        line = fault(caught.value)
        told = capsys.readouterr().err
        assert told == f"voice: {line}\n"
        assert line.startswith("internal error: KeyError at ")
        assert "VOICE_DEBUG=1" in line
        assert "rash" not in told

    def test_a_fault_can_be_debugged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whoever asks for the traceback gets the error itself."""
        monkeypatch.setenv("VOICE_DEBUG", "1")
        with pytest.raises(KeyError):
            explain(KeyError("x"))


def test_what_would_be_said() -> None:
    """`say --dry-run --json` needs no sound card, and its clauses are the text, character for character."""
    text = "Dr. Lee will see you at 9:15 a.m. tomorrow. It costs $42.50."
    done = voice("say", text, "--dry-run", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["source"] == text
    assert "".join(text[clause["start"] : clause["end"]] for clause in told["clauses"]) == text


def test_the_models(tmp_path: Path) -> None:
    """An operator sees what there is to fetch without fetching it."""
    done = voice("models", "list", VOICE_MODELS=str(tmp_path))
    assert done.returncode == 0
    assert "pl" in done.stdout


def test_the_doctor_on_a_machine_without_a_sound_card() -> None:
    """The room is enough for a demo: it says what to mend, and that the rest works."""
    done = voice("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line[6:20].strip(): line[:4].strip() for line in done.stdout.splitlines()}
    assert lines["sound devices"] == "note"
    assert {lines[name] for name in ("Python", "voice", "voice activity", "recogniser")} == {"ok"}


def test_the_doctor_finds_what_is_missing(tmp_path: Path) -> None:
    """A machine that cannot listen is not declared fit."""
    config = tmp_path / "vosk.toml"
    config.write_text('[ears]\nengine = "vosk"\nmodel = "pl"\n')
    done = voice("doctor", "--config", str(config), VOICE_MODELS=str(tmp_path))
    assert done.returncode == FAULT
    [broken] = [line for line in done.stdout.splitlines() if line.startswith("MEND")]
    assert "recogniser" in broken
    assert "voice models fetch" in broken


CTRL_C_WHILE_LOADING = """
import sys

class Impatient:
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Impatient())
from voice.cli import main
main()
"""


def test_ctrl_c_is_quiet_while_the_program_loads() -> None:
    """Whoever sees at once that the command was wrong, and stops it, is not shown a traceback."""
    done = subprocess.run([sys.executable, "-c", CTRL_C_WHILE_LOADING], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "")


class TestStreams:
    def test_without_standard_streams_it_works_as_with_them(self, tmp_path: Path) -> None:
        """A service that is started with its streams closed could not listen: a library writes to what is not there."""
        told = tmp_path / "told"
        command = f'exec "{sys.executable}" -m voice.cli doctor <&- >&- 2>"{told}"'
        away = {**os.environ, "PULSE_SERVER": "unix:/nonexistent"}
        done = subprocess.run(["sh", "-c", command], timeout=120, env=away, check=False)
        assert (done.returncode, told.read_text()) == (0, "")

    def test_a_full_disk_is_told(self) -> None:
        """An operator reads what to mend instead of a place in the code."""
        with open("/dev/full", "w") as full:
            done = subprocess.run([sys.executable, "-m", "voice.cli", "serve", "--port", "0"], stdout=full, stderr=-1)
        assert done.returncode == WRONG_INPUT
        assert done.stderr == b"voice: no space is left on the disk; make room\n"

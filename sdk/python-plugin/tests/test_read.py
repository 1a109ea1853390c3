"""What JSON is read as, and what is said where it does not fit."""

import enum
import unittest
from dataclasses import dataclass, field
from typing import Any, Literal, Optional, Union

from assay_plugin import BadRequest, BadSettings, read, settings_as
from assay_plugin.testing import request


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Case:
    stdin: str
    weight: float = 1.0


@dataclass
class Settings:
    bonus: float = 0.5
    cases: list[Case] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.bonus < 0:
            raise ValueError("bonus must not be negative")


class Reading(unittest.TestCase):
    def check(self, text: str, hint: Any, expected: Any) -> None:
        found = read.text(text, hint, "label")
        self.assertEqual(found, expected)
        self.assertIs(type(found), type(expected))

    def refuse(self, text: str, hint: Any, message: str) -> None:
        with self.assertRaises(read.DoesNotFit) as caught:
            read.text(text, hint, "label")
        self.assertIn(message, str(caught.exception))

    def test_values_of_every_kind(self) -> None:
        self.check('"a"', str, "a")
        self.check("3", float, 3.0)
        self.check("3", int, 3)
        self.check("null", Optional[int], None)
        self.check("null", None, None)
        self.check("3", Union[str, int], 3)
        self.check("3", int | None, 3)
        self.check("[1, 2]", list[int], [1, 2])
        self.check('[1, "a"]', tuple[int, str], (1, "a"))
        self.check("[1, 2, 3]", tuple[int, ...], (1, 2, 3))
        self.check('{"a": 1}', dict[str, float], {"a": 1.0})
        self.check('{"a": [1]}', dict, {"a": [1]})
        self.check('"red"', Colour, Colour.RED)
        self.check('"a"', Literal["a", "b"], "a")
        self.check('{"stdin": "1"}', Case, Case("1", 1.0))
        self.check('{"cases": [{"stdin": "1", "weight": 2}]}', Settings, Settings(0.5, [Case("1", 2.0)]))

    def test_what_does_not_fit_is_named(self) -> None:
        self.refuse("3", str, "label: a string is expected, not 3")
        self.refuse("true", int, "label: an integer is expected, not true")
        self.refuse("1.5", int, "label: an integer is expected, not 1.5")
        self.refuse('"3"', float, 'label: a number is expected, not "3"')
        self.refuse("[1, true]", list[int], "label[1]: an integer is expected")
        self.refuse("[1]", tuple[int, int], "label: 2 items are expected, not 1")
        self.refuse('"green"', Colour, "label: \"green\" is none of 'red', 'blue'")
        self.refuse("1", Literal["1"], "label: 1 is none of '1'")
        self.refuse("{}", Case, "label: `stdin` is missing")
        self.refuse('{"stdin": "", "wait": 1}', Case, "label: there is no `wait`, but stdin, weight")
        self.refuse('{"cases": [{"stdin": 1}]}', Settings, "label.cases[0].stdin: a string is expected")
        self.refuse('{"bonus": -1}', Settings, "label: bonus must not be negative")
        self.refuse("[", list, "label: no JSON")
        self.refuse("true", Union[int, str], "an integer is expected, not true; or label: a string")

    def test_a_hint_that_is_none_is_the_author_s_fault(self) -> None:
        for hint in (complex, bytes, set[int]):
            with self.assertRaises(TypeError):
                read.schema(hint)

    def test_schemas(self) -> None:
        self.assertEqual(
            read.schema(Settings),
            {
                "type": "object",
                "properties": {
                    "bonus": {"type": "number", "default": 0.5},
                    "cases": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "stdin": {"type": "string"},
                                "weight": {"type": "number", "default": 1.0},
                            },
                            "additionalProperties": False,
                            "required": ["stdin"],
                        },
                    },
                },
                "additionalProperties": False,
            },
        )
        self.assertEqual(read.schema(Any), {})
        self.assertEqual(read.schema(Optional[str]), {"anyOf": [{"type": "string"}, {"type": "null"}]})
        self.assertEqual(read.schema(Colour), {"enum": ["red", "blue"]})

    def test_whose_fault_it_is(self) -> None:
        with self.assertRaises(BadRequest):
            request(label=3).label_as(str)
        with self.assertRaises(BadRequest):
            request(metadata=[]).metadata_as(dict)
        self.assertEqual(request(label=[1]).label_as(), [1])
        self.assertEqual(settings_as('{"bonus": 1}', Settings).bonus, 1.0)
        self.assertEqual(settings_as("{}"), {})
        for wrong in ('{"bonnus": 1}', "[1]", ""):
            with self.assertRaises(BadSettings):
                settings_as(wrong, Settings)


if __name__ == "__main__":
    unittest.main()

"""The same cases as the Rust SDK's."""

import unittest

from assay_plugin import response


class Thoughts(unittest.TestCase):
    def test_only_the_answer_is_left(self) -> None:
        for text, expected in (
            ("plain", "plain"),
            ("<think>a</think>b", "b"),
            ("the template opened it</think>b", "b"),
            ("<think>a</think>b<think>c</think>d", "d"),
            ("<thinking>a</thinking>\nb", "\nb"),
            (" <think>cut short", None),
            ("<think>a</think><think>cut short", None),
            ("the tag <think> is a word", "the tag <think> is a word"),
        ):
            self.assertEqual(response.answer(text), expected, text)


class Blocks(unittest.TestCase):
    def check(self, text: str, *expected: tuple[str, str, bool]) -> None:
        found = response.blocks(text, {"python", "cpp"})
        self.assertEqual([(block.name, block.content, block.closed) for block in found], list(expected), text)

    def test_reads_blocks_as_commonmark_does(self) -> None:
        self.check("no block")
        self.check("```python\na\n```", ("python", "a\n", True))
        self.check("~~~ cpp\na\n```\nb\n~~~", ("cpp", "a\n```\nb\n", True))
        self.check("````\n```\na\n```\n````", ("", "```\na\n```\n", True))
        self.check("```\na\n````", ("", "a\n", True))
        self.check("````python\na\n```", ("python", "a\n```\n", False))
        self.check("```python\r\na\r\n```\r\n", ("python", "a\n", True))
        self.check("``` a`b ```\n")
        self.check("``\na\n``")

    def test_names_are_the_first_word(self) -> None:
        for info in ("Python", 'python title="a"', "{.python}", "python:main.py", " python "):
            self.check(f"```{info}\na\n```", ("python", "a\n", True))

    def test_an_indented_block_loses_its_indent(self) -> None:
        self.check(
            "1. so\n   ```python\n   if a:\n       b\n\n   ```",
            ("python", "if a:\n    b\n\n", True),
        )
        self.check(
            "1. so\n\t```python\n\tif a:\n\t\tb\n    c\n\t```",
            ("python", "if a:\n\tb\nc\n", True),
        )

    def test_a_tag_beside_a_fence_is_no_part_of_the_block(self) -> None:
        for end in ("</answer>", "<|im_end|>", "</s>", " <eos>"):
            self.check(f"<answer>```python\na\n```{end}", ("python", "a\n", True))
            self.check(f"```python\na\n```{end}\nb", ("python", "a\n", True))
        self.check("a < b > ```python\nc\n```")
        self.check("<a<b>```python\nc\n```")

    def test_an_unclosed_block_ends_with_the_text_or_the_next_language(self) -> None:
        self.check("```python\na", ("python", "a\n", False))
        self.check("```python\na\n```cpp\nb\n```", ("python", "a\n", False), ("cpp", "b\n", True))
        self.check('```python\n"""\n```text\n"""\n```', ("python", '"""\n```text\n"""\n', True))

    def test_markdown_is_looked_into_and_blank_blocks_are_none(self) -> None:
        self.check("```markdown\n# so\n```python\na\n```\n```\n", ("python", "a\n", True))
        self.check("```\n\n```")


if __name__ == "__main__":
    unittest.main()

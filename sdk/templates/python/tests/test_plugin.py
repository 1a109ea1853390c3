"""Runs natively: `python3 -m unittest discover tests` after `pip install ./vendor/assay-plugin`, or with
`PYTHONPATH=.:vendor/assay-plugin/src`."""

import unittest

from assay_plugin import BadRequest, testing
from plugin import plugin


class Score(unittest.TestCase):
    def test_the_last_line_counts(self) -> None:
        scored = testing.run(plugin, testing.request(response="Let me see.\nParis", label="Paris"))
        self.assertEqual((scored.reward, scored.verdict), (1.0, "success"))

    def test_another_case_is_worth_the_bonus(self) -> None:
        asked = testing.request(response="paris", label="Paris")
        self.assertEqual(testing.run(plugin, asked).reward, 0.5)
        self.assertEqual(testing.run(plugin, asked, {"case_bonus": 0.25}).reward, 0.25)

    def test_without_a_label_there_is_no_reward(self) -> None:
        with self.assertRaises(BadRequest):
            testing.run(plugin, testing.request(response="Paris"))


if __name__ == "__main__":
    unittest.main()

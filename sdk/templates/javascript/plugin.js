// 1 when the last line of the response is the label, else 0; half of it where only the case is wrong.
//
// What stands at the top of a module runs once, as the plugin is built; each call starts from there.

import * as log from "assay:reward/log@0.1.0";
import { badRequest, badSettings, definePlugin, scored } from "./assay.js";

function score({ response, label, settings }) {
  if (typeof label !== "string") throw badRequest("the label must be a text");
  const { caseBonus = 0.5 } = settings;
  if (typeof caseBonus !== "number") throw badSettings("caseBonus must be a number");
  const answer = response.trim().split("\n").at(-1).trim();
  if (answer === "") return scored(0, "no_answer");
  log.write("info", `compared ${answer} with ${label}`);
  if (answer === label) return scored(1, "success");
  const explanation = `expected ${label}`;
  if (answer.toLowerCase() === label.toLowerCase()) return scored(caseBonus, "wrong_case", { explanation });
  return scored(0, "wrong", { explanation });
}

export const plugin = definePlugin({
  name: "__NAME__",
  version: "0.1.0",
  summary: "compares the last line with the label",
  stages: [{ name: "score", timeoutMs: 1_000, run: score }],
});

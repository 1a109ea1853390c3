import { expect, it } from "vitest";
import { answerIn } from "./answer";

function found(response: string, explanation?: string): string | undefined {
  const answer = answerIn(response, explanation);
  return answer && response.slice(answer.start, answer.end);
}

it("finds the content of the last box that is closed", () => {
  expect(found(String.raw`\boxed{1}, thus \boxed{\frac{1}{2}}.`)).toBe(String.raw`\frac{1}{2}`);
  expect(found(String.raw`\fbox{\{1\}}`)).toBe(String.raw`\{1\}`);
  expect(found(String.raw`\boxed{1} and \boxed{2`)).toBe("1");
  expect(found("no box")).toBeUndefined();
});

it("ignores boxes of a thought that something follows", () => {
  expect(found(String.raw`<think>\boxed{1}</think> \boxed{2}`)).toBe("2");
  expect(found(String.raw`<think>\boxed{1}</think> nothing`)).toBeUndefined();
  expect(found(String.raw`<think>\boxed{1}</think>  `)).toBe("1");
});

it("believes the explanation of the verifier", () => {
  const response = String.raw`\boxed{7}. Answer: 42. That is 42.`;
  expect(found(response, 'took `42` from the last "Answer:"; read as 42')).toBe("42");
  // The last place where it stands.
  expect(answerIn(response, 'took `42` from the last "Answer:"')?.start).toBe(31);
  expect(found(response, "took `7` from the last \\boxed; the label is 7")).toBe("7");
  expect(found(response, "took `elsewhere` from the last formula")).toBeUndefined();
});

it("looks at a bounded number of boxes and of characters in each", () => {
  expect(found("\\boxed{".repeat(100_000))).toBeUndefined();
});

// Checks the worker limits of a pool before they are sent.

/** Maximum of workers that a pool may have; see POOL_WORKERS_MAX of the server. */
export const WORKERS_MAX = 1024;

type Field = number | string;

/** The problem of each field; a field without one is absent. */
export function limitProblems(min: Field, max: Field): { min?: string; max?: string } {
  const problems: { min?: string; max?: string } = {};
  if (max === "") problems.max = "Enter a number.";
  else if (Number(max) > WORKERS_MAX) problems.max = `At most ${WORKERS_MAX}.`;
  if (min === "") problems.min = "Enter a number.";
  else if (max !== "" && Number(min) > Number(max)) {
    problems.min = `At most the max workers (${max}).`;
  }
  return problems;
}

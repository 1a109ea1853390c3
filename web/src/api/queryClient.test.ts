import { MutationObserver, onlineManager, QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { ProblemError } from "./client";
import { createQueryClient } from "./queryClient";

afterEach(() => onlineManager.setOnline(true));

const unreachable = async () => {
  throw new TypeError("Failed to fetch");
};

it("fails a change without a network at once, and does not make it later", async () => {
  onlineManager.setOnline(false);
  const mutationFn = vi.fn(unreachable);
  const queries = createQueryClient();
  const failed = new MutationObserver(queries, { mutationFn }).mutate();
  await expect(failed.catch((thrown) => ProblemError.from(thrown).code)).resolves.toBe(
    "unreachable",
  );
  onlineManager.setOnline(true);
  await queries.resumePausedMutations();
  expect(mutationFn).toHaveBeenCalledTimes(1);
});

it("fails a query without a network at once, and reads again with one", async () => {
  onlineManager.setOnline(false);
  const queryFn = vi.fn<() => Promise<string>>(unreachable);
  const queries = createQueryClient();
  queries.mount();
  const observer = new QueryObserver(queries, { queryKey: ["runs"], queryFn });
  const unsubscribe = observer.subscribe(() => undefined);
  await vi.waitFor(() => expect(observer.getCurrentResult().isError).toBe(true));
  expect(queryFn).toHaveBeenCalledTimes(1);
  queryFn.mockResolvedValue("runs");
  onlineManager.setOnline(true);
  await vi.waitFor(() => expect(observer.getCurrentResult().data).toBe("runs"));
  unsubscribe();
  queries.unmount();
});

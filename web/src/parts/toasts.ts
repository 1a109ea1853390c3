// Short messages of what was done. Each goes away by itself, and may offer to undo it.

import { useSyncExternalStore } from "react";

export interface Toast {
  id: number;
  text: string;
  undo?: (() => void) | undefined;
}

/** Long enough to read it, and to reach for Undo. */
const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;

let shown: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

export function say(text: string, undo?: () => void): void {
  last += 1;
  const toast = { id: last, text, undo };
  change([...shown, toast].slice(-SHOWN_MAX));
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

export function dismiss(id: number): void {
  change(shown.filter((toast) => toast.id !== id));
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(subscribe, () => shown);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// A reward in a table. From 0 to 1, as most are, it also has a bar.

import { reward } from "./format";

export function Reward({ of }: { of: number | null | undefined }) {
  if (of == null || of < 0 || of > 1) return reward(of);
  return (
    <span className="reward">
      <span aria-hidden className="reward-bar">
        <span className="reward-part" style={{ width: `${of * 100}%` }} />
      </span>
      {reward(of)}
    </span>
  );
}

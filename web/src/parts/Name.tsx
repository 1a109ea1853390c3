// A name that a tenant chose. It keeps its own direction of text, and takes two lines at most.

import { visible } from "./names";

export function Name({ text }: { text: string }) {
  return (
    <bdi className="name" title={text}>
      {visible(text)}
    </bdi>
  );
}

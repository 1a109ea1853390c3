// The explanation of T and D.

import { BookLink } from "../../parts/BookLink";
import { Explain } from "../../parts/Explain";

/** Explains the ideal end (T), the delay tolerance (D) and the deadline that is their sum. */
export function ExplainDeadline() {
  return (
    <Explain term="T + D">
      <p>
        <strong>T</strong>, the ideal end, is when the batch would end if no request waited for a
        worker. It follows from when requests arrive and how long the plugin takes.
      </p>
      <p>
        <strong>D</strong>, the delay tolerance, is how much later the batch may end. A run sets it
        with its batches (<code>max_extra_delay_ms</code>); otherwise the default of the server
        applies.
      </p>
      <p>
        The deadline is <strong>T + D</strong>. The planner keeps as few workers as it needs for all
        batches to end by their deadlines; a batch that ends later is late.
      </p>
      <BookLink to="concepts">More about batches and deadlines</BookLink>
    </Explain>
  );
}

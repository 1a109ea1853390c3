// A text of a request, raw or rendered as the user prefers. The code that renders is loaded when needed.

import { SegmentedControl } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Component, lazy, type ReactNode, Suspense } from "react";
import { loadPatiently } from "../../../parts/lazyPage";
import type { ExtractedAnswer } from "./answer";

const Rendered = lazy(() => loadPatiently(() => import("./Rendered")));

const VIEWS = [
  { value: "rendered", label: "Rendered" },
  { value: "raw", label: "Raw" },
];

/** The view is the same for all texts, and is kept in the browser. */
function useView() {
  return useLocalStorage<string>({
    key: "assay-text-view",
    defaultValue: "rendered",
    getInitialValueInEffect: false,
  });
}

/** `of`: name of the texts, such as `response`. */
export function ViewSwitch({ of }: { of: string }) {
  const [view, setView] = useView();
  return (
    <SegmentedControl
      size="xs"
      aria-label={`View of the ${of}`}
      data={VIEWS}
      value={view === "raw" ? "raw" : "rendered"}
      onChange={setView}
    />
  );
}

interface Text {
  text: string;
  answer?: ExtractedAnswer | undefined;
}

export function TextView({ text, answer }: Text) {
  const [view] = useView();
  const raw = <RawText text={text} answer={answer} />;
  if (view === "raw") return raw;
  return (
    <RawInstead key={text} raw={raw}>
      <Suspense fallback={raw}>
        <Rendered text={text} answer={answer} />
      </Suspense>
    </RawInstead>
  );
}

export function RawText({ text, answer }: Text) {
  if (!answer) return <pre className="raw">{text}</pre>;
  return (
    <pre className="raw">
      {text.slice(0, answer.start)}
      <mark className="answer">{text.slice(answer.start, answer.end)}</mark>
      {text.slice(answer.end)}
    </pre>
  );
}

/** Shows the raw text if rendering fails, whatever the text contains. */
class RawInstead extends Component<{ raw: ReactNode; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.raw : this.props.children;
  }
}

// Colours and sizes. Text and background have a contrast of at least 4.5 in both schemes.

import { Anchor, type CSSVariablesResolver, createTheme } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "cyan",
  primaryShade: { light: 9, dark: 9 },
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  fontFamilyMonospace:
    "'JetBrains Mono Variable', ui-monospace, 'SF Mono', Menlo, Consolas, monospace",
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem" },
  lineHeights: { xs: "1rem", sm: "1.25rem", md: "1.375rem" },
  colors: {
    // Text, then borders, controls, panels and, darkest, the page.
    dark: [
      "#e6e8ec",
      "#c9cdd4",
      "#a6abb3",
      "#7d838c",
      "#3a3f47",
      "#2b2f36",
      "#1d2027",
      "#16181d",
      "#121419",
      "#0f1115",
    ],
  },
  components: {
    Anchor: Anchor.extend({ defaultProps: { underline: "always" } }),
    // A plain object, because the code of dialogs is not needed on the first page.
    Modal: {
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        // The header of a dialog must not be a second banner landmark.
        attributes: { header: { role: "none" } },
      },
    },
    Drawer: {
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        attributes: { header: { role: "none" } },
      },
    },
  },
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "1.25rem", lineHeight: "1.75rem" },
      h2: { fontSize: "0.9375rem", lineHeight: "1.375rem" },
    },
  },
});

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-primary-color-filled-hover": "#095c6b",
    "--mantine-color-dimmed": "#495057",
    "--mantine-color-cyan-light-hover": "var(--mantine-color-cyan-1)",
    "--mantine-color-placeholder": "#5c6369",
    "--mantine-color-error": "#c92a2a",
    "--mantine-color-green-outline": "#237a35",
    "--mantine-color-yellow-outline": "#8a5a00",
    "--assay-page": "#ffffff",
    "--assay-ink": "#212529",
    "--assay-grid": "#e3e6ea",
    "--assay-stripe": "#f8f9fa",
    "--assay-waiting": "#adb5bd",
    "--assay-bar": "#1971c2",
    "--assay-good": "#237a35",
    "--assay-bad": "#c92a2a",
    "--assay-late": "#d9480f",
    "--assay-mark": "#862e9c",
    "--assay-answer": "#ffec99",
    "--assay-selected": "#e3f4f7",
  },
  dark: {
    "--mantine-primary-color-filled-hover": "#095c6b",
    "--mantine-color-dimmed": "#b8bcc2",
    "--mantine-color-placeholder": "#a6abb1",
    "--mantine-color-error": "#ff8787",
    "--assay-page": "#0f1115",
    "--assay-ink": "#e9ecef",
    "--assay-grid": "#2b2f36",
    "--assay-stripe": "#1d2027",
    "--assay-waiting": "#6c757d",
    "--assay-bar": "#4dabf7",
    "--assay-good": "#69db7c",
    "--assay-bad": "#ff8787",
    "--assay-late": "#ffa94d",
    "--assay-mark": "#e599f7",
    "--assay-answer": "#5c4a00",
    "--assay-selected": "#12343b",
  },
});

/** Colours of chart series, in order, distinct in both schemes and for colour-blind readers. */
export const SERIES = {
  light: ["#1971c2", "#d9480f", "#2b8a3e", "#862e9c", "#0b7285", "#a61e4d", "#5f3dc4", "#666600"],
  dark: ["#4dabf7", "#ffa94d", "#69db7c", "#e599f7", "#3bc9db", "#faa2c1", "#b197fc", "#c0c030"],
} as const;

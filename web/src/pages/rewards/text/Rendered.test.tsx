import { describe, expect, it } from "vitest";
import { markup } from "../../../parts/markup";
import { answerIn } from "./answer";
import Rendered, { RENDERED_MAX } from "./Rendered";

function html(text: string, explanation?: string): string {
  const all = markup(<Rendered text={text} answer={answerIn(text, explanation)} />);
  return all.slice(all.indexOf('<div class="rendered">'));
}

/** Names of the elements in the markup. */
function elements(text: string): Set<string> {
  return new Set([...html(text).matchAll(/<([a-z]\w*)/gi)].map(([, name]) => name ?? ""));
}

describe("rendering", () => {
  it("renders Markdown: lists, emphasis, tables and code", () => {
    const text =
      "# Title\n\n1. **one**\n2. *two*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx < 1\n```\n";
    expect(html(text)).toContain('<p class="heading">Title</p>');
    expect(html(text)).toContain("<strong>one</strong>");
    expect(html(text)).toContain("<td>1</td>");
    expect(html(text)).toContain('data-language="py"><code>x &lt; 1');
  });

  it("renders formulas of every notation as MathML", () => {
    for (const text of [
      "so $\\frac{1}{2}$ is",
      "so $$\\frac{1}{2}$$ is",
      "so \\(\\frac{1}{2}\\) is",
      "\\[\n\\frac{1}{2}\n\\]",
      "$$\n\\frac{1}{2}\n$$",
      "\\begin{align*}\nx &= \\frac{1}{2}\n\\end{align*}",
      "so \\boxed{\\frac{1}{2}}.",
    ]) {
      expect(html(text), text).toMatch(/<math.*<mfrac><mn>1<\/mn><mn>2<\/mn><\/mfrac>/);
    }
  });

  it("keeps spaces and alphabets of formulas", () => {
    expect(html("$a \\quad b$")).toContain('<mspace width="1em"></mspace>');
    expect(html("$x \\in \\mathbb{R}, \\mathbf{v}$")).toMatch(/ℝ.*𝐯/);
  });

  it("leaves prices, code and broken formulas as text", () => {
    expect(html("$5 and $6")).toContain("$5 and $6");
    expect(html("`$x$`")).toContain("<code>$x$</code>");
    expect(html("$\\frac{1$")).toContain("<code>\\frac{1</code>");
  });

  it("marks the extracted answer alone", () => {
    const boxed = html("$\\boxed{1}$ then $\\boxed{2}$");
    expect(boxed.match(/answer/g)).toHaveLength(1);
    expect(boxed).toMatch(/<mn>1<.*"box answer".*<mn>2</);
    const said = html("42 or 42", "took `42` from the last number; read as 42");
    expect(said).toContain('42 or <mark class="answer">42</mark>');
  });
});

describe("hostile text", () => {
  it("makes no element, attribute or link of its own", () => {
    const hostile = [
      "<script>alert(1)</script>",
      '<img src=x onerror="alert(1)">',
      "<svg/onload=alert(1)><style>*{display:none}</style><iframe src=//x>",
      "[a](javascript:alert(1)) [b](https://evil.example) <https://evil.example>",
      "![c](https://evil.example/pixel.png) ![d](data:image/png;base64,AAAA)",
      "[e]: javascript:alert(1)\n\n[e]",
      "$\\href{javascript:alert(1)}{x} \\url{javascript:alert(1)} \\includegraphics{x}$",
      "$\\htmlClass{c}{x} \\htmlStyle{position:fixed}{x} \\htmlData{a=b}{x} \\class{c}{x}$",
      "$\\text{<img src=x onerror=alert(1)>}$",
      "$\\color{red}x \\textcolor{blue}{y} \\colorbox{red}{z} \\rule{1000em}{1000em}$",
      '```"><script>alert(1)</script>\ncode\n```',
      '<a href="javascript:alert(1)" style="position:fixed">x</a>',
    ];
    for (const text of hostile) {
      const made = elements(text);
      for (const name of ["script", "img", "svg", "style", "iframe", "a", "annotation", "mglyph"]) {
        expect(made.has(name), `${name} of ${text}`).toBe(false);
      }
      expect(html(text), text).not.toMatch(
        /<[^>]+\s(?:href|src|style|on\w+|mathcolor|mathbackground)=/,
      );
    }
  });

  it("ends for huge nesting and repetition", () => {
    for (const text of [
      ">".repeat(50_000),
      "- ".repeat(20_000),
      "[".repeat(50_000),
      "*a _b ".repeat(10_000),
      "![".repeat(20_000),
      "`".repeat(50_000),
      "$a ".repeat(20_000),
      "\\(".repeat(20_000),
      "\\[\n".repeat(10_000),
      "$x$".repeat(20_000),
      `$${"{".repeat(1_900)}$`,
      `$${"\\frac{".repeat(300)}1${"}{2}".repeat(300)}$`,
      `$${"\\sqrt{".repeat(300)}1${"}".repeat(300)}$`,
      "$\\def\\a{\\a\\a}\\a$",
      "$\\def\\a#1{\\a{#1#1}}\\a{x}$",
      `|${"a|".repeat(5_000)}\n|${"-|".repeat(5_000)}\n`,
      "&amp;".repeat(10_000),
    ]) {
      expect(html(text).length, text.slice(0, 20)).toBeLessThan(8_000_000);
    }
    // The limit of time finds what grows with the square of the length.
  }, 120_000);

  it("renders the begin of a megabyte and says so", () => {
    const text = "word ".repeat(200_000);
    expect(html(text).length).toBeLessThan(RENDERED_MAX + 1_000);
    expect(html(text)).toContain("Choose Raw to read all of it");
  });
});

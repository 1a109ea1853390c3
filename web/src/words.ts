// The words that the pages show, read out of their sources: texts between tags and texts in the attributes that
// people see or hear. For tests alone.

import ts from "typescript";

/** Attributes and properties whose texts are shown or read aloud. */
const SHOWN = new Set([
  "about",
  "alt",
  "aria-description",
  "aria-label",
  "description",
  "detail",
  "hint",
  "label",
  "message",
  "nothingFoundMessage",
  "placeholder",
  "title",
  "what",
]);

/** All shown texts of a source in their order; `{…}` stands for a value. */
export function wordsOf(file: string, source: string): string[] {
  const root = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const add = (text: string) => {
    const plain = text.replace(/\s+/g, " ").trim();
    if (/\p{L}/u.test(plain.replaceAll("{…}", ""))) found.push(plain);
  };
  /** The texts that an expression may be. */
  const addExpression = (node: ts.Node | undefined): void => {
    if (!node) return;
    if (ts.isStringLiteralLike(node)) add(node.text);
    else if (ts.isTemplateExpression(node)) {
      const { head, templateSpans } = node;
      add(head.text + templateSpans.map(({ literal }) => `{…}${literal.text}`).join(""));
    } else if (ts.isConditionalExpression(node)) {
      addExpression(node.whenTrue);
      addExpression(node.whenFalse);
    } else if (ts.isBinaryExpression(node)) addExpression(node.right);
    else if (ts.isParenthesizedExpression(node) || ts.isJsxExpression(node)) {
      addExpression(node.expression);
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxElement(node) || ts.isJsxFragment(node)) addSentence(node.children);
    else if (ts.isJsxAttribute(node) && SHOWN.has(node.name.getText(root))) {
      addExpression(node.initializer);
    } else if (ts.isPropertyAssignment(node) && SHOWN.has(node.name.getText(root))) {
      addExpression(node.initializer);
    }
    ts.forEachChild(node, visit);
  };
  /** Text between tags is one sentence, with the values in it. */
  const addSentence = (children: ts.NodeArray<ts.JsxChild>) => {
    if (!children.some((child) => ts.isJsxText(child) && child.text.trim())) {
      for (const child of children) if (ts.isJsxExpression(child)) addExpression(child);
      return;
    }
    const part = (child: ts.JsxChild): string => {
      if (ts.isJsxText(child)) return child.text;
      if (ts.isJsxExpression(child) && child.expression) {
        return ts.isStringLiteralLike(child.expression) ? child.expression.text : "{…}";
      }
      return " {…} ";
    };
    add(children.map(part).join(""));
  };
  visit(root);
  return found;
}

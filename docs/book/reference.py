"""The references that nobody writes: the command line's from its help, the REST interface's from its document,
the Python client's from its source."""

import ast
import json
import pathlib
import re
import subprocess
import sys

CLIENT = pathlib.Path(__file__).resolve().parents[2] / "sdk/python-client/src/assay"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
METHODS = ("get", "post", "put", "patch", "delete")
COMMANDS = re.compile(r"^Commands:\n(?P<rows>(?:  .*\n)+)", re.MULTILINE)


def run(target, program, *arguments):
    path = target / "debug" / program
    if not path.exists():
        sys.exit(f"book: there is no {path}; `cargo build` makes it")
    return subprocess.run([path, *arguments], check=True, capture_output=True, text=True).stdout


def cli(target):
    """A section for each verb of `assay`, and for those of its verbs."""
    parts = []

    def verb(words):
        text = run(target, "assay", *words, "--help")
        parts.append(f"{'#' * min(len(words) + 1, 4)} assay {' '.join(words)}\n\n```text\n{text.strip()}\n```\n")
        if found := COMMANDS.search(text):
            for row in found["rows"].splitlines():
                name = re.match(r"  ([a-z][a-z-]*)(  |$)", row)
                if name and name[1] != "help":
                    verb([*words, name[1]])

    verb([])
    # The first is shown below the page's own title.
    parts[0] = parts[0].split("\n\n", 1)[1]
    return "\n".join(parts)


def rest(target):
    """A section for each operation, by the noun that it is about; then every shape."""
    document = json.loads(run(target, "assay", "openapi"))
    nouns = {}
    for path, operations in document["paths"].items():
        for method in METHODS:
            if operation := operations.get(method):
                noun = (operation.get("tags") or ["other"])[0]
                nouns.setdefault(noun, []).append(operation_of(method.upper(), path, operation))
    parts = [f"## {noun}\n\n" + "\n".join(rows) for noun, rows in nouns.items()]
    shapes = document["components"]["schemas"]
    parts.append("## Shapes\n\n" + "\n".join(shape(name, schema) for name, schema in sorted(shapes.items())))
    return "\n".join(parts)


def operation_of(method, path, operation):
    parts = [f"### `{method} {path}`\n"]
    said = [operation.get("summary"), operation.get("description")]
    parts += [plain(text) + "\n" for text in dict.fromkeys(filter(None, said))]
    if parameters := operation.get("parameters"):
        parts.append("| parameter | in | type | |\n|---|---|---|---|")
        for parameter in parameters:
            needed = "" if parameter.get("required") else "optional. "
            parts.append(f"| `{parameter['name']}` | {parameter['in']} | {kind(parameter.get('schema'))} "
                         f"| {needed}{cell(parameter.get('description'))} |")
        parts.append("")
    for form, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body, `{form}`: {kind(content.get('schema'))}\n")
    parts.append("| answer | shape | |\n|---|---|---|")
    for status, answer in operation["responses"].items():
        shapes = " or ".join(kind(content.get("schema")) for content in answer.get("content", {}).values())
        parts.append(f"| {status} | {shapes} | {cell(answer.get('description'))} |")
    return "\n".join(parts) + "\n"


def shape(name, schema):
    parts = [f'<a id="shape-{name}"></a>\n\n### {name}\n', plain(schema.get("description", "")) + "\n"]
    fields = schema.get("properties")
    if not fields:
        parts.append(kind({key: value for key, value in schema.items() if key != "description"}) + "\n")
        return "\n".join(parts)
    parts.append("| field | type | |\n|---|---|---|")
    for field, inner in fields.items():
        needed = "" if field in schema.get("required", []) else "optional. "
        parts.append(f"| `{field}` | {kind(inner)} | {needed}{cell(inner.get('description'))} |")
    return "\n".join(parts) + "\n"


def kind(schema):
    """A schema in a few words, with links to the shapes that it names."""
    if not schema:
        return "anything"
    if name := schema.get("$ref"):
        name = name.rsplit("/", 1)[1]
        return f"[{name}](#shape-{name})"
    for several, between in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " with ")):
        if several in schema:
            return between.join(kind(inner) for inner in schema[several])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    named = schema.get("type", "anything")
    named = " or ".join(named) if isinstance(named, list) else named
    if "items" in schema:
        return f"array of {kind(schema['items'])}"
    if named == "object" and schema.get("properties"):
        return "{ " + ", ".join(f"`{field}`: {kind(inner)}" for field, inner in schema["properties"].items()) + " }"
    if named == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {kind(schema['additionalProperties'])}"
    return named


def plain(text):
    return (text or "").replace("<", "&lt;").replace("[`", "`").replace("`]", "`").strip()


def cell(text):
    return " ".join(plain(text).split()).replace("|", "\\|")


def python(_target):
    """What the package `assay` exports, and its adapters: signatures and documentation strings."""
    parts = []
    exported = next(set(ast.literal_eval(node.value)) for node in tree(CLIENT / "__init__.py").body
                    if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    for path in sorted(CLIENT.glob("[a-z]*.py")):
        found = [node for node in tree(path).body if getattr(node, "name", None) in exported]
        parts += [named(f"assay.{node.name}", node) for node in found]
    for path in sorted((CLIENT / "adapters").glob("[a-z]*.py")):
        module = f"assay.adapters.{path.stem}"
        parts.append(f"## {module}\n\n{plain(ast.get_docstring(tree(path)))}\n")
        parts += [named(node.name, node, "###") for node in tree(path).body
                  if isinstance(node, DEFINITIONS) and not node.name.startswith("_")]
    return "\n".join(parts)


def tree(path):
    return ast.parse(path.read_text())


def named(name, node, level="##"):
    parts = [f"{level} {name}\n"]
    if not isinstance(node, ast.ClassDef):
        parts.append(f"```text\n{signature(node)}\n```\n")
    parts.append(plain(ast.get_docstring(node)) + "\n")
    for inner in getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []:
        public = isinstance(inner, FUNCTIONS) and (not inner.name.startswith("_") or inner.name == "__init__")
        if public:
            parts.append(f"```text\n{signature(inner)}\n```\n\n{plain(ast.get_docstring(inner))}\n")
    return "\n".join(parts)


def signature(node):
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
    return f"{kind}{node.name}({arguments}){returns}"


WRITERS = {"cli": cli, "rest": rest, "python": python}

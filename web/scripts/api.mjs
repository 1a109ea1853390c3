// Writes the types of the REST API, src/api/schema.d.ts, from the server's OpenAPI document.
//
//   npm run api -- [--check] FILE     FILE is what `assay openapi` prints
//
// With --check it writes nothing, and fails if the file differs.
import { readFileSync, writeFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";

const target = new URL("../src/api/schema.d.ts", import.meta.url);
const words = process.argv.slice(2);
const check = words.includes("--check");
const file = words.find((word) => !word.startsWith("--"));
if (!file) {
  console.error("api: name the file that holds what `assay openapi` prints");
  process.exit(2);
}
const notice = "// Written by `make web-api` from the server's OpenAPI document.\n\n";
const types = notice + astToString(await openapi(JSON.parse(readFileSync(file, "utf8"))));
if (!check) {
  writeFileSync(target, types);
} else if (readFileSync(target, "utf8") !== types) {
  console.error(
    "api: src/api/schema.d.ts is not what the server's document says: run `make web-api`",
  );
  process.exit(1);
}

#!/usr/bin/env python3
"""Lists what a release contains of others, as CycloneDX 1.6 on standard output: scripts/dist/sbom.py VERSION

The crates of the programs and plugins come from `cargo tree` and Cargo.lock, the dashboard's packages from
web/package-lock.json. Tools that only build are left out. The same sources give the same bytes."""

import base64
import json
import pathlib
import subprocess
import sys
import tomllib
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The shipped packages, by the platform that they are built for.
SHIPPED = {
    "x86_64-unknown-linux-gnu": ["assay-cli", "assay-worker", "assay-exec", "assay-gpu"],
    "wasm32-wasip2": [f"assay-plugin-{name}" for name in ("math", "code", "cuda", "judge", "run", "format", "hello")],
}
NAMESPACE = uuid.UUID("a9e6f7f0-6f43-5c0e-9c55-0d6f3a1b6a55")


def main(version):
    crates = {}
    for platform, names in SHIPPED.items():
        crates |= linked(platform, names)
    components = [crate(*of, expression) for of, expression in crates.items()] + dashboard()
    components.sort(key=lambda it: it["bom-ref"])
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"assay@{version}",
                "name": "assay",
                "version": version,
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": f"assay@{version}", "dependsOn": [it["bom-ref"] for it in components]},
        ],
    }
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(NAMESPACE, json.dumps(document, sort_keys=True))}"
    print(json.dumps(document, indent=1, sort_keys=True))


def linked(platform, names):
    """Crates of others that are linked into the named ones: no macros, build scripts or tests."""
    command = ["cargo", "tree", "--locked", "--prefix", "none", "--format", "{p}|{l}", "--target", platform]
    command += ["--edges", "normal,no-proc-macro"] + [word for name in names for word in ("--package", name)]
    tree = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = {}
    for line in filter(None, tree.splitlines()):
        package, _, expression = line.removesuffix(" (*)").partition("|")
        name, version, *place = package.split()
        # Our own have a path after their version.
        if not place:
            found[name, version.removeprefix("v")] = expression.removesuffix(" (*)")
    return found


def crate(name, version, expression):
    reference = f"pkg:cargo/{name}@{version}"
    component = {"type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference}
    if checksum := CHECKSUMS.get((name, version)):
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return component | licence(expression)


def dashboard():
    """Packages whose code is in the dashboard's files."""
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    components = []
    for path, package in lock["packages"].items():
        if not path or package.get("dev") or package.get("link"):
            continue
        name = path.rpartition("node_modules/")[2]
        reference = f"pkg:npm/{name.replace('@', '%40', 1)}@{package['version']}"
        component = {
            "type": "library",
            "bom-ref": reference,
            "name": name,
            "version": package["version"],
            "purl": reference,
        }
        algorithm, _, digest = package.get("integrity", "").partition("-")
        if algorithm == "sha512":
            component["hashes"] = [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}]
        components.append(component | licence(package.get("license")))
    unique = {it["bom-ref"]: it for it in components}
    return list(unique.values())


def licence(expression):
    # Older crates write a slash for `OR`.
    return {"licenses": [{"expression": expression.replace("/", " OR ")}]} if expression else {}


def checksums():
    with (ROOT / "Cargo.lock").open("rb") as file:
        return {(it["name"], it["version"]): it.get("checksum") for it in tomllib.load(file)["package"]}


CHECKSUMS = checksums()

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

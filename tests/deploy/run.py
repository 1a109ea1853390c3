#!/usr/bin/env python3
"""Checks the files of deploy/: that Kubernetes, systemd and the programs understand them.

    tests/deploy/run.py     with the programs of $CARGO_TARGET_DIR or target, in the environment target/deploy-venv

Ends with `deploy: N passed, N failed, N skipped`. Starts nothing: `scripts/test-containers.sh` runs the images and Pods.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import kubernetes_validate
import yaml

import kustomize

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
FOLDERS = ["base", *sorted(f"overlays/{path.name}" for path in (KUBERNETES / "overlays").iterdir())]
# The oldest version with sidecars and user namespaces switched on, and the newest one that is known.
VERSIONS = ("1.33", "1.37")
USER = 65532
# Words that other systems than Assay give to a container.
OTHERS = {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"}
# What systemd older than 254, such as Debian 12's, does not know and does without.
NOT_IN_OLD_SYSTEMD = "Unknown key 'DelegateSubgroup'"
OPTION = re.compile(r"^ +(--[a-z-]+)\b", re.MULTILINE)
VARIABLE = re.compile(r"\[env: ([A-Z_]+)")
IN_SCRIPT = re.compile(r"^#   ((?:[A-Z_]+(?:, | or )?)+)", re.MULTILINE)


class Skipped(Exception):
    pass


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def program(*words):
    path = TARGET / "debug" / words[0]
    return subprocess.run([path, *words[1:]], check=True, capture_output=True, text=True).stdout


def help_of(*words):
    text = program(*words, "--help")
    return set(OPTION.findall(text)), set(VARIABLE.findall(text))


def variables_of(script):
    """The variables that a script's first comment names."""
    return {name for line in IN_SCRIPT.findall((DEPLOY / script).read_text()) for name in re.split(", | or ", line)}


def rendered():
    return {folder: kustomize.render(KUBERNETES / folder) for folder in FOLDERS}


def pods():
    """The folder, the name and the specification of every pod."""
    for folder, documents in rendered().items():
        for document in documents:
            if document["kind"] in ("Deployment", "Job"):
                yield folder, document["metadata"]["name"], document["spec"]["template"]["spec"]
        for name, pod in pods_of_pools(documents):
            yield folder, f"worker of {name}", pod["spec"]


def pods_of_pools(documents):
    """The pools of a file for `assay serve --kubernetes`, each with its Pod."""
    for document in documents:
        if document["kind"] == "ConfigMap":
            for name, pool in yaml.safe_load(document["data"]["pools.yaml"])["pools"].items():
                yield name, {"apiVersion": "v1", "kind": "Pod", **pool["pod"]}


def containers():
    """Where it is, its words and its variables, of every container that runs a program of ours."""
    for folder, name, pod in pods():
        for container in pod.get("initContainers", []) + pod["containers"]:
            words = container.get("command", []) + container.get("args", [])
            yield f"{folder} {name}", words, {each["name"]: each.get("value") for each in container.get("env", [])}
    services = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())["services"]
    for name, service in services.items():
        yield f"compose {name}", service.get("entrypoint", []) + service.get("command", []), service["environment"]


def kubernetes_understands_every_document():
    for folder, documents in rendered().items():
        of_pools = [pod | {"metadata": {"name": name, **pod["metadata"]}} for name, pod in pods_of_pools(documents)]
        for document in documents + of_pools:
            for version in VERSIONS:
                try:
                    kubernetes_validate.validate(document, version, strict=True)
                except kubernetes_validate.ValidationError as error:
                    raise AssertionError(f"{folder} {kustomize.identity(document)}, {version}: {error}") from error


def kustomize_renders_the_same():
    kubectl = shutil.which("kubectl")
    told = subprocess.run([kubectl, "version", "--client"], capture_output=True, text=True).stdout if kubectl else ""
    if not re.search(r"Kustomize Version: v([5-9]|\d\d)", told):
        raise Skipped("no kubectl with Kustomize 5 or newer")
    for folder, documents in rendered().items():
        by_kubectl = subprocess.run([kubectl, "kustomize", KUBERNETES / folder], check=True, capture_output=True, text=True)
        theirs = {kustomize.identity(document): document for document in yaml.safe_load_all(by_kubectl.stdout)}
        ours = {kustomize.identity(document): document for document in documents}
        for identity in theirs | ours:
            check(ours.get(identity) == theirs.get(identity), f"{folder} {identity} differs from Kustomize's")


def names_within_the_documents_exist():
    from_outside = {("Secret", "assay-database"), ("Secret", "assay-worker-key")}
    for folder, documents in rendered().items():
        there = {kustomize.identity(document) for document in documents} | from_outside
        text = json.dumps(documents)
        for kind, field in (("PersistentVolumeClaim", "claimName"), ("Secret", "secretKeyRef")):
            names = re.findall(rf'"{field}": (?:"|{{[^}}]*"name": ")([a-z-]+)"', text)
            check(names, f"{folder} names no {kind}")
            check(all((kind, name) in there for name in names), f"{folder} lacks one of {names}")
        templates = [document.get("spec", {}).get("template") for document in documents]
        labels = [template["metadata"]["labels"] for template in templates if template]
        for document in documents:
            spec = document.get("spec", {})
            chosen = spec.get("podSelector") or spec.get("selector")
            if chosen:
                wanted = chosen.get("matchLabels", chosen).items()
                check(any(wanted <= have.items() for have in labels), f"{folder} {kustomize.identity(document)} selects nothing")


def pods_have_no_rights_and_have_limits():
    for folder, name, pod in pods():
        where = f"{folder} {name}"
        check(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == USER, where)
        # The server that starts Pods, and nobody else.
        has_rights = (folder, name) == ("overlays/pods", "assay")
        check(pod["automountServiceAccountToken"] is has_rights, where)
        for container in pod.get("initContainers", []) + pod["containers"]:
            have = container["securityContext"]
            check(have["capabilities"] == {"drop": ["ALL"]}, f"{where} {container['name']}: capabilities")
            check(have["allowPrivilegeEscalation"] is False and have["readOnlyRootFilesystem"], f"{where} {container['name']}")
            check({"cpu", "memory"} <= set(container["resources"]["requests"]), f"{where} {container['name']}: requests")
            check("memory" in container["resources"]["limits"], f"{where} {container['name']}: limits")
        # Plugins run there.
        for container in pod["containers"] if "worker" in name else []:
            names = {each["name"] for each in container.get("env", [])}
            check("ASSAY_API_KEY" not in names and "DATABASE_URL" not in names, f"{where} has a key")


def rights_are_those_that_the_launcher_uses():
    roles = [(folder, document["rules"]) for folder, documents in rendered().items()
             for document in documents if document["kind"] in ("Role", "ClusterRole")]
    pods = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "delete", "list", "watch"]}]
    # The tests of the launcher (tests/tests/kubernetes.rs) compare both with the calls that it makes.
    tokens = [{"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]}]
    check(roles == [("overlays/pods", pods), ("overlays/pods", tokens)], roles)


def boxes_get_what_they_need():
    (worker,) = [pod["containers"][0] | {"pod": pod} for folder, name, pod in pods()
                 if folder.endswith("exec-sandbox") and name == "assay-workers"]
    check(worker["pod"]["hostUsers"] is False, "an unmasked /proc needs an own user namespace")
    have = worker["securityContext"]
    check(have["procMount"] == "Unmasked", "boxes need their own /proc")
    check(have["seccompProfile"] == {"type": "Localhost", "localhostProfile": "assay/exec-sandbox.json"}, "the profile")
    profile = json.loads((KUBERNETES / "overlays/exec-sandbox/seccomp.json").read_text())
    refused = {name for rule in profile["syscalls"] for name in rule["names"]}
    needed = {"unshare", "clone", "clone3", "mount", "umount2", "pivot_root", "mount_setattr", "sethostname", "capset",
              "close_range", "memfd_create", "seccomp", "landlock_create_ruleset", "landlock_restrict_self"}
    check(profile["defaultAction"] == "SCMP_ACT_ALLOW" and not refused & needed, f"refused: {refused & needed}")


def programs_know_every_option_and_variable():
    serve, serve_variables = help_of("assay", "serve")
    join, _ = help_of("assay", "worker", "join")
    worker, _ = help_of("assay-worker", "serve")
    # Variables that the worker reads of itself, those of the scripts, and those that clients read.
    known = serve_variables | help_of("assay", "worker")[1] | {"PGPASSFILE"}
    known |= variables_of("join.sh") | variables_of("container/tokens.sh") | OTHERS
    seen = 0
    for where, words, variables in containers():
        if words and words[0] == "serve":
            check(options(words) <= serve, f"{where}: {options(words) - serve} is no option")
        check(set(variables) <= known, f"{where}: {set(variables) - known} is no variable")
        said = (variables.get("ASSAY_WORKER_OPTIONS") or "").split()
        cut = said.index("--") if "--" in said else len(said)
        check(options(said[:cut]) <= join and options(said[cut + 1:]) <= worker, f"{where}: {said}")
        seen += 1
    check(seen > 15, f"only {seen} containers")
    for unit in (DEPLOY / "systemd").iterdir():
        text = unit.read_text()
        check(options(re.findall(r"^ExecStart=.* serve (.*)", text, re.MULTILINE)[:1]) <= serve, unit.name)
        check(options(re.findall(r"^ExecStart=.*/join.sh (.*)", text, re.MULTILINE)[:1]) <= join, unit.name)
        names = set(re.findall(r"^Environment=([A-Z_]+)", text, re.MULTILINE))
        check(names <= known, f"{unit.name}: {names - known} is no variable")
    for path in (DEPLOY / "container").glob("*.Containerfile"):
        names = set(re.findall(r"\b(ASSAY_[A-Z_]+)=", path.read_text()))
        check(names <= known | {"ASSAY_DATA"}, f"{path.name}: {names - known} is no variable")


def options(words):
    return set(re.findall(r"(?<!\S)--[a-z][a-z-]*", " ".join(words)))


def systemd_understands_every_unit():
    if not shutil.which("systemd-analyze"):
        raise Skipped("no systemd-analyze")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        units = []
        for path in sorted((DEPLOY / "systemd").glob("*.service")):
            name = path.name.replace("@.", "@1.")
            # The programs are not installed here; both names, because an instance needs its template.
            text = re.sub(r"^(ExecStart=)\S+", r"\1/bin/true", path.read_text(), flags=re.MULTILINE)
            (folder / path.name).write_text(text)
            (folder / name).write_text(text)
            units.append(folder / name)
        (folder / "assay.service.d").mkdir()
        shutil.copy(DEPLOY / "systemd/standby.conf", folder / "assay.service.d")
        for unit in units:
            told = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
            lines = [line for line in told.stderr.splitlines() if NOT_IN_OLD_SYSTEMD not in line and str(folder) in line]
            check(told.returncode == 0 and not lines, f"{unit.name}: {told.stderr}")


def scripts_are_shell():
    for path in [DEPLOY / "join.sh", *(DEPLOY / "container").glob("*.sh")]:
        shell = path.read_text().partition("\n")[0].split()[-1].split("/")[-1]
        subprocess.run([shell, "-n", path], check=True)
        check(os.access(path, os.X_OK), f"{path.name} is not executable")


def a_worker_asks_for_the_command_to_join():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("join.sh", "container/tokens.sh"):
            shutil.copy(DEPLOY / name, folder)
        (folder / "join").mkdir()
        stand_in(folder / "assay", 'echo "assay worker join --server here:1 --ca-pin sha256:00 --pool $4 --token assay_join_1"')
        stand_in(folder / "assay-worker", 'echo "$* by $ASSAY_WORKER_TICKET"')
        environment = {"PATH": f"{folder}:/usr/bin:/bin", "ASSAY_WORKER_JOIN": str(folder / "join"),
                       "ASSAY_WORKER_SERVER": "here:1", "ASSAY_WORKER_POOL": "fast", "ASSAY_WORKER_OPTIONS": "-- --gpus 1"}
        giver = subprocess.Popen([folder / "tokens.sh"], env=environment)
        try:
            for _ in range(2):
                told = subprocess.run([folder / "join.sh", "--cache", "/c"], env=environment, capture_output=True, text=True,
                                      timeout=60, check=True).stdout
                wanted = "join --server here:1 --ca-pin sha256:00 --pool fast --cache /c -- --gpus 1 by assay_join_1\n"
                check(told == wanted, told)
        finally:
            giver.terminate()
            check(giver.wait(timeout=60) == 0, "tokens.sh does not end by SIGTERM")
        check(not list((folder / "join").iterdir()), "a token stays")
        (folder / "join/wrong").write_text("rm -rf $(reboot) *\n")
        wrong = subprocess.run([folder / "join.sh"], env=environment | {"ASSAY_WORKER_JOIN": str(folder / "join/wrong")},
                               capture_output=True, text=True, timeout=60)
        check(wrong.returncode == 2 and "is not what" in wrong.stderr, wrong.stderr)


def stand_in(path, line):
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


TESTS = (
    kubernetes_understands_every_document,
    kustomize_renders_the_same,
    names_within_the_documents_exist,
    pods_have_no_rights_and_have_limits,
    rights_are_those_that_the_launcher_uses,
    boxes_get_what_they_need,
    programs_know_every_option_and_variable,
    systemd_understands_every_unit,
    scripts_are_shell,
    a_worker_asks_for_the_command_to_join,
)


def main():
    ended = {"passed": 0, "failed": 0, "skipped": 0}
    for test in TESTS:
        name = test.__name__.replace("_", " ")
        try:
            test()
            how = "passed"
        except Skipped as why:
            print(f"SKIPPED: {name}: {why}")
            how = "skipped"
        except (AssertionError, KeyError, ValueError, OSError, subprocess.SubprocessError) as failure:
            print(f"FAILED: {name}: {type(failure).__name__}: {failure}")
            how = "failed"
        ended[how] += 1
    print("deploy: " + ", ".join(f"{count} {how}" for how, count in ended.items()))
    return 1 if ended["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

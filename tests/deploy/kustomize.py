"""As much of Kustomize as deploy/kubernetes uses: resources, a namespace, and strategic merge patches by path.

`run.py` compares it with `kubectl kustomize` where that program is new enough.
"""

import copy

import yaml

# The field by which Kubernetes merges the items of a list; other lists are replaced.
MERGED_BY = {"containers": "name", "initContainers": "name", "env": "name", "volumes": "name", "volumeMounts": "mountPath"}
KNOWN = {"apiVersion", "kind", "namespace", "resources", "patches"}
WITHOUT_NAMESPACE = {"Namespace", "ClusterRole", "ClusterRoleBinding"}


def render(folder):
    """The documents that a folder with a kustomization.yaml stands for."""
    said = yaml.safe_load((folder / "kustomization.yaml").read_text())
    if unknown := set(said) - KNOWN:
        raise ValueError(f"{folder}: {sorted(unknown)} is not known to this stand-in for Kustomize")
    documents = []
    for name in said["resources"]:
        path = folder / name
        documents += render(path) if path.is_dir() else read(path)
    for patch in said.get("patches", []):
        for change in read(folder / patch["path"]):
            targets = [document for document in documents if identity(document) == identity(change)]
            if len(targets) != 1:
                raise ValueError(f"{folder}: {patch['path']} changes {identity(change)}, which is there {len(targets)} times")
            documents[documents.index(targets[0])] = merge(targets[0], change)
    for document in documents:
        if document["kind"] not in WITHOUT_NAMESPACE:
            document["metadata"]["namespace"] = said["namespace"]
    if len({identity(document) for document in documents}) != len(documents):
        raise ValueError(f"{folder}: two documents have one name")
    return documents


def read(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def identity(document):
    return document["kind"], document["metadata"]["name"]


def merge(old, new, field=None):
    if isinstance(old, dict) and isinstance(new, dict):
        merged = dict(old)
        for name, value in new.items():
            merged[name] = merge(old[name], value, name) if name in old else copy.deepcopy(value)
        return merged
    if isinstance(old, list) and field in MERGED_BY:
        key = MERGED_BY[field]
        changes = {item[key]: item for item in new}
        merged = [merge(item, changes.pop(item[key])) if item[key] in changes else item for item in old]
        # Kustomize puts new items first.
        return list(changes.values()) + merged
    return copy.deepcopy(new)

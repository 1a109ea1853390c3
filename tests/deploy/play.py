#!/usr/bin/env python3
"""Prints a Deployment of deploy/kubernetes, with the volumes that it claims, as `podman play kube` takes it.

    tests/deploy/play.py FOLDER DEPLOYMENT TAG     in the environment target/deploy-venv; FOLDER as `overlays/standby`

The images are those of build.sh with a tag. Left out is what podman 4.3 has no word for: more than one replica, probes
(they call a program in the container), ports (it would publish them on this machine), and containers that run beside
others although they are listed before them, which become containers like the others.
"""

import pathlib
import sys

import yaml

import kustomize

KUBERNETES = pathlib.Path(__file__).resolve().parents[2] / "deploy/kubernetes"
WITHOUT = ("startupProbe", "livenessProbe", "readinessProbe", "restartPolicy", "ports")


def played(documents, name, tag):
    deployment = next(each for each in documents if kustomize.identity(each) == ("Deployment", name))
    deployment["spec"]["replicas"] = 1
    pod = deployment["spec"]["template"]["spec"]
    pod["containers"] += pod.pop("initContainers", [])
    for container in pod["containers"]:
        container["image"] = f"localhost/{container['image'].partition(':')[0]}:{tag}"
        for word in WITHOUT:
            container.pop(word, None)
    claimed = {volume.get("persistentVolumeClaim", {}).get("claimName") for volume in pod["volumes"]}
    return [each for each in documents
            if each["kind"] == "PersistentVolumeClaim" and each["metadata"]["name"] in claimed] + [deployment]


if __name__ == "__main__":
    folder, name, tag = sys.argv[1:]
    print(yaml.safe_dump_all(played(kustomize.render(KUBERNETES / folder), name, tag)))

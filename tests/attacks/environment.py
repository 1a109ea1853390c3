"""Looks for what the interpreter was told by those who started it, and for a place from which later
interpreters would load code. Contained: neither is there."""
import os
import site
import sys

escapes = []
for name in os.environ:
    if not name.startswith(("PATH", "HOME", "LANG", "LC_", "TMPDIR", "PYTHON", "OMP_", "USER", "TZ")):
        escapes.append(f"environment: {name}")
    if "ASSAY" in name or "ASSAY" in os.environ[name].upper():
        escapes.append(f"environment: {name}")
folders = [*sys.path, *site.getsitepackages(), site.getusersitepackages(), sys.prefix]
for folder in folders:
    if not folder or os.path.realpath(folder).startswith(("/box/w", "/tmp")):
        continue
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "attack.pth"), "w") as file:
            file.write("import os\n")
    except OSError:
        continue
    escapes.append(f"wrote in {folder}")
for number in range(3, 1024):
    try:
        escapes.append(f"descriptor {number}: {os.readlink(f'/proc/self/fd/{number}')}")
    except OSError:
        pass
print(*(f"ESCAPED: {escape}" for escape in escapes), sep="\n")
print("not contained" if escapes else "contained")
sys.exit(bool(escapes))

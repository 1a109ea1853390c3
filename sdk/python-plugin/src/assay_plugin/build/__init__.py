"""The builder: from a project's folder to a component. Runs on the author's machine, uses the standard
library alone, and is no part of what it builds.

`command` is the way through; `tools` installs, `sources` reads the project, `packages` its requirements,
`world` says what the component imports, `component` makes it, `explain` says what to do about a failure.
"""

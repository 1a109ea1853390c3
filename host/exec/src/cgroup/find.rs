//! Where this machine's control groups are, and where this process is in them.

use std::fs;
use std::path::{Path, PathBuf};

/// One hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HierarchyMount {
    /// The folder at which it is mounted.
    pub(super) mount: PathBuf,
    /// The group of this process, below the mount.
    pub(super) own: PathBuf,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hierarchies {
    V2(HierarchyMount),
    Hybrid { unified: HierarchyMount, memory: HierarchyMount, pids: HierarchyMount },
}

impl Hierarchies {
    pub(super) fn read() -> Result<Self, String> {
        let text =
            |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        let found = parse(&text("/proc/self/mountinfo")?, &text("/proc/self/cgroup")?);
        let unified = found.unified.ok_or("no cgroup v2 is mounted")?;
        match (found.memory, found.pids) {
            (Some(memory), Some(pids)) => Ok(Self::Hybrid { unified, memory, pids }),
            (None, None) => Ok(Self::V2(unified)),
            _ => Err("only one of the controllers memory and pids is a cgroup v1".into()),
        }
    }

    /// The groups in which helpers' folders may be, in every hierarchy.
    pub(super) fn parents(&self) -> impl Iterator<Item = &Path> {
        let places = match self {
            Self::V2(unified) => vec![unified],
            Self::Hybrid { unified, memory, pids } => vec![unified, memory, pids],
        };
        places.into_iter().flat_map(HierarchyMount::parents)
    }
}

impl HierarchyMount {
    /// This process's group and the one above it, in which helpers' folders may be.
    pub(super) fn parents(&self) -> impl Iterator<Item = &Path> {
        self.own.ancestors().take(2).filter(|group| group.starts_with(&self.mount))
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct MountedHierarchies {
    unified: Option<HierarchyMount>,
    memory: Option<HierarchyMount>,
    pids: Option<HierarchyMount>,
}

fn parse(mounts: &str, groups: &str) -> MountedHierarchies {
    let mut found = MountedHierarchies::default();
    for line in mounts.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let mut before = before.split(' ').skip(3);
        let (Some(root), Some(mount)) = (before.next(), before.next()) else { continue };
        let mut after = after.split(' ');
        let (kind, options) = (after.next(), after.nth(1).unwrap_or_default());
        let has = |controller: &str| options.split(',').any(|option| option == controller);
        let (slot, controller) = match kind {
            Some("cgroup2") => (&mut found.unified, ""),
            Some("cgroup") if has("memory") => (&mut found.memory, "memory"),
            Some("cgroup") if has("pids") => (&mut found.pids, "pids"),
            _ => continue,
        };
        if slot.is_none() {
            *slot = own(groups, controller).and_then(|path| place(root, mount, path));
        }
    }
    found
}

/// This process's group in the hierarchy with a controller, as `/proc/self/cgroup` has it.
fn own<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        controllers.split(',').any(|it| it == controller).then(|| parts.next())?
    })
}

/// A mount may show a part of the hierarchy only.
fn place(root: &str, mount: &str, own: &str) -> Option<HierarchyMount> {
    let below = Path::new(own).strip_prefix(root).ok()?;
    let mount = PathBuf::from(mount);
    // `/` joined with nothing would end in a slash.
    let own = if below.as_os_str().is_empty() { mount.clone() } else { mount.join(below) };
    Some(HierarchyMount { mount, own })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
25 1 0:21 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
26 25 0:22 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
27 25 0:23 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
28 25 0:24 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
29 25 0:25 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    fn at(mount: &str, own: &str) -> Option<HierarchyMount> {
        Some(HierarchyMount { mount: mount.into(), own: own.into() })
    }

    #[test]
    fn both_versions_side_by_side() {
        let found = parse(HYBRID, "8:pids:/\n4:memory:/service/one\n1:cpu:/\n0::/");
        assert_eq!(found.unified, at("/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified"));
        assert_eq!(found.memory, at("/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/service/one"));
        assert_eq!(found.pids, at("/sys/fs/cgroup/pids", "/sys/fs/cgroup/pids"));
    }

    #[test]
    fn a_container_sees_its_own_part() {
        let mounts = "30 1 0:9 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw";
        let found = parse(mounts, "0::/docker/ab/main");
        assert_eq!(found.unified, at("/sys/fs/cgroup", "/sys/fs/cgroup/main"));
        assert_eq!(parse(mounts, "0::/elsewhere").unified, None);
    }
}

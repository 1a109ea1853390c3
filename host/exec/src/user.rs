//! The user of a helper's boxes: one that owns nothing. It must exist in the user namespace of the helper, which in a
//! container may have few users.

use nix::unistd::geteuid;

/// The first of the ids that helpers of root take where every id exists: each takes this one plus its process id.
const USER_BASE: u32 = 1_900_000_000;
/// Ids that a namespace must have in a row, so that half of them can be taken as owning nothing.
const USERS_MIN: u32 = 65_536;

/// The user id, which is the group id too, of this process' boxes.
pub(crate) fn of_boxes() -> u32 {
    if !geteuid().is_root() {
        return geteuid().as_raw();
    }
    let process = std::process::id();
    let maps = ["/proc/self/uid_map", "/proc/self/gid_map"].map(std::fs::read_to_string);
    match maps {
        [Ok(users), Ok(groups)] => choose(&users, &groups, process),
        _ => USER_BASE + process,
    }
}

/// An id that both maps have. Where there is none, one that the change of user refuses: boxes never run as root.
fn choose(users: &str, groups: &str, process: u32) -> u32 {
    let wanted = USER_BASE + process;
    if has(users, wanted) && has(groups, wanted) {
        return wanted;
    }
    // The upper half but its last two, which are nobody's in many systems; the lower half has the system's own users.
    let half = USERS_MIN / 2;
    let within = half + process % (half - 2);
    if has(users, within) && has(groups, within) { within } else { wanted }
}

/// Whether a map has the id: lines of the first id inside, the first id outside, and the number of ids.
fn has(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.nth(1)) {
            (Some(Ok(first)), Some(Ok(count))) => (first..first + count).contains(&u64::from(id)),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_boxes_exists() {
        let (all, container, rootless) =
            ("0 0 4294967295", "         0     100000      65536", "0 1000 1\n1 100000 65535");
        let check = |map: &str, process, expected| {
            assert_eq!(choose(map, map, process), expected, "{map}");
        };
        check(all, 7, 1_900_000_007);
        check(container, 7, 32_775);
        check(container, 32_765, 65_533);
        check(container, 32_766, 32_768);
        check(rootless, 7, 32_775);
        // Too few users: the change to this one fails, and no box is made.
        check("0 1000 1", 7, 1_900_000_007);
        assert_eq!(choose(container, "0 0 1", 7), 1_900_000_007);
        assert!(!has("nonsense", 0));
    }
}

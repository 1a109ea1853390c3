//! Landlock: a second restriction of file access, which holds even if a mount or a file mode is wrong.

use std::io::Error;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

/// The version that the rules are written for; an older kernel applies the rules that it knows.
const NEWEST: ABI = ABI::V6;

/// Devices that programs write to.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Restricts this process and its children: they read and execute files of the box's tree, write to `/box` alone, open
/// no connection, and signal no process outside.
pub(crate) fn lock_files() -> std::io::Result<()> {
    restrict().map_err(Error::other)
}

fn restrict() -> Result<(), RulesetError> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    let in_box = AccessFs::from_all(NEWEST) & !devices;
    let on_device = AccessFs::ReadFile | AccessFs::WriteFile;
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::from_read(NEWEST)))?
        .add_rules(path_beneath_rules(["/box"], in_box))?
        .add_rules(path_beneath_rules(DEVICES, on_device))?
        .restrict_self()?;
    Ok(())
}

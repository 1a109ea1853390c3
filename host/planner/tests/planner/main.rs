//! The planner from outside: what it has learned and what it sees in, plans out.

mod property;
mod script;

/// A test for each scenario, of its name.
macro_rules! scenarios {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                script::check(include_str!(concat!(stringify!($name), ".txt")));
            }
        )*
    };
}

scenarios! {
    announced
    another_history
    bounded
    changed
    drift
    early
    edges
    end
    fixed
    free_startup
    groups
    held
    idle
    late
    quota
    reached
    sealed
    shared_by_plugins
    shared_by_runs
    shared_by_stages
    timeouts
    unconfigured
    unknown
    unplaced
    unreached
    zq
}

//! The part of a list that is read: tenants, people, members, keys and plugins.

/// A page of a list in the order of its cursor, which is a name or an id.
#[derive(Debug, Clone)]
pub struct ListedRows<C> {
    /// A part of a name that the rows have; upper and lower case are alike.
    pub text: Option<String>,
    /// The last row of the page before.
    pub after: Option<C>,
    pub limit: u32,
}

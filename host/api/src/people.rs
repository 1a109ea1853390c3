//! People: who they are, which tenants they belong to and as what, and how they sign in. The JSON
//! shapes of `/v1/people`, `/v1/members` and `/v1/session`, shared by the server and its clients.

use serde::{Deserialize, Serialize};

use crate::key::Scope;
use assay_core::id::{KeyId, PersonId};
use assay_core::limits;
use assay_core::time::Micros;

/// The tenant whose administrators administer the platform.
pub const PLATFORM_TENANT: &str = "platform";

/// Role of a member in its tenant; each role includes the roles before it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Writes batches, too.
    Trainer,
    /// Publishes plugins, too.
    Publisher,
    /// Administers the tenant, too.
    Admin,
}

impl Role {
    /// All roles, in ascending order.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Trainer, Self::Publisher, Self::Admin];

    /// The name of the role in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Trainer => "trainer",
            Self::Publisher => "publisher",
            Self::Admin => "admin",
        }
    }

    /// The role of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// The scopes of the role in a tenant; administrators of the platform administer all of it.
    #[must_use]
    pub fn scopes(self, tenant: &str) -> Vec<Scope> {
        let mut scopes = vec![Scope::BatchesRead];
        if self >= Self::Trainer {
            scopes.push(Scope::BatchesWrite);
        }
        if self >= Self::Publisher {
            scopes.extend([Scope::PluginsPublish, Scope::PluginsPromote]);
        }
        if self == Self::Admin {
            scopes.push(Scope::Admin);
            if tenant == PLATFORM_TENANT {
                scopes.push(Scope::Platform);
            }
        }
        scopes
    }
}

/// An address in lower case, as it is kept and compared.
pub fn normal_email(text: &str) -> Result<String, String> {
    let email = text.trim().to_ascii_lowercase();
    let parts = email
        .split_once('@')
        .filter(|(local, domain)| !local.is_empty() && !domain.is_empty() && !domain.contains('@'));
    let plain = email.bytes().all(|byte| byte.is_ascii_graphic());
    if parts.is_none() || !plain || email.len() > limits::EMAIL_BYTES_MAX {
        return Err("email must be an address such as ada@example.com".into());
    }
    Ok(email)
}

/// The membership of a person in a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Membership {
    /// Name of the tenant.
    pub tenant: String,
    /// Role in the tenant.
    pub role: Role,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Person {
    /// Id of the person.
    #[schema(value_type = String)]
    pub id: PersonId,
    /// E-mail address.
    pub email: String,
    /// Name of the person.
    pub name: String,
    /// Time of the creation.
    #[schema(value_type = String)]
    pub created_at: Micros,
    /// Time since which the person is barred from signing in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub disabled_at: Option<Micros>,
    /// Whether a password was set.
    pub password: bool,
    /// Whether the person has signed in by the OpenID provider.
    pub oidc: bool,
    /// Tenants of the person, with the role in each.
    pub memberships: Vec<Membership>,
    /// A new invitation; shown only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invitation: Option<Invitation>,
}

/// A page of persons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PersonList {
    /// The persons of this page.
    pub items: Vec<Person>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `PATCH /v1/people/{id}`: absent fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetPerson {
    /// New name; unchanged when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the person is barred from signing in; their sessions end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}

/// An invitation, whose token allows its holder to set a password once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Invitation {
    /// Secret token with which the person accepts the invitation.
    pub token: String,
    /// Time at which the token expires.
    #[schema(value_type = String)]
    pub expires_at: Micros,
}

/// A member of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Member {
    /// Name of the tenant.
    pub tenant: String,
    /// Id of the person.
    #[schema(value_type = String)]
    pub person: PersonId,
    /// E-mail address.
    pub email: String,
    /// Name of the person.
    pub name: String,
    /// Role in the tenant.
    pub role: Role,
    /// Time at which the person was added.
    #[schema(value_type = String)]
    pub added_at: Micros,
    /// Time since which the person is barred from signing in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub disabled_at: Option<Micros>,
    /// Whether the person has neither set a password nor signed in.
    pub invited: bool,
    /// Invitation of a person who is new; shown only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invitation: Option<Invitation>,
}

/// A page of members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MemberList {
    /// The members of this page.
    pub items: Vec<Member>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `POST /v1/members`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddMember {
    /// Name of the tenant; your own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// E-mail address.
    pub email: String,
    /// Name of the person, if they are new.
    #[serde(default)]
    pub name: String,
    /// Role in the tenant.
    pub role: Role,
}

/// `PATCH /v1/members/{person}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetMember {
    /// Role in the tenant.
    pub role: Role,
}

/// `POST /v1/session`.
#[derive(Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// E-mail address.
    pub email: String,
    /// Password.
    pub password: String,
    /// Name of the tenant in which the session begins, if the person is a member of it; otherwise, and when absent,
    /// it begins in the one to which they have belonged for longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// `POST /v1/bootstrap`: makes the first administrator of the platform.
#[derive(Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// Token from the file `bootstrap.token` in the server's data folder.
    pub token: String,
    /// E-mail address.
    pub email: String,
    /// Name of the administrator.
    #[serde(default)]
    pub name: String,
    /// Password.
    pub password: String,
}

/// `POST /v1/invitations/accept`.
#[derive(Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptInvitation {
    /// Secret token of the invitation.
    pub token: String,
    /// Name that replaces the one in the invitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// New password.
    pub password: String,
}

/// `POST /v1/session/tenant`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchTenant {
    /// Name of the tenant to work with.
    pub tenant: String,
}

/// `POST /v1/session/password`.
#[derive(Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePassword {
    /// Current password.
    pub current: String,
    /// New password.
    pub new: String,
}

/// The ways to sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SignInMethods {
    /// Whether people sign in with a password.
    pub password: bool,
    /// Whether people sign in at an OpenID provider.
    pub oidc: bool,
    /// Whether there is no administrator yet; the token in the data folder creates the first one.
    pub bootstrap: bool,
}

/// `GET /v1/session`: the caller and their permissions.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Session {
    /// The person who calls; absent when a key calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<SessionPerson>,
    /// The key that calls; absent when a person calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<SessionKey>,
    /// Name of the tenant that the session works with.
    pub tenant: String,
    /// Role of the person in this tenant; absent if the person has none or a key calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Scopes of the caller in this tenant.
    pub scopes: Vec<Scope>,
    /// Token to be sent as the header `X-Assay-Csrf` with every call except GET and HEAD. Another tenant of the
    /// session has another token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf: Option<String>,
    /// Time at which the session ends, even if it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub expires_at: Option<Micros>,
    /// Tenants to which the session can be switched.
    #[serde(default)]
    pub tenants: Vec<Membership>,
}

/// The person of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SessionPerson {
    /// Id of the person.
    #[schema(value_type = String)]
    pub id: PersonId,
    /// E-mail address.
    pub email: String,
    /// Name of the person.
    pub name: String,
}

/// The key of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SessionKey {
    /// Id of the key.
    #[schema(value_type = String)]
    pub id: KeyId,
    /// Name of the key.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_those_before_it_may() {
        for pair in Role::ALL.windows(2) {
            let (less, more) = (pair[0].scopes("team"), pair[1].scopes("team"));
            assert!(less.len() < more.len() && less.iter().all(|scope| more.contains(scope)));
        }
        assert!(!Role::Admin.scopes("team").contains(&Scope::Platform));
        assert!(Role::Admin.scopes(PLATFORM_TENANT).contains(&Scope::Platform));
        assert!(!Role::Publisher.scopes(PLATFORM_TENANT).contains(&Scope::Platform));
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
            assert_eq!(serde_json::to_value(role).expect("plain"), role.as_str());
        }
    }

    #[test]
    fn addresses_are_kept_in_lower_case() {
        assert_eq!(normal_email(" Ada@Example.COM ").as_deref(), Ok("ada@example.com"));
        let long = format!("{}@example.com", "a".repeat(255));
        for odd in ["", "ada", "@example.com", "ada@", "a@b@c", "a b@c", "a\n@c", "ä@c", &long] {
            assert!(normal_email(odd).is_err(), "{odd}");
        }
    }
}

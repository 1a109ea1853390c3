//! `assay member` and `assay person`.

use std::process::ExitCode;

use assay_api::people::{AddMember, Invitation, Member, Person, Role, SetPerson};
use assay_core::id::PersonId;
use clap::Subcommand;

use super::ClientOptions;

#[derive(clap::Args)]
pub(super) struct MemberCommand {
    #[command(flatten)]
    client: ClientOptions,
    /// Tenant whose members are meant [default: your own]
    #[arg(long, global = true)]
    tenant: Option<String>,
    #[command(subcommand)]
    verb: MemberVerb,
}

#[derive(Subcommand)]
enum MemberVerb {
    /// List the members
    Ls,
    /// Add a person; a person without an account gets an invitation, shown only this once
    Add {
        /// Email address of the person
        email: String,
        /// Role: viewer, trainer, publisher or admin
        #[arg(long, value_parser = role)]
        role: Role,
        /// Name of a person without an account
        #[arg(long, default_value = "")]
        name: String,
    },
    /// Give a member another role
    Role {
        /// Email address of the member
        email: String,
        /// Role: viewer, trainer, publisher or admin
        #[arg(value_parser = role)]
        role: Role,
    },
    /// Remove a member, who loses access immediately
    Remove {
        /// Email address of the member
        email: String,
    },
}

fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| {
        let known: Vec<_> = Role::ALL.into_iter().map(Role::as_str).collect();
        format!("unknown role; the roles are {}", known.join(", "))
    })
}

pub(super) async fn run(options: MemberCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let tenant = options.tenant.as_deref();
    let find = async |email: &str| {
        let members = client.members(tenant).await?.items;
        let found = members.into_iter().find(|member| member.email.eq_ignore_ascii_case(email));
        found.ok_or_else(|| anyhow::anyhow!("{email} is not a member"))
    };
    let members = match options.verb {
        MemberVerb::Ls => client.members(tenant).await?.items,
        MemberVerb::Add { email, role, name } => {
            let tenant = options.tenant.clone();
            vec![client.add_member(&AddMember { tenant, email, name, role }).await?]
        }
        MemberVerb::Role { email, role } => {
            vec![client.set_role(find(&email).await?.person, tenant, role).await?]
        }
        MemberVerb::Remove { email } => {
            let member = find(&email).await?;
            client.remove_member(member.person, tenant).await?;
            vec![member]
        }
    };
    options.client.format.print(&members, |members| members.iter().map(member).collect())?;
    Ok(ExitCode::SUCCESS)
}

fn member(member: &Member) -> String {
    let state = match (member.disabled_at, member.invited) {
        (Some(_), _) => "disabled",
        (None, true) => "invited",
        (None, false) => "active",
    };
    let Member { tenant, email, name, role, .. } = member;
    let invited = invitation(member.invitation.as_ref());
    format!("{email}  {tenant}  {}  {state}  {name}\n{invited}", role.as_str())
}

fn invitation(invitation: Option<&Invitation>) -> String {
    invitation.map_or_else(String::new, |Invitation { token, expires_at }| {
        format!("invitation until {expires_at}: {token}\n")
    })
}

#[derive(clap::Args)]
pub(super) struct PersonOptions {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: PersonVerb,
}

#[derive(Subcommand)]
enum PersonVerb {
    /// List all people with their tenants
    Ls,
    /// Sign a person out, and refuse further sign-ins
    Disable {
        /// Email address of the person
        email: String,
    },
    /// Let a disabled person sign in again
    Enable {
        /// Email address of the person
        email: String,
    },
    /// Invite a person again, such as after a lost password; the old password stops working
    Invite {
        /// Email address of the person
        email: String,
    },
}

pub(super) async fn run_person(options: PersonOptions) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let find = async |email: &str| -> anyhow::Result<PersonId> {
        let people = client.people().await?.items;
        let found = people.iter().find(|person| person.email.eq_ignore_ascii_case(email));
        Ok(found.ok_or_else(|| anyhow::anyhow!("no person has the address {email}"))?.id)
    };
    let disable = async |email: &str, disabled: bool| -> anyhow::Result<Person> {
        let change = SetPerson { name: None, disabled: Some(disabled) };
        Ok(client.set_person(find(email).await?, &change).await?)
    };
    let people = match options.verb {
        PersonVerb::Ls => client.people().await?.items,
        PersonVerb::Disable { email } => vec![disable(&email, true).await?],
        PersonVerb::Enable { email } => vec![disable(&email, false).await?],
        PersonVerb::Invite { email } => vec![client.invite_person(find(&email).await?).await?],
    };
    options.client.format.print(&people, |people| people.iter().map(person).collect())?;
    Ok(ExitCode::SUCCESS)
}

fn person(person: &Person) -> String {
    let state = if person.disabled_at.is_some() { "disabled" } else { "active" };
    let roles: Vec<_> = person
        .memberships
        .iter()
        .map(|member| format!("{}={}", member.tenant, member.role.as_str()))
        .collect();
    let invited = invitation(person.invitation.as_ref());
    format!("{}  {}  {state}  {}\n{invited}", person.email, roles.join(","), person.name)
}

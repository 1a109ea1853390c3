//! `assay member` and `assay person`.

use std::process::ExitCode;

use assay_model::id::PersonId;
use assay_model::people::{AddMember, Invitation, Member, Person, Role, SetPerson};
use clap::Subcommand;

use super::{Connection, Format, print_json};

#[derive(clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,
    /// How the answer is printed
    #[arg(short = 'o', long = "format", value_enum, default_value = "text", global = true)]
    format: Format,
    /// Another tenant than your own
    #[arg(long, global = true)]
    tenant: Option<String>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the members
    Ls,
    /// Add somebody; who is new here gets an invitation, shown this once
    Add {
        email: String,
        /// viewer, trainer, publisher or admin
        #[arg(long, value_parser = role)]
        role: Role,
        /// Of who is new here
        #[arg(long, default_value = "")]
        name: String,
    },
    /// Give a member another role
    Role {
        email: String,
        #[arg(value_parser = role)]
        role: Role,
    },
    /// Remove a member, who loses access at once
    Remove { email: String },
}

fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| {
        let known: Vec<_> = Role::ALL.into_iter().map(Role::as_str).collect();
        format!("there is no such role; there are {}", known.join(", "))
    })
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let tenant = options.tenant.as_deref();
    let find = async |email: &str| {
        let members = client.members(tenant).await?.items;
        let found = members.into_iter().find(|member| member.email.eq_ignore_ascii_case(email));
        found.ok_or_else(|| anyhow::anyhow!("{email} is no member"))
    };
    let members = match options.verb {
        Verb::Ls => client.members(tenant).await?.items,
        Verb::Add { email, role, name } => {
            let tenant = options.tenant.clone();
            vec![client.add_member(&AddMember { tenant, email, name, role }).await?]
        }
        Verb::Role { email, role } => {
            vec![client.set_role(find(&email).await?.person, tenant, role).await?]
        }
        Verb::Remove { email } => {
            let member = find(&email).await?;
            client.remove_member(member.person, tenant).await?;
            vec![member]
        }
    };
    match options.format {
        Format::Json => print_json(&members)?,
        Format::Text => members.iter().for_each(print_member),
    }
    Ok(ExitCode::SUCCESS)
}

fn print_member(member: &Member) {
    let state = match (member.disabled_at, member.invited) {
        (Some(_), _) => "disabled",
        (None, true) => "invited",
        (None, false) => "active",
    };
    let Member { tenant, email, name, role, .. } = member;
    println!("{email}  {tenant}  {}  {state}  {name}", role.as_str());
    print_invitation(member.invitation.as_ref());
}

fn print_invitation(invitation: Option<&Invitation>) {
    if let Some(Invitation { token, expires_at }) = invitation {
        println!("invitation until {expires_at}: {token}");
    }
}

#[derive(clap::Args)]
pub(super) struct PersonOptions {
    #[command(flatten)]
    connection: Connection,
    /// How the answer is printed
    #[arg(short = 'o', long = "format", value_enum, default_value = "text", global = true)]
    format: Format,
    #[command(subcommand)]
    verb: PersonVerb,
}

#[derive(Subcommand)]
enum PersonVerb {
    /// List everybody, with their tenants
    Ls,
    /// Keep somebody from signing in, and sign them out
    Disable { email: String },
    /// Let somebody sign in again
    Enable { email: String },
    /// Invite somebody anew who has lost their password; the old one is gone
    Invite { email: String },
}

pub(super) async fn run_person(options: PersonOptions) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let find = async |email: &str| -> anyhow::Result<PersonId> {
        let people = client.people().await?.items;
        let found = people.iter().find(|person| person.email.eq_ignore_ascii_case(email));
        Ok(found.ok_or_else(|| anyhow::anyhow!("nobody has the address {email}"))?.id)
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
    match options.format {
        Format::Json => print_json(&people)?,
        Format::Text => people.iter().for_each(print_person),
    }
    Ok(ExitCode::SUCCESS)
}

fn print_person(person: &Person) {
    let state = if person.disabled_at.is_some() { "disabled" } else { "active" };
    let roles: Vec<_> = person
        .memberships
        .iter()
        .map(|member| format!("{}={}", member.tenant, member.role.as_str()))
        .collect();
    println!("{}  {}  {state}  {}", person.email, roles.join(","), person.name);
    print_invitation(person.invitation.as_ref());
}

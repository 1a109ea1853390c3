//! `assay key`.

use std::process::ExitCode;

use assay_model::api::{CreateKey, Key, Scope};
use assay_model::id::KeyId;
use clap::Subcommand;

use super::{Connection, Format, print_json};

#[derive(clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,
    /// How the answer is printed
    #[arg(short = 'o', long = "format", value_enum, default_value = "text", global = true)]
    format: Format,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List your tenant's keys
    Ls,
    /// Make a key; it is shown this once
    Create {
        /// What the key is for
        #[arg(long, default_value = "")]
        name: String,
        /// Another tenant than your own
        #[arg(long)]
        tenant: Option<String>,
        /// May be repeated
        #[arg(long = "scope", required = true, value_parser = scope)]
        scopes: Vec<Scope>,
    },
    /// Revoke a key at once
    Revoke { id: KeyId },
}

fn scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text).ok_or_else(|| {
        let known: Vec<_> = Scope::ALL.into_iter().map(Scope::as_str).collect();
        format!("there is no such scope; there are {}", known.join(", "))
    })
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let keys = match options.verb {
        Verb::Ls => client.keys().await?.items,
        Verb::Create { name, tenant, scopes } => {
            let wanted = CreateKey { tenant, name, scopes, expires_at: None };
            vec![client.create_key(&wanted).await?]
        }
        Verb::Revoke { id } => vec![client.revoke_key(id).await?],
    };
    match options.format {
        Format::Json => print_json(&keys)?,
        Format::Text => keys.iter().for_each(print),
    }
    Ok(ExitCode::SUCCESS)
}

fn print(key: &Key) {
    let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let state = if key.revoked_at.is_some() { "revoked" } else { "active" };
    println!(
        "{}  {}  {}  {}  {state}  {}",
        key.id,
        key.tenant,
        key.prefix,
        scopes.join(","),
        key.name
    );
    if let Some(secret) = &key.secret {
        println!("{secret}");
    }
}

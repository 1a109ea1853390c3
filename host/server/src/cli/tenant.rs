//! `assay tenant`.

use std::process::ExitCode;

use assay_model::api::CreateTenant;
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
    /// List all tenants
    Ls,
    /// Make a tenant
    Create { name: String },
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let tenants = match options.verb {
        Verb::Ls => client.tenants().await?.items,
        Verb::Create { name } => vec![client.create_tenant(&CreateTenant { name }).await?],
    };
    match options.format {
        Format::Json => print_json(&tenants)?,
        Format::Text => {
            for tenant in &tenants {
                println!("{}  {}  since {}", tenant.name, tenant.id, tenant.created_at);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

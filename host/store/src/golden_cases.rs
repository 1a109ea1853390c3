//! The golden cases of plugin versions with their results. Rows are written with their version and never change.

use assay_api::plugin::{CaseCounts, GoldenCase, GoldenCaseState};
use sqlx::PgConnection;

use super::plugins::{NewPlugin, PluginVersion, stored_digest};
use super::{Store, StoreError};

impl Store {
    /// The golden cases of a version, in the order of their files.
    pub async fn golden_cases(
        &self,
        plugin: PluginVersion<'_>,
    ) -> Result<Vec<GoldenCase>, StoreError> {
        let PluginVersion { tenant, name, version } = plugin;
        let rows = sqlx::query!(
            "select file, digest, state, name, expected, actual, reason, ran_ms from golden_cases
            where tenant_id = $1 and plugin = $2 and version = $3
            order by file",
            tenant.0,
            name,
            version,
        )
        .fetch_all(&self.pool)
        .await?;
        let unknown = || StoreError::undecodable("an unknown state");
        rows.into_iter()
            .map(|row| {
                Ok(GoldenCase {
                    digest: stored_digest(&row.digest)?,
                    state: GoldenCaseState::parse(&row.state).ok_or_else(unknown)?,
                    file: row.file,
                    name: row.name,
                    expected: row.expected,
                    actual: row.actual,
                    reason: row.reason,
                    ran_ms: row.ran_ms,
                })
            })
            .collect()
    }
}

/// Writes the cases of a version in the transaction of its publication.
pub(super) async fn insert_cases(
    connection: &mut PgConnection,
    plugin: &NewPlugin<'_>,
) -> Result<(), StoreError> {
    let NewPlugin { tenant, description, cases, .. } = plugin;
    if cases.is_empty() {
        return Ok(());
    }
    let texts = |of: fn(&GoldenCase) -> &str| -> Vec<String> {
        cases.iter().map(|case| of(case).to_owned()).collect()
    };
    let digests: Vec<Vec<u8>> = cases.iter().map(|case| case.digest.0.to_vec()).collect();
    let ran_ms: Vec<f64> = cases.iter().map(|case| case.ran_ms).collect();
    sqlx::query!(
        "insert into golden_cases (tenant_id, plugin, version, file, digest, state, name, expected,
            actual, reason, ran_ms)
        select $1, $2, $3, * from unnest($4::text[], $5::bytea[], $6::text[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::float8[])",
        tenant.0,
        description.name,
        description.version,
        &texts(|case| &case.file),
        &digests,
        &texts(|case| case.state.as_str()),
        &texts(|case| &case.name),
        &texts(|case| &case.expected),
        &texts(|case| &case.actual),
        &texts(|case| &case.reason),
        &ran_ms,
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) fn counts(cases: &[GoldenCase]) -> CaseCounts {
    let of = |state| {
        let cases = cases.iter().filter(|case| case.state == state).count();
        u32::try_from(cases).unwrap_or(u32::MAX)
    };
    CaseCounts {
        passed: of(GoldenCaseState::Passed),
        not_run: of(GoldenCaseState::NotRun),
        skipped: of(GoldenCaseState::Skipped),
    }
}

/// A count of rows, which limits keep small.
pub(super) fn count(rows: i64) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

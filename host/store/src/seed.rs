//! Fixtures: ended batches that were never dispatched, for a dashboard with much in it. They are
//! written by the statements of the group commits.

use super::admissions::{self, Admitted};
use super::outcomes::{self, Recorded};
use super::{Store, StoreError};

impl Store {
    /// Writes one batch from its announcement to its end.
    pub async fn write_ended(
        &self,
        admitted: &[Admitted],
        recorded: &[Recorded],
    ) -> Result<(), StoreError> {
        let mut connection = self.upkeep.acquire().await?;
        admissions::write(&mut connection, &admitted.iter().collect::<Vec<_>>()).await?;
        outcomes::write(&mut connection, &recorded.iter().collect::<Vec<_>>()).await?;
        Ok(())
    }

    /// Updates the statistics of the database's planner at once.
    pub async fn analyze(&self) -> Result<(), StoreError> {
        sqlx::query!("analyze").execute(&self.upkeep).await?;
        Ok(())
    }
}

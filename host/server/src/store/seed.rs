//! Ended batches that never lived, for whoever tries the dashboard with much in it: written by the
//! statements of the group commits.

use super::admissions::{self, Admitted};
use super::outcomes::{self, Recorded};
use super::{Store, StoreError};

impl Store {
    /// One batch from its announcement to its end.
    pub async fn write_ended(
        &self,
        admitted: &[Admitted],
        recorded: &[Recorded],
    ) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await?;
        // The row of a batch is there before what changes it.
        let (announced, requests) = admitted.split_at(admitted.len().min(1));
        for piece in [announced, requests] {
            admissions::write(&mut connection, &piece.iter().collect::<Vec<_>>()).await?;
        }
        outcomes::write(&mut connection, &recorded.iter().collect::<Vec<_>>()).await?;
        Ok(())
    }

    /// Tells the database's planner how much there is now, instead of waiting until it looks itself.
    pub async fn analyze(&self) -> Result<(), StoreError> {
        sqlx::query!("analyze").execute(&self.pool).await?;
        Ok(())
    }
}

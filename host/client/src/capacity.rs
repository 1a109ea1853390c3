//! Pools, their bounds and workers.

use assay_model::capacity::{Capacity, PoolCapacity, SetCapacity};
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;

impl Client {
    pub async fn capacity(&self) -> Result<Capacity, Error> {
        self.json(self.request(Method::GET, &["capacity"]), Repeat::Safe).await
    }

    /// Holds at once and over restarts.
    pub async fn set_capacity(
        &self,
        pool: &str,
        capacity: &SetCapacity,
    ) -> Result<PoolCapacity, Error> {
        let request = self.request(Method::PUT, &["capacity", pool]);
        self.json(request.json(capacity), Repeat::Safe).await
    }
}

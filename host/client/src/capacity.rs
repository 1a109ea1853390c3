//! Pools, their bounds and workers.

use assay_api::capacity::{Capacity, PoolCapacity, SetCapacity};
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;

impl Client {
    pub async fn capacity(&self) -> Result<Capacity, Error> {
        self.json(self.request(Method::GET, &["capacity"]), Repeat::Safe).await
    }

    /// Sets a pool's bounds, immediately and for later starts of the server.
    pub async fn set_capacity(
        &self,
        pool: &str,
        capacity: &SetCapacity,
    ) -> Result<PoolCapacity, Error> {
        let request = self.request(Method::PUT, &["capacity", pool]);
        self.json(request.json(capacity), Repeat::Safe).await
    }
}

//! Long arrays of calls: their items are counted as they are read, before all of them are held.

use std::fmt;
use std::marker::PhantomData;

use assay_core::limits;
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

const ITEMS_MAX: usize = limits::BATCH_REQUESTS_MAX as usize;

/// As many items as a batch may have; for serde's `deserialize_with`.
pub(crate) fn items<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    at_most(ITEMS_MAX, "items, as many as a batch may have", deserializer)
}

/// As many messages as a prompt may have; for serde's `deserialize_with`.
pub(crate) fn messages<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    at_most(limits::COMPAT_MESSAGES_MAX, "messages", deserializer)
}

/// As many items as `max`; the error calls them `what`.
pub(crate) fn at_most<'de, D, T>(
    max: usize,
    what: &'static str,
    deserializer: D,
) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(ItemsVisitor { max, what, items: PhantomData })
}

struct ItemsVisitor<T> {
    max: usize,
    what: &'static str,
    items: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ItemsVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = array.next_element()? {
            if items.len() == self.max {
                let told = format!("more than {} {}", self.max, self.what);
                return Err(A::Error::custom(told));
            }
            items.push(item);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_has_no_more_items_than_a_batch() {
        let read = |count: usize| {
            let json = format!("[{}]", vec!["1"; count].join(","));
            items::<_, u8>(&mut serde_json::Deserializer::from_str(&json)).map(|items| items.len())
        };
        assert_eq!(read(0).ok(), Some(0));
        assert_eq!(read(ITEMS_MAX).ok(), Some(ITEMS_MAX));
        let refused = read(ITEMS_MAX + 1).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|told| told.contains("more than 131072 items")));
    }
}

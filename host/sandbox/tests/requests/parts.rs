//! What the host stores for requests that are never sent: little, and for few of them.

use assay_core::limits;
use serde_json::json;

use super::*;

#[test]
fn the_parts_of_a_request_are_short() {
    let parts = |bytes: usize| {
        let run = Granted::hosts(&[]).run(&json!({"parts_unsent": {"bytes": bytes}}));
        told(&run)
    };
    let taken = |method: bool, authority: bool, path: bool| {
        json!({
            "method": method,
            "scheme": method,
            "authority": authority,
            "path": path,
            "writes": limits::HTTP_WRITE_BYTES_MAX,
        })
    };
    assert_eq!(parts(limits::HTTP_METHOD_BYTES_MAX), taken(true, true, true));
    assert_eq!(parts(limits::HTTP_METHOD_BYTES_MAX + 1), taken(false, true, true));
    assert_eq!(parts(limits::HTTP_AUTHORITY_BYTES_MAX + 1), taken(false, false, true));
    assert_eq!(parts(limits::HTTP_PATH_BYTES_MAX), taken(false, false, false));
    assert_eq!(parts(16 << 20), taken(false, false, false));
}

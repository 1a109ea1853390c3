//! Names that the resolver does not answer: what a tenant leaves unanswered holds up no other.

use assay_core::id::TenantId;

use super::*;

#[test]
fn unanswered_lookups_of_a_tenant_hold_up_no_other() {
    let server = Server::saying(ok("here"));
    let (gate, looks) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(0)));
    let network = Network::with(Arc::new({
        let (gate, looks) = (Arc::clone(&gate), Arc::clone(&looks));
        move |name| {
            if name == "stuck.example" {
                *looks.lock().expect("whole") += 1;
                // Free once the test is over, whatever its end.
                drop(gate.lock());
            }
            Ok(vec!["127.0.0.1".parse().expect("an address")])
        }
    }));
    let closed = gate.lock().expect("whole");
    let hosts =
        ["http://stuck.example".into(), format!("private:http://judge.example:{}", server.port())];
    let run = |tenant: TenantId, timeout: Duration, label: &Value| {
        let folder = tempfile::tempdir().expect("a folder");
        let granted = Granted { network: network.clone(), timeout, ..Granted::hosts(&hosts) };
        let capabilities = Capabilities { tenant, ..granted.capabilities(folder.path()) };
        let label = label.to_string();
        let mut call = StageCall { capabilities: Some(capabilities), timeout, ..call("") };
        call.request.label = &label;
        requester().run(call)
    };
    let (one, other) = (TenantId::generate(), TenantId::generate());
    let (brief, long) = (Duration::from_millis(500), Duration::from_secs(30));
    let many =
        json!({"at_once": {"authority": "stuck.example:80", "count": limits::HTTP_AT_ONCE_MAX}});
    // Their calls end, and their lookups do not.
    for _ in 0..10 {
        if *looks.lock().expect("whole") < limits::LOOKUPS_TENANT_MAX {
            run(one, brief, &many);
        }
    }
    let url = get(format!("http://judge.example:{}/", server.port()));
    let said = failed(&run(one, long, &url), ErrorCode::Unavailable);
    assert!(said.contains("are being looked up"), "{said}");
    assert_eq!(told(&run(other, long, &url))["body"], "here");
    assert_eq!(*looks.lock().expect("whole"), limits::LOOKUPS_TENANT_MAX);
    drop(closed);
}

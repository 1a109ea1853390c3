//! Calls of the store on a real PostgreSQL.

use assay_api::people::{PLATFORM_TENANT, SetPerson};
use assay_api::tenant::TenantSettings;
use assay_api::webhook::{CreateWebhook, DeliveryState, WebhookForm};
use assay_core::id::{BatchId, Digest, PersonId, TenantId};
use assay_core::plugin::Description;
use assay_core::time::Micros;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::audit::Actor;
use super::channels::Channel;
use super::keys::NewKey;
use super::people::FirstAdmin;
use super::plugins::{NewPlugin, PluginVersion, Published};
use super::samples::SampledSummary;
use super::sessions::NewSession;
use super::test_cluster::TestCluster;
use super::webhooks::NewWebhook;
use super::{Store, StoreError};

const AT: Micros = Micros::from_secs(1_790_000_000);

struct Database {
    cluster: TestCluster,
    store: Store,
    tenant: TenantId,
}

impl Database {
    async fn start() -> Self {
        let cluster = TestCluster::start().await;
        let store = cluster.connect().await;
        let settings = TenantSettings::default();
        let made = store.create_tenant("one", &settings, &Actor::Platform, AT).await;
        let tenant = made.expect("a new tenant").id;
        Self { cluster, store, tenant }
    }

    async fn run(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.store.pool).await.expect("it runs");
    }

    /// Inserts a batch with one request that ended on this day; that of a single request was sealed as it was announced.
    async fn ended(&self, day: u32, single: bool) -> BatchId {
        let id = BatchId::generate();
        sqlx::query(
            "insert into batches (
                tenant_id, id, run, iteration, plugin, version, digest, settings, state, announced_at,
                first_request_at, sealed_at, ended_at, submitted, scored, timed_out, error, reward_sum
            )
            values ($1, $2, 'run', 1, 'math', '1', decode(repeat('07', 32), 'hex'), '{}', 'done', $3, $3,
                case when $4 then $3 else $3 + interval '1 s' end, $3 + interval '2 s', 1, 1, 0, 0, 1)",
        )
        .bind(self.tenant.0)
        .bind(id.0)
        .bind(Micros::from_days(day).to_datetime())
        .bind(single)
        .execute(&self.store.pool)
        .await
        .expect("it is new");
        id
    }

    /// Publishes a version of `math` with 1,000 bytes.
    async fn publish(&self, version: &str, digest: u8) -> Published {
        let description = Description {
            name: "math".into(),
            version: version.into(),
            summary: String::new(),
            stages: Vec::new(),
            settings_schema: String::new(),
            label_schema: String::new(),
            timeout_reward: 0.0,
            deterministic: true,
        };
        let plugin = NewPlugin {
            tenant: self.tenant,
            digest: Digest([digest; 32]),
            bytes: 1_000,
            description: &description,
            imports: &[],
            cases: &[],
        };
        let done = self.store.publish_plugin(plugin, &Actor::Platform, AT).await;
        done.expect("nothing stands in the way")
    }

    /// Purges what ended before this day; returns how many batches those were, and which rows are left.
    async fn purge(&self, day: u32) -> (u64, Vec<Uuid>) {
        let before = Micros::from_days(day);
        let purged = self.store.purge_batches(self.tenant, before, before, |_| ()).await;
        let left = sqlx::query_scalar("select id from batches order by ended_at, id");
        let left = left.fetch_all(&self.store.pool).await.expect("answers");
        (purged.expect("answers"), left)
    }

    async fn stop(self) {
        self.store.close().await;
        self.cluster.stop().await;
    }
}

#[tokio::test]
async fn many_calls_that_revoke_a_revoked_key_end() {
    let database = Database::start().await;
    let (store, tenant) = (&database.store, database.tenant);
    let key = NewKey {
        tenant,
        name: "trainer",
        prefix: "prefix",
        secret_hash: Digest([7; 32]),
        scopes: &[],
        created_at: AT,
        expires_at: None,
        plugins: None,
        person: None,
    };
    let id = store.create_key(key, &Actor::Platform).await.expect("it is new");
    let mut calls = JoinSet::new();
    for _ in 0..24 {
        let store = store.clone();
        calls.spawn(async move { store.revoke_key(tenant, id, &Actor::Platform, AT).await });
    }
    for revoked in calls.join_all().await {
        assert!(revoked.expect("it is there").revoked_at.is_some());
    }
    database.stop().await;
}

#[tokio::test]
async fn of_many_calls_that_roll_back_a_version_one_does() {
    let database = Database::start().await;
    let (store, tenant) = (&database.store, database.tenant);
    let channel = Channel { tenant, plugin: "math", channel: "prod" };
    for (digest, version) in (1..).zip(["1.0.0", "1.0.1", "1.0.2"]) {
        database.publish(version, digest).await;
        let plugin = PluginVersion { tenant, name: "math", version };
        store.promote_plugin(plugin, "prod", &Actor::Platform, AT).await.expect("it is there");
    }
    let mut calls = JoinSet::new();
    for _ in 0..24 {
        let store = store.clone();
        let from = Some("1.0.2");
        calls.spawn(
            async move { store.roll_back_channel(channel, from, &Actor::Platform, AT).await },
        );
    }
    let done = calls.join_all().await;
    let refused = |done: &Result<String, StoreError>| matches!(done, Err(StoreError::Conflict(_)));
    assert_eq!(done.iter().filter(|done| refused(done)).count(), 23, "{done:?}");
    assert!(done.iter().any(|done| done.as_ref().is_ok_and(|version| version == "1.0.1")));
    database.stop().await;
}

#[tokio::test]
async fn the_last_administrator_stays_and_anybody_else_may_be_disabled() {
    let database = Database::start().await;
    let store = &database.store;
    let disable = SetPerson { name: None, disabled: Some(true) };
    let admin = async |email: &'static str, tenants: &[String]| {
        let admin = FirstAdmin { email, name: email, password_hash: "", tenants };
        store.create_first_admin(&admin, AT).await.expect("there is none")
    };
    let set = async |id: PersonId| store.set_person(id, &disable, &Actor::Platform, AT).await;
    let settings = TenantSettings::default();
    let platform = store.create_tenant(PLATFORM_TENANT, &settings, &Actor::Platform, AT).await;
    platform.expect("a new tenant");
    // The platform has no administrator.
    let other = admin("other@example.com", &["one".into()]).await;
    assert!(set(other).await.expect("it is no administrator").disabled_at.is_some());
    let last = admin("last@example.com", &[PLATFORM_TENANT.into()]).await;
    let refused = set(last).await.expect_err("the platform would have no administrator");
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
    database.stop().await;
}

/// As a newer release may leave it, which knows more kinds of incidents.
#[tokio::test]
async fn a_delivery_that_cannot_be_read_holds_up_no_other() {
    let database = Database::start().await;
    let (store, tenant) = (&database.store, database.tenant);
    let call = CreateWebhook {
        name: "chat".into(),
        url: "https://example.com/hook".into(),
        form: WebhookForm::Json,
        kinds: Vec::new(),
        platform: false,
    };
    let to = "https://example.com";
    let new = NewWebhook { tenant, call: &call, to, secret: b"secret", at: AT };
    let webhook = store.create_webhook(new, &Actor::Platform).await.expect("it is new").id;
    let test = store.test_webhook(tenant, webhook, AT).await.expect("none wait");
    database
        .run(
            "insert into webhook_deliveries (webhook_id, incident, topic, made_at, state, tries, due_at)
            select webhook_id, '{\"kind\": \"x\"}', 'x', made_at, 'waiting', 0, due_at
            from webhook_deliveries",
        )
        .await;
    for _ in 0..2 {
        let due = store.due_deliveries(AT).await.expect("the others are read");
        assert_eq!(due.iter().map(|due| due.id).collect::<Vec<_>>(), [test.id]);
    }
    let failed = sqlx::query_scalar::<_, String>(
        "select error from webhook_deliveries where state = 'failed' and tries = 1",
    );
    let error = failed.fetch_one(&store.pool).await.expect("one failed");
    assert!(error.contains("the incident of a delivery"), "{error}");
    let listed = store.webhook_deliveries(tenant, webhook).await.expect("the others are read");
    assert!(listed.len() == 1 && listed[0].state == DeliveryState::Waiting, "{listed:?}");
    // The latest is the one that failed.
    assert!(store.webhooks(tenant).await.expect("it is there")[0].latest.is_none());
    database.stop().await;
}

#[tokio::test]
async fn old_batches_are_purged_and_rows_of_single_requests_deleted_after_a_while() {
    let database = Database::start().await;
    let batch = database.ended(110, false).await;
    let single = database.ended(110, true).await;
    assert_eq!(database.purge(120).await, (2, vec![batch.0, single.0]));
    assert_eq!(database.purge(140).await, (0, vec![batch.0, single.0]));
    assert_eq!(database.purge(141).await, (0, vec![batch.0]));
    database.stop().await;
}

#[tokio::test]
async fn a_clock_that_was_years_ahead_does_not_end_retention() {
    let database = Database::start().await;
    let old = database.ended(110, false).await;
    assert_eq!(database.purge(9_000).await, (1, vec![old.0]));
    let later = database.ended(115, false).await;
    assert_eq!(database.purge(112).await, (0, vec![old.0, later.0]));
    assert_eq!(database.purge(120).await, (1, vec![old.0, later.0]));
    database.stop().await;
}

#[tokio::test]
async fn a_batch_that_expires_while_it_is_summed_up_gets_no_sums() {
    let database = Database::start().await;
    let (expired, kept) = (database.ended(110, false).await, database.ended(130, false).await);
    database
        .run(
            "insert into batch_rollups (
                tenant_id, batch_id, run, plugin, version, ended_at, scored, timed_out, error, verdicts, errors,
                worker_seconds, cost, groups, complete_groups, zero_variance_groups, stages
            )
            select tenant_id, id, run, plugin, version, ended_at, 1, 0, 0, '{}', '{}', '{}', '{}', 1, 1, 1, '[]'
            from batches",
        )
        .await;
    assert_eq!(database.purge(120).await.0, 1);
    let summary = SampledSummary {
        all_right_groups: 1,
        pass_at: "{}".into(),
        solve_rates: vec![1],
        components: "{}".into(),
    };
    for batch in [expired, kept] {
        let marked = database.store.mark_sampled(database.tenant, batch, &summary, AT).await;
        marked.expect("nothing stands in the way");
    }
    for marked in [
        "select id from batches where sampled_at is not null",
        "select batch_id from batch_rollups where solve_rates is not null",
    ] {
        let marked = sqlx::query_scalar::<_, Uuid>(marked).fetch_all(&database.store.pool).await;
        assert_eq!(marked.expect("answers"), [kept.0]);
    }
    database.stop().await;
}

#[tokio::test]
async fn a_component_counts_once_as_stored_bytes() {
    let database = Database::start().await;
    let (store, tenant) = (&database.store, database.tenant);
    for (version, digest, published, versions) in [
        ("1.0.0", 1, Published::New, 1),
        ("1.0.0", 1, Published::Already, 1),
        ("1.0.1", 2, Published::New, 2),
    ] {
        assert_eq!(database.publish(version, digest).await, published);
        assert_eq!(store.count_versions(tenant).await.expect("answers"), versions);
        let bytes = versions.cast_unsigned() * 1_000;
        assert_eq!(store.stored_bytes(tenant).await.expect("answers"), bytes);
    }
    database.stop().await;
}

#[tokio::test]
async fn a_password_changes_while_the_session_and_the_checked_password_are_there() {
    let database = Database::start().await;
    let store = &database.store;
    let (email, tenants) = ("ada@example.com", ["one".to_owned()]);
    let admin = FirstAdmin { email, name: "Ada", password_hash: "first", tenants: &tenants };
    let person = store.create_first_admin(&admin, AT).await.expect("there is none");
    let token_hash = Digest([1; 32]);
    let session = NewSession { token_hash, person, tenant: "one", password_hash: Some("first") };
    assert!(store.create_session(&session, AT).await.expect("it answers"));
    let change = async |checked, new| {
        store.set_password(person, (checked, new), token_hash, &Actor::Platform, AT).await
    };
    assert!(matches!(change("other", "second").await, Err(StoreError::NotFound(_))));
    change("first", "second").await.expect("it is the session's");
    // As when somebody else vouches for the person from now on.
    database.run("delete from sessions").await;
    assert!(matches!(change("second", "third").await, Err(StoreError::NotFound(_))));
    database.cluster.stop().await;
}

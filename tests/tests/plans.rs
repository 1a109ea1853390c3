//! No query of the server walks a table that grows: the plan of each is read, on tables that have
//! something in them and pass for a thousand times as large.
//!
//! The queries find themselves: `.sqlx` holds every checked one, and there are no others.

use std::path::Path;
use std::process::Command;

use assay_postgres::{Cluster, Options};
use assay_tests::{Psql, checkout, program};
use serde_json::Value;

/// The tables that grow with use.
const LARGE: &[&str] = &[
    "requests",
    "outcome_rows",
    "outcome_segments",
    "artifacts",
    "logs",
    "batches",
    "batch_history",
    "batch_rollups",
    "runs",
    "audit",
    "usage",
    "incidents",
    "capacity_samples",
    "sessions",
    "samples",
    "sample_texts",
];

/// Queries that may walk a table or a whole index of it: a piece of each, the table, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "from batches where ended_at is null order by id",
        "batches",
        "a starting dispatcher reads all that live, and the index holds no others",
    ),
    (
        "select h.tenant_id, h.batch_id from runs r cross join lateral",
        "runs",
        "a starting dispatcher learns from the last batches of every run",
    ),
    (
        "select h.tenant_id, h.batch_id from runs r cross join lateral",
        "batch_history",
        "the same: those batches are a good part of all that are kept",
    ),
    (
        "and m.person_id = a.actor_id ) ) as is_foreign ) o where $1::uuid is null",
        "audit",
        "the latest of all acts, in the index's order, for the platform's administrators",
    ),
    (
        "from wanted where $3 and tenant_id <> $1",
        "incidents",
        "the latest of all tenants', in the index's order, for the platform's administrators",
    ),
];

struct Query {
    sql: String,
    parameters: usize,
}

fn queries() -> Vec<Query> {
    let folder = checkout().join(".sqlx");
    let files = std::fs::read_dir(&folder).expect("the checked queries are committed");
    let queries = files.map(|file| {
        let path = file.expect("a readable folder").path();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let json: Value = serde_json::from_str(&text).expect("a query is kept as JSON");
        let sql = json["query"].as_str().expect("its text").to_owned();
        let parameters = json["describe"]["parameters"]["Left"].as_array().map_or(0, Vec::len);
        Query { sql, parameters }
    });
    // Other statements have no plan.
    let planned = ["select", "with", "insert", "update", "delete"];
    queries
        .filter(|query| planned.iter().any(|verb| query.sql.trim_start().starts_with(verb)))
        .collect()
}

/// The plan as the server gets it: prepared once, for whatever values.
fn plan(database: &Psql, query: &Query) -> Value {
    let values = vec!["null"; query.parameters].join(", ");
    let values = if values.is_empty() { values } else { format!("({values})") };
    let rows = database.rows(&format!(
        "set plan_cache_mode = force_generic_plan; prepare it as {}; \
         explain (format json, costs off) execute it {values}",
        query.sql
    ));
    let json = rows.iter().position(|row| row == "[").expect("a plan");
    serde_json::from_str(&rows[json..].join("\n")).expect("the plan is JSON")
}

/// Scans of large tables that read all of them: the table's rows one by one, or an index from end to
/// end.
fn walks(node: &Value, found: &mut Vec<String>) {
    match node {
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            let whole = match text("Node Type") {
                "Seq Scan" => true,
                "Index Scan" | "Index Only Scan" => !fields.contains_key("Index Cond"),
                _ => false,
            };
            if whole && LARGE.contains(&text("Relation Name")) {
                found.push(text("Relation Name").to_owned());
            }
            fields.values().for_each(|field| walks(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| walks(item, found)),
        _ => {}
    }
}

fn seed(url: &str, folder: &Path) {
    let mut command = Command::new(program("assay-seed"));
    command.args(["--database-url", url, "--batches", "120", "--size", "128"]);
    let seeded = command.current_dir(folder).output().expect("the seed runs");
    assert!(seeded.status.success(), "{}", String::from_utf8_lossy(&seeded.stderr));
}

/// Fills the tables that the seed leaves empty, and makes PostgreSQL plan as if each table had a thousand
/// times as many rows.
fn grow(database: &Psql) {
    for (table, columns, values) in [
        (
            "audit",
            "at, actor_kind, actor_name, action, subject",
            "now() - at * interval '1 minute', 'platform', 'x', 'key.revoke', at::text",
        ),
        (
            "incidents",
            "at, tenant_id, kind, count, detail",
            "now() - at * interval '1 minute', \
             case when at % 2 = 0 then (select id from tenants order by id limit 1) end, \
             case when at % 2 = 0 then 'batch_late' else 'worker_died' end, 1, at::text",
        ),
        (
            "capacity_samples",
            "pool, at, demand, starting, idle, busy, draining, queued, cost",
            "'cpu', now() - at * interval '1 minute', 1, 0, 0, 1, 0, 0, 1",
        ),
    ] {
        let _ = database.rows(&format!(
            "insert into {table} ({columns}) select {values} from generate_series(1, 3000) as at"
        ));
    }
    // The seed commits so many outcomes together that all are in segments.
    let _ = database.rows(
        "insert into outcome_rows select tenant_id, batch_id, seq + 1024, position + 1024, kind, reward, verdict, \
         earliest_end_at, finished_at, result::json from all_results",
    );
    let _ = database.rows(
        "insert into samples select tenant_id, id, seq, run, iteration, seq::text, null, now(), 1, \
         'scored', case when seq % 2 = 0 then 'right' else 'wrong' end, seq % 2, 0, 'mixed', '{}', \
         10, seq, 'prompt', 'response', 'label' \
         from (select * from batches order by id limit 60) as b cross join generate_series(0, 99) as seq",
    );
    let _ = database.rows(
        "insert into sample_texts select tenant_id, batch_id, seq, prompt, response, label, \
         to_tsvector('simple', 'word' || seq) from samples",
    );
    let person = "insert into people (id, email, name, created_at) \
                  select gen_random_uuid(), at || '@example.com', '', now() \
                  from generate_series(1, 500) as at";
    let member = "insert into members select t.id, p.id, 'viewer', now() from people p \
                  cross join (select id from tenants limit 1) t";
    let session = "insert into sessions select sha256(p.id::text::bytea), p.id, m.tenant_id, now(), \
                   now(), now() + interval '1 hour' from people p join members m on m.person_id = p.id";
    for statement in [person, member, session, "analyze"] {
        let _ = database.rows(statement);
    }
    let tables = LARGE.join("', '");
    let _ = database.rows(&format!(
        "update pg_class set reltuples = greatest(reltuples, 1) * 1000 where relname in ('{tables}')"
    ));
    let empty = database.rows(&format!(
        "select relname from pg_class where relname in ('{tables}') and relpages = 0"
    ));
    assert_eq!(empty, [""; 0], "nothing is in them");
}

#[tokio::test]
async fn every_query_has_an_index_that_serves_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("database");
    let cluster = Cluster::start(Options { data }).await.expect("PostgreSQL starts");
    let database = Psql::of_cluster(&cluster);
    seed(cluster.url(), folder.path());
    grow(&database);

    let queries = queries();
    assert!(queries.len() > 80, "only {} queries are there", queries.len());
    let mut faults = Vec::new();
    let mut used = vec![false; ALLOWED.len()];
    for query in &queries {
        let plan = plan(&database, query);
        let mut found = Vec::new();
        walks(&plan, &mut found);
        for table in found {
            let plain = query.sql.split_whitespace().collect::<Vec<_>>().join(" ");
            let allowed =
                |(piece, at, _): &(&str, &str, &str)| plain.contains(piece) && *at == table;
            match ALLOWED.iter().position(allowed) {
                Some(place) => used[place] = true,
                None => faults.push(format!("walks {table}: {plain}\n{plan:#}")),
            }
        }
    }
    // The eye that looks for walks sees one.
    let walk =
        Query { sql: "select count(*) from outcome_rows where verdict = $1".into(), parameters: 1 };
    let mut found = Vec::new();
    walks(&plan(&database, &walk), &mut found);
    assert_eq!(found, ["outcome_rows"]);
    cluster.stop().await;
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    let unused: Vec<_> = ALLOWED.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(unused.is_empty(), "nothing walks so any more: {unused:?}");
}

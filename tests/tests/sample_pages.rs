//! Lists of samples: prepared after a batch's end, sorted, filtered and searched, page by page.

use std::collections::BTreeMap;

use assay_api::batch::AnnounceBatch;
use assay_api::plugin::PromotePlugin;
use assay_api::request::SubmitItem;
use assay_api::sample::{SampleList, SampleSummary, SamplesPrepared, SolveRates};
use assay_api::view::RunView;
use assay_core::id::BatchId;
use assay_tests::{Answers, Host, HostOptions, Http, assay, item, until_good};
use serde_json::json;

async fn announce(host: &Host, plugin: &str, run: &str, iteration: u64, size: usize) -> BatchId {
    let call = AnnounceBatch {
        plugin: plugin.into(),
        run: run.into(),
        iteration,
        expected_size: Some(u32::try_from(size).expect("a small number")),
        group_size: Some(2),
        max_extra_delay_ms: None,
        share_equal: None,
        consumes: None,
        join: None,
        settings: None,
    };
    host.client().announce(&call).await.expect("announces").id
}

/// A batch of the tutorial's plugin, whose requests are groups of two: the label is 42, and a response
/// without an answer has the verdict `no_answer`.
async fn batch(host: &Host, plugin: &str, iteration: u64, responses: &[&str]) -> BatchId {
    let batch = announce(host, plugin, "explored/run", iteration, responses.len()).await;
    let client = host.client();
    let items: Vec<SubmitItem> = responses
        .iter()
        .enumerate()
        .map(|(at, response)| SubmitItem {
            group: Some(format!("prompt-{}", at / 2)),
            prompt: format!("Problem {at}: what is 6 * 7?\0"),
            ..item(format!("key-{at:03}"), response, r#""42""#)
        })
        .collect();
    client.submit(batch, &items).await.expect("submits");
    Answers { batch, seen: Vec::new() }.finish(&client, &items).await;
    batch
}

struct Lists {
    http: Http,
}

impl Lists {
    async fn page(&self, query: &str) -> SampleList {
        self.http.get(&format!("/v1/samples?{query}")).await.json(200)
    }

    /// All samples, by pages of two.
    async fn all(&self, query: &str) -> Vec<SampleSummary> {
        let mut samples = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.page(&format!("{query}&limit=2{after}")).await;
            assert!(page.items.len() <= 2 && page.preparing == 0, "{page:?}");
            samples.extend(page.items);
            let Some(next) = page.next else { return samples };
            let next: String = next.bytes().map(|byte| format!("%{byte:02x}")).collect();
            after = format!("&after={next}");
        }
    }

    async fn keys(&self, query: &str) -> Vec<String> {
        self.all(query).await.into_iter().map(|sample| sample.key).collect()
    }

    async fn prepared(&self, query: &str) {
        let preparing = async || self.page(query).await.preparing;
        until_good("samples are prepared", preparing, |preparing| *preparing == 0).await;
    }
}

const RESPONSES: [&str; 8] = [
    // All right.
    "Answer: 42",
    "I multiply; wait, let me check. Answer: 42",
    // All wrong.
    "Answer: 41",
    "it is forty-two",
    // Mixed.
    "Answer: 42",
    "Let me think about it for a while. Answer: 43",
    "Wait. Answer: 40",
    "check let me. Answer: 42",
];

#[tokio::test]
async fn samples_are_sorted_filtered_and_searched() {
    let mut host = Host::start(HostOptions::default());
    let plugin = host.publish("assay_plugin_hello").await;
    let lists = Lists { http: Http::new(&host) };
    let first = batch(&host, &plugin, 1, &RESPONSES).await;
    let _ = batch(&host, &plugin, 2, &["Answer: 42", "Answer: 42"]).await;
    let run = "run=explored%2Frun";
    lists.prepared(run).await;

    // Every order holds every sample once, in both directions, over pages and in a batch.
    for column in [
        "iteration",
        "reward",
        "advantage",
        "verdict",
        "kind",
        "group",
        "key",
        "prompt",
        "response",
        "label",
        "prompt_chars",
        "response_chars",
        "took_ms",
        "component",
    ] {
        for of in [run.to_owned(), format!("batch={first}"), format!("{run}&reward_max=1")] {
            let asked = format!("{of}&component=exact&sort=");
            let ids = async |order: &str| -> Vec<_> {
                let all = lists.all(&format!("{asked}{order}")).await;
                all.into_iter().map(|sample| sample.id).collect()
            };
            let (up, mut down) = (ids(column).await, ids(&format!("-{column}")).await);
            down.reverse();
            assert_eq!(up, down, "{asked}{column}");
            assert_eq!(up.len(), if of.starts_with("batch") { 8 } else { 10 });
        }
    }
    let rewards: Vec<_> = lists.all(&format!("{run}&sort=-reward")).await;
    assert!(rewards.is_sorted_by(|one, next| one.reward >= next.reward));
    let lengths = lists.all(&format!("{run}&sort=response_chars")).await;
    assert!(lengths.is_sorted_by_key(|sample| sample.response_chars));

    // Filters.
    let of = format!("batch={first}");
    assert_eq!(lists.keys(&format!("{of}&verdict=no_answer")).await, ["key-003"]);
    assert_eq!(lists.keys(&format!("{of}&group_rewards=all_right")).await, ["key-000", "key-001"]);
    assert_eq!(lists.keys(&format!("{of}&group_rewards=all_wrong")).await, ["key-002", "key-003"]);
    assert_eq!(lists.keys(&format!("{of}&group=prompt-3&reward_min=0.5")).await, ["key-007"]);
    assert_eq!(
        lists.keys(&format!("{run}&iteration_min=2&sort=key")).await,
        ["key-000", "key-001"]
    );
    assert_eq!(lists.keys(&format!("{of}&label=%2242%22")).await.len(), 8);
    assert_eq!(lists.keys(&format!("{of}&component=exact&component_max=0.5")).await.len(), 3);
    assert_eq!(lists.keys(&format!("{of}&kind=error")).await, [""; 0]);

    // A search has all words, in any case and order, or a phrase, in a run and a batch.
    for of in [of.clone(), format!("{run}&iteration_max=1")] {
        assert_eq!(lists.keys(&format!("{of}&q=WAIT&sort=key")).await, ["key-001", "key-006"]);
        assert_eq!(
            lists.keys(&format!("{of}&q=let+me+check&sort=key")).await,
            ["key-001", "key-007"]
        );
        let phrase = format!("{of}&q=%22let+me+check%22");
        assert_eq!(lists.keys(&phrase).await, ["key-001"]);
        assert_eq!(
            lists.keys(&format!("{of}&q=let+-wait&sort=-key")).await,
            ["key-007", "key-005"]
        );
        assert_eq!(
            lists.keys(&format!("{of}&q=forty+or+while&sort=key")).await,
            ["key-003", "key-005"]
        );
        assert_eq!(lists.keys(&format!("{of}&q=nowhere")).await, [""; 0]);
    }
    let _ = lists.http.get(&format!("/v1/samples?{of}&q=%2C.")).await.problem(400, "bad_request");
    solved(&host, &lists.http).await;
    assert!(host.stop());
}

/// How often the prompts of both batches were solved, and the promotions since.
async fn solved(host: &Host, http: &Http) {
    let view: RunView = http.get("/v1/runs/explored%2Frun").await.json(200);
    assert_eq!(view.promotions, []);
    let (plugin, version) = view.run.plugin.split_once('@').expect("name@version");
    let call = PromotePlugin { version: version.into() };
    let _ = host.client().promote(plugin, "next", &call).await.expect("promotes");
    let view: RunView = http.get("/v1/runs/explored%2Frun").await.json(200);
    let of = |numbers: &[(&str, f64)]| -> BTreeMap<String, f64> {
        numbers.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
    };
    // Four prompts have two samples each: one is solved by both, two by one, and one by none.
    assert_eq!(
        view.iterations.pass_at,
        [of(&[("1", 0.5), ("2", 0.75)]), of(&[("1", 1.0), ("2", 1.0)])]
    );
    let rates = view.iterations.solve_rates[0].as_ref().expect("the batch has groups");
    assert_eq!(
        (rates.from, rates.to, &rates.counts[..]),
        (0.0, 1.0, &[1, 0, 0, 0, 0, 2, 0, 0, 0, 1][..])
    );
    assert!((view.iterations.components[0]["exact"] - 4.0 / 7.0).abs() < 1e-9);
    let [promotion] = &view.promotions[..] else { panic!("{:?}", view.promotions) };
    assert_eq!(
        (&*promotion.channel, &promotion.before, promotion.rollback),
        ("next", &None, false)
    );
    assert_eq!(promotion.version, call.version);

    let path = "/v1/runs/explored%2Frun/solve-rates";
    let rates: SolveRates = http.get(&format!("{path}?group=prompt-0")).await.json(200);
    assert_eq!(
        (rates.iteration, rates.samples, rates.passed),
        (vec![1, 2], vec![2, 2], vec![2, 2])
    );
    assert_eq!((rates.mean, rates.earlier), (vec![1.0, 1.0], false));
    let rates: SolveRates = http.get(&format!("{path}?group=prompt-2")).await.json(200);
    assert_eq!((rates.samples, rates.passed), (vec![2], vec![1]));
    let rates: SolveRates = http.get(&format!("{path}?group=nobody")).await.json(200);
    assert_eq!(rates.batch, []);
    let _ = http.get(&format!("{path}?group=")).await.problem(400, "bad_request");

    let ended = assay(Some(host), &["passes", "explored/run"]);
    assert!(ended.stdout.contains("pass@1    pass@2"), "{}", ended.stdout);
    assert!(ended.stdout.contains("        1     0.500     0.750"), "{}", ended.stdout);
    let ended = assay(Some(host), &["passes", "explored/run", "--group", "prompt-2"]);
    assert!(ended.stdout.contains("1 of 2"), "{}", ended.stdout);
}

#[tokio::test]
async fn lists_say_what_is_not_prepared_and_preparation_goes_on_after_a_restart() {
    let arguments = vec!["--samples".into(), "nothing".into()];
    let mut host = Host::start(HostOptions { arguments, ..HostOptions::default() });
    let plugin = host.publish("assay_plugin_hello").await;
    let lists = Lists { http: Http::new(&host) };
    let ended = batch(&host, &plugin, 1, &RESPONSES).await;
    let open = announce(&host, &plugin, "explored/run", 2, 2).await;
    for (of, preparing) in [("run=explored%2Frun".to_owned(), 1), (format!("batch={open}"), 1)] {
        let page = lists.page(&of).await;
        assert_eq!((page.items.len(), page.preparing), (0, preparing), "{of}");
        assert_eq!(page.prepared, SamplesPrepared::Nothing);
    }

    // A part of a batch is there, as after a server that was killed; the words are left out.
    assert!(host.stop());
    host.restart_with(&["--samples", "rows"]);
    let lists = Lists { http: Http::new(&host) };
    lists.prepared(&format!("batch={ended}")).await;
    let database = host.psql();
    let _ = database.rows("delete from samples where seq > 2");
    let _ = database.rows("delete from sample_texts where seq > 2");
    let _ = database.rows("update batches set sampled_at = null");
    lists.prepared(&format!("batch={ended}")).await;
    assert_eq!(lists.keys(&format!("batch={ended}")).await.len(), 8);
    let search = format!("/v1/samples?batch={ended}&q=wait");
    let _ = lists.http.get(&search).await.problem(409, "search_is_off");

    for wrong in ["", "run=a&batch=", "run=explored%2Frun&sort=colour", "plugin=hello"] {
        let _ = lists.http.get(&format!("/v1/samples?{wrong}")).await.problem(400, "bad_request");
    }
    let _ = lists.http.get("/v1/samples?run=nobodys").await.problem(404, "not_found");
    let _: serde_json::Value =
        lists.http.post("/v1/tenants", &json!({ "name": "other" })).await.json(201);
    let call = json!({ "tenant": "other", "scopes": ["batches:read"] });
    let key: assay_api::key::Key = lists.http.post("/v1/keys", &call).await.json(201);
    let other = lists.http.with_key(key.secret.as_deref().expect("shown when it is made"));
    let _ = other.get("/v1/samples?run=explored%2Frun").await.problem(404, "not_found");
    let _ = other.get(&format!("/v1/samples?batch={ended}")).await.problem(404, "not_found");
    assert!(host.stop());
}

// Written by `make web-api` from the server's OpenAPI document.

export interface paths {
    "/compat/llama-factory/{plugin}/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A score for each text. */
        post: operations["post_compat_llama_factory_plugin_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/nemo-gym/{plugin}/{run}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Verifies a row; `ng-rollout/ID/` may precede `verify`. */
        post: operations["post_compat_nemo_gym_plugin_run_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/open-instruct/{plugin}/{run}/test_program": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs a program with each assertion appended, by the plugin `run`. */
        post: operations["post_compat_open_instruct_plugin_run_test_program"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/open-instruct/{plugin}/{run}/test_program_stdio": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs a program on each input and compares what it prints, by the plugin `run`. */
        post: operations["post_compat_open_instruct_plugin_run_test_program_stdio"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/openrlhf/{plugin}/{run}/get_reward": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rewards of a list of responses; the address without `get_reward` takes the same call. */
        post: operations["post_compat_openrlhf_plugin_run_get_reward"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/roll/{plugin}/{run}/submit_task": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submits a sample. */
        post: operations["post_compat_roll_plugin_run_submit_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/roll/{plugin}/{run}/task_result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The result of a sample that was submitted. */
        post: operations["post_compat_roll_plugin_run_task_result"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/sandbox-fusion/{plugin}/{run}/run_code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs a program by the plugin `run`. */
        post: operations["post_compat_sandbox_fusion_plugin_run_run_code"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compat/slime/{plugin}/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The reward of one sample. */
        post: operations["post_compat_slime_plugin_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics in the Prometheus text format. */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Administrative actions with their changes, the latest first. With `admin:*` alone, only those on
         *     your own tenant are returned.
         */
        get: operations["get_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Batches by their time of announcement, the newest first. The batches of single requests are left
         *     out.
         */
        get: operations["get_batches"];
        put?: never;
        /** Announce a batch: the rollout has started, and requests will come. */
        post: operations["post_batches"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A batch in its current state. With `Prefer: wait=N` the answer comes when the batch has ended,
         *     or after N seconds.
         */
        get: operations["get_batches_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Tell how many rollouts of a batch still run. Workers are planned for as many requests, until the trainer tells another
         *     number. It seals nothing, and a server that restarts does not know it any more.
         */
        patch: operations["patch_batches_id"];
        trace?: never;
    };
    "/v1/batches/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a batch. Requests that have not ended end as errors, without a reward. */
        post: operations["post_batches_id_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow a batch as server-sent events. */
        get: operations["get_batches_id_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The lines that the plugin logged for the ended requests of a batch, in the order of completion: a later
         *     call with `next` returns the lines of requests that ended meanwhile. The cursor of a result is also a
         *     value of `after`.
         */
        get: operations["get_batches_id_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The arrival and stage times of the requests of a completed batch. */
        get: operations["get_batches_id_profile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The requests of a batch in the order of admission. */
        get: operations["get_batches_id_requests"];
        put?: never;
        /**
         * Submit requests. An item whose key is already in the batch changes nothing, so that a call can
         *     be repeated.
         */
        post: operations["post_batches_id_requests"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results in the order of completion. A page has at most `limit` of them, and fewer where they are large: the next one
         *     begins at `next`, until `done`. With `Accept: application/x-ndjson` the answer is a stream
         *     that lasts until the batch has ended.
         */
        get: operations["get_batches_id_results"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/seal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Seal a batch: no more requests will come. */
        post: operations["post_batches_id_seal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/batches/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The times at which each request of a batch waited and ran, stage by stage, and the reason why
         *     the batch was late. At most 4,096 requests are shown.
         */
        get: operations["get_batches_id_timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/bootstrap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create the first administrator of the platform, and sign in. It works once. */
        post: operations["post_bootstrap"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/capacity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every pool with its bounds, workers and queue, and the planner's target with its reason. */
        get: operations["get_capacity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/capacity/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The state of the pools and the planner's decisions over time. */
        get: operations["get_capacity_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/capacity/{pool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the minimum and maximum number of workers of a pool. It takes effect at once and lasts over
         *     restarts, where it overrides the command line. Busy workers above `max` finish their requests.
         */
        put: operations["put_capacity_pool"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Incidents of your tenant, the latest first; with `platform:*` also those of the platform. They
         *     are kept for 30 days.
         */
        get: operations["get_incidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/incidents/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge an incident and earlier ones of the same tenant, kind, pool, run and code. They leave the
         *     overview, and `GET /v1/incidents?open=true`, until another one happens; `mute_hours` acknowledges those of
         *     that time too. Incidents of the platform and of other tenants need the scope `platform:*`.
         */
        post: operations["post_incidents_id_acknowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/incidents/{id}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take the acknowledgement of an incident back, with that of those like it. */
        post: operations["post_incidents_id_reopen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accept an invitation: set a password, once, and sign in. */
        post: operations["post_invitations_accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The keys of a tenant, without their secrets. */
        get: operations["get_keys"];
        put?: never;
        /** Create a key. The answer has the whole key, which is shown only once. */
        post: operations["post_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke a key at once. */
        post: operations["post_keys_id_revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a key a new secret, which is shown only once. The old secret still works for
         *     `overlap_hours`, so that its users have time to change.
         */
        post: operations["post_keys_id_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the live batches as server-sent events: first a `snapshot` (`LiveSnapshot`), then
         *     `delta`s (`LiveDelta`), at most four a second. With a recent `Last-Event-ID` the deltas since
         *     that event are sent, otherwise another snapshot.
         */
        get: operations["get_live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The members of a tenant. */
        get: operations["get_members"];
        put?: never;
        /**
         * Add a member by their address. For a new person the answer has an invitation, which is shown
         *     only once.
         */
        post: operations["post_members"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{person}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a member, who loses access at once. */
        delete: operations["delete_members_person"];
        options?: never;
        head?: never;
        /** Give a member another role. It takes effect at once. */
        patch: operations["patch_members_person"];
        trace?: never;
    };
    "/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Live batches, queues and the last incidents of your tenant, or of all tenants. */
        get: operations["get_overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** People by e-mail address. */
        get: operations["get_people"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/people/{person}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Rename a person, or bar them from signing in. */
        patch: operations["patch_people_person"];
        trace?: never;
    };
    "/v1/people/{person}/invitation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invite a person again who has lost their password. The old password and all sessions are
         *     deleted, and personal keys are revoked. The answer has the invitation, which is shown only once.
         */
        post: operations["post_people_person_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Plugins by name, each with all its versions, the newest first. A page has at most `limit` plugins. */
        get: operations["get_plugins"];
        put?: never;
        /**
         * Publish a component under the name and version that its `describe` returns, after its golden cases were
         *     run. A version whose cases fail is refused. Publishing the same bytes again changes nothing.
         */
        post: operations["post_plugins"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every version of one plugin, newest first. */
        get: operations["get_plugins_name"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The channels of a plugin, each with the version to which a rollback would point it. */
        get: operations["get_plugins_name_channels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}/channels/{channel}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Point a channel to a version. Runs that have begun keep their version. */
        put: operations["put_plugins_name_channels_channel"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}/channels/{channel}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Point a channel back to its last version that is not yanked. Runs that have begun keep their
         *     version.
         */
        post: operations["post_plugins_name_channels_channel_rollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}/versions/{version}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The golden cases of a version with their results, in the order of their files. */
        get: operations["get_plugins_name_versions_version_cases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}/versions/{version}/component": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The bytes of a version as they were published. */
        get: operations["get_plugins_name_versions_version_component"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}/versions/{version}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stage times, verdicts, outcomes and runs of a plugin version, over its last 200 batches. */
        get: operations["get_plugins_name_versions_version_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{name}/versions/{version}/yank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Yank a version: new runs cannot use it. Runs that use it keep it. */
        post: operations["post_plugins_name_versions_version_yank"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The waiting requests of each pool, batch by batch, in the order in which they are served. */
        get: operations["get_queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A request and, once it has ended, its outcome. */
        get: operations["get_requests_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/artifacts/{stage}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The artifact that a stage handed to the next one, by the stage's name. */
        get: operations["get_requests_id_artifacts_stage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The lines that the plugin logged for a request, over all stages and attempts. */
        get: operations["get_requests_id_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a request again with the same body, settings and seed, by its own version of the plugin or
         *     by another one, and compare the outcomes. The replay counts towards quotas and usage.
         */
        post: operations["post_requests_id_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rewards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Score one request and wait for its outcome. */
        post: operations["post_rewards"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Training runs, the one that was active last first. A run is active when it begins and when a
         *     batch ends.
         */
        get: operations["get_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run, its last batches as columns, and arrival curves of some of them. */
        get: operations["get_runs_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{run}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Completed batches of a run, the latest first. */
        get: operations["get_runs_run_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{run}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The lines that the plugin logged in a run, the newest batch first, and each batch in the order
         *     of its requests. A page searches at most 64 batches, so that even a page with few lines may have
         *     a `next`.
         */
        get: operations["get_runs_run_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{run}/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The samples of a run: its requests with their texts and outcomes, batch by batch in the order of
         *     announcement, as JSON Lines, CSV or Parquet. Batches whose requests were deleted at the end of their retention
         *     are left out. An answer that is cut off ends with a broken connection, never like a whole one.
         */
        get: operations["get_runs_run_samples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{run}/solve-rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The solve rate of one prompt over the batches of a run: how many samples of the group have a reward, and how many
         *     passed. It is read from the samples that are prepared after the end of a batch, of the last 20,000 of the group.
         */
        get: operations["get_runs_run_solve_rates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The samples of a run, a batch or a plugin version: requests of ended batches with the beginnings of their
         *     texts, sorted and filtered. Samples are prepared after the end of their batch; `preparing` says how many
         *     batches are not in the list yet.
         */
        get: operations["get_samples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller, their scopes, and the tenants to which they can switch. */
        get: operations["get_session"];
        put?: never;
        /** Sign in. The answer sets the cookie `assay_session`, by the name `__Host-assay_session` where browsers use TLS. */
        post: operations["post_session"];
        /** Sign out. */
        delete: operations["delete_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your personal keys in the tenant of your session, without their secrets. */
        get: operations["get_session_keys"];
        put?: never;
        /**
         * Create a personal key. It gives what both its scopes and your role in the tenant allow, and stops
         *     working when you are no longer a member. The answer has the whole key, which is shown only once.
         */
        post: operations["post_session_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke one of your personal keys at once. */
        post: operations["post_session_keys_id_revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/methods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The ways to sign in. */
        get: operations["get_session_methods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Begin to sign in by the OpenID provider. The answer redirects the browser to the provider. */
        get: operations["get_session_oidc"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * End a sign-in by the OpenID provider, which redirects the browser here. The answer redirects it to the page that
         *     asked for the sign-in.
         */
        get: operations["get_session_oidc_callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change your password. Your other sessions end. */
        post: operations["post_session_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/tenant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch the session to another of your tenants. */
        post: operations["post_session_tenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/simulations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay completed batches on a virtual clock with other settings of the planner. For a run the
         *     last 20 batches are replayed, and the first of them only serves as history.
         */
        post: operations["post_simulations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tenants by name; with `admin:*` alone, only your own. */
        get: operations["get_tenants"];
        put?: never;
        /** Create a tenant. */
        post: operations["post_tenants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A tenant with its quotas, grants and retention. */
        get: operations["get_tenants_name"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a tenant's settings. The body is a JSON merge patch (RFC 7396): absent fields stay
         *     unchanged, and null removes a quota. It takes effect at once.
         */
        patch: operations["patch_tenants_name"];
        trace?: never;
    };
    "/v1/tenants/{name}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The current use of a tenant's quotas, and its usage and cost by pool and day (UTC). A batch
         *     counts on the day on which it ends.
         */
        get: operations["get_tenants_name_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The webhooks of your tenant, each with its latest delivery. */
        get: operations["get_webhooks"];
        put?: never;
        /**
         * Tell an address of incidents. The answer has the key of the signatures, which is shown only once. The host must
         *     have been granted to your tenant (`assay tenant set NAME --hosts`).
         */
        post: operations["post_webhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a webhook with its deliveries. One that is being sent may still arrive. */
        delete: operations["delete_webhooks_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The latest deliveries to a webhook. They are kept for 30 days. */
        get: operations["get_webhooks_id_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test message within seconds. `GET /v1/webhooks/{id}/deliveries` tells whether it arrived. */
        post: operations["post_webhooks_id_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every worker, with its state and the stage that it runs. */
        get: operations["get_workers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/remote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The workers of other machines that may connect, whether or not they are connected. */
        get: operations["get_workers_remote"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/remote/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a worker of another machine: its connections end at once, its certificate is refused
         *     from now on, and its requests run elsewhere.
         */
        delete: operations["delete_workers_remote_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a token with which one worker of another machine joins a pool, once. The answer has the
         *     token, which is shown only once.
         */
        post: operations["post_workers_tokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a worker: it finishes its leases, gets no new ones, and ends. The planner may start
         *     another worker in its place.
         */
        post: operations["post_workers_id_drain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description `POST /v1/invitations/accept`. */
        AcceptInvitation: {
            /** @description Name that replaces the one in the invitation. */
            name?: string | null;
            /** @description New password. */
            password: string;
            /** @description Secret token of the invitation. */
            token: string;
        };
        /** @description `POST /v1/incidents/{id}/acknowledge`. */
        AcknowledgeIncident: {
            /**
             * Format: u-int32
             * @description Hours for which further incidents of the same tenant, kind, pool, run and code are acknowledged in
             *     advance: 0 when absent, 720 at most.
             * @default 0
             */
            mute_hours: number;
        };
        /** @description The acknowledgement of an incident and of others like it, up to a time. */
        Acknowledgement: {
            /** @description Time of the acknowledgement. */
            at: string;
            /** @description Name of the key or address of the person; `an administrator of the platform` where a tenant is not told more. */
            by: string;
            /**
             * @description Time up to which incidents of the same tenant, kind, pool, run and code are acknowledged too; it is in
             *     the future while they are muted.
             */
            until: string;
        };
        /** @description `POST /v1/members`. */
        AddMember: {
            /** @description E-mail address. */
            email: string;
            /** @description Name of the person, if they are new. */
            name?: string;
            /** @description Role in the tenant. */
            role: components["schemas"]["Role"];
            /** @description Name of the tenant; your own when absent. */
            tenant?: string | null;
        };
        /** @description `POST /v1/batches`: a rollout has started and a batch of requests will come. */
        AnnounceBatch: {
            consumes?: components["schemas"]["Consumes"] | null;
            /**
             * Format: u-int32
             * @description Number of requests after which the batch is complete without a seal.
             */
            expected_size?: number | null;
            /**
             * Format: u-int32
             * @description Number of samples of each prompt; a group is complete with this many.
             */
            group_size?: number | null;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration?: number;
            join?: components["schemas"]["JoinBatch"] | null;
            /**
             * Format: u-int32
             * @description Extra delay that the run tolerates, in milliseconds (the paper's D).
             */
            max_extra_delay_ms?: number | null;
            /** @description `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
            plugin: string;
            /**
             * @description Name of the training run, which keeps the plugin version and the settings of its first
             *     batch.
             */
            run: string;
            /** @description The plugin's settings for this run. */
            settings?: Record<string, never> | null;
            /** @description Whether equal requests to a deterministic plugin share one computation; true when absent. */
            share_equal?: boolean | null;
        };
        /** @description Arrivals of the requests of a batch over time. */
        ArrivalCurve: {
            /** @description Times since the first request in milliseconds, evenly spaced up to the last arrival. */
            at_ms: number[];
            /** @description Id of the batch. */
            batch: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /** @description Part of the requests that had arrived by each of these times. */
            share: number[];
        };
        /** @description An artifact that a stage handed to the next one, without its bytes. */
        ArtifactSummary: {
            /**
             * Format: u-int64
             * @description Size in bytes.
             */
            bytes: number;
            /** @description Content type of the artifact. */
            content_type: string;
            /** @description Time at which the artifact was stored. */
            created_at: string;
            /** @description Name of the stage that returned it. */
            stage: string;
        };
        /** @description The actor of an administrative action. */
        AuditActor: {
            /** @description Id of the key or person; absent for the platform. */
            id?: string | null;
            /** @description `key`, `person`, or `platform`: the server itself. */
            kind: string;
            /** @description Name of the key, or address of the person. */
            name: string;
            /** @description Tenant in which the key or person acted; absent where it was not noted. */
            tenant?: string | null;
        };
        /** @description One act, with what it changed. */
        AuditEntry: {
            /** @description Noun and verb, such as `key.revoke`. */
            action: string;
            /** @description Who made the change. */
            actor: components["schemas"]["AuditActor"];
            /** @description Value after the change; absent for a deleted object. */
            after?: unknown;
            /** @description Time of the change. */
            at: string;
            /** @description Value before the change; absent for a created object. */
            before?: unknown;
            /**
             * Format: int64
             * @description Id of the entry; later entries have higher ids.
             */
            id: number;
            /** @description Name or id of the changed object. */
            subject: string;
            /** @description Tenant that was changed; absent for changes to the platform. */
            tenant?: string | null;
        };
        /** @description A page of the audit log. */
        AuditPage: {
            /** @description The latest first. */
            items: components["schemas"]["AuditEntry"][];
            /**
             * Format: int64
             * @description Cursor of the next page, to be sent as `before`; absent on the last page.
             */
            next?: number | null;
        };
        /** @description A batch. */
        Batch: {
            /** @description Time of the announcement. */
            announced_at: string;
            /** @description The unit for which the trainer waits. */
            consumes?: components["schemas"]["Consumes"];
            /** @description Numbers of ended requests by ending. */
            counts: components["schemas"]["Counts"];
            /** @description Time at which the last request ended; absent before it. */
            done_at?: string | null;
            /** @description Time at which the last request is expected to end. */
            estimated_done_at?: string | null;
            /**
             * Format: u-int32
             * @description Expected number of requests; absent if the trainer gave none.
             */
            expected_size?: number | null;
            /** @description Time at which its requests and results were deleted; its totals are kept. */
            expired_at?: string | null;
            /**
             * Format: double
             * @description Time from the earliest possible end of the batch to its end, in milliseconds (the paper's
             *     d).
             */
            extra_delay_ms?: number | null;
            /** @description Time of the first request; absent before it. */
            first_request_at?: string | null;
            /**
             * Format: u-int32
             * @description Expected number of requests in a group; absent if the trainer gave none.
             */
            group_size?: number | null;
            /** @description Id of the batch. */
            id: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /**
             * Format: u-int32
             * @description Extra delay that the run tolerates, in milliseconds (the paper's D); absent if it sets none.
             */
            max_extra_delay_ms?: number | null;
            /**
             * Format: double
             * @description Mean over all requests with a reward; absent while there is none.
             */
            mean_reward?: number | null;
            /**
             * Format: u-int32
             * @description Number of requests that are still to come, by what the trainer last said of its rollouts; absent if it said
             *     nothing since the server's start.
             */
            outstanding?: number | null;
            /** @description `name@version`. */
            plugin: string;
            /** @description SHA-256 of the plugin's component. */
            plugin_digest: string;
            /** @description Name of the run. */
            run: string;
            /** @description Time at which the batch was sealed; absent before it. */
            sealed_at?: string | null;
            /** @description State. */
            state: components["schemas"]["BatchState"];
        };
        /** @description A completed batch in numbers. */
        BatchHistory: {
            /** @description Time of the announcement. */
            announced_at: string;
            /** @description Time at which the last request ended; absent before it. */
            done_at: string;
            /** @description Time at which the last request could have ended without any waiting (the paper's T). */
            earliest_end_at: string;
            /**
             * Format: double
             * @description Time from T to the end of the batch, in milliseconds (the paper's d).
             */
            extra_delay_ms: number;
            /** @description Time of the first request; absent before it. */
            first_request_at: string;
            /** @description Id of the batch. */
            id: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /** @description `name@version`. */
            plugin: string;
            /** @description SHA-256 of the plugin's component. */
            plugin_digest: string;
            /**
             * Format: u-int32
             * @description Number of requests.
             */
            requests: number;
            /** @description Name of the run. */
            run: string;
            /** @description Seconds for which workers were busy with the batch, by pool. */
            worker_seconds: {
                [key: string]: number;
            };
        };
        /** @description `GET /v1/batches`: the newest first. */
        BatchList: {
            /** @description The batches of this page. */
            items: components["schemas"]["BatchSummary"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description `GET /v1/batches/{id}/logs`: the lines of ended requests, in the order of completion. */
        BatchLogPage: {
            /** @description Whether the page is full, so that more lines may be there already. */
            full: boolean;
            /** @description The lines of this page. */
            items: components["schemas"]["RunLogLine"][];
            /** @description Cursor of the next page, to be sent as `after`; also of lines that are not there yet. */
            next: string;
        };
        /** @description `GET /v1/batches/{id}/profile`: arrival and run times of the requests of a completed batch. */
        BatchProfile: {
            /** @description The batch. */
            batch: components["schemas"]["BatchHistory"];
            /** @description The requests in the order of completion. */
            requests: components["schemas"]["RequestProfile"][];
            /** @description The stages of the plugin, in order. */
            stages: components["schemas"]["ProfileStage"][];
        };
        /**
         * @description Life of a batch: `announced -> open -> sealed -> done | cancelled | expired`.
         * @enum {string}
         */
        BatchState: "announced" | "open" | "sealed" | "done" | "cancelled" | "expired";
        /**
         * @description Filter for a list of batches: `live`, `ended`, or one state.
         * @enum {string}
         */
        BatchStateFilter: "live" | "ended" | "announced" | "open" | "sealed" | "done" | "cancelled" | "expired";
        /** @description A batch with its summary. */
        BatchSummary: {
            /** @description The batch. */
            batch: components["schemas"]["Batch"];
            /** @description Whether its extra delay is above the tolerance of its run. */
            late: boolean;
            rollup?: components["schemas"]["Rollup"] | null;
        };
        /** @description `POST /v1/bootstrap`: makes the first administrator of the platform. */
        Bootstrap: {
            /** @description E-mail address. */
            email: string;
            /** @description Name of the administrator. */
            name?: string;
            /** @description Password. */
            password: string;
            /** @description Token from the file `bootstrap.token` in the server's data folder. */
            token: string;
        };
        /** @description `GET /v1/capacity`. */
        Capacity: {
            plan?: components["schemas"]["LastPlan"] | null;
            /** @description Policy that chooses the number of workers: assay, distrs, history, zq or fixed. */
            planner: string;
            /** @description Sorted by name. */
            pools: components["schemas"]["PoolCapacity"][];
        };
        /** @description `GET /v1/capacity/history`: kept for 7 days. */
        CapacityHistory: {
            /** @description Start of the period. */
            from: string;
            /** @description Sorted by name. */
            pools: components["schemas"]["PoolHistory"][];
            /** @description End of the period. */
            to: string;
        };
        /** @description State of a pool; each number is the maximum within the sample's period. */
        CapacitySample: {
            /** @description Time of the sample. */
            at: string;
            /**
             * Format: u-int32
             * @description Number of busy workers.
             */
            busy: number;
            /**
             * Format: u-int32
             * @description Number of workers up to which demand could raise the pool; absent before the first plan.
             */
            ceiling?: number | null;
            /**
             * Format: double
             * @description Cost of the pool's workers per second, including those that start.
             */
            cost: number;
            /**
             * Format: u-int32
             * @description Number of busy workers and waiting requests.
             */
            demand: number;
            /**
             * Format: u-int32
             * @description Number of workers that finish their leases, get no new ones, and end.
             */
            draining: number;
            /**
             * Format: u-int32
             * @description Number of workers that were kept even when idle; absent before the first plan.
             */
            hold?: number | null;
            /**
             * Format: u-int32
             * @description Number of idle workers.
             */
            idle: number;
            /**
             * Format: u-int32
             * @description Number of requests that waited for a worker.
             */
            queued: number;
            /**
             * Format: u-int32
             * @description Number of workers that start.
             */
            starting: number;
            /**
             * Format: u-int32
             * @description Number of workers with which no request would wait; absent before the first plan.
             */
            zero_queue?: number | null;
        };
        /** @description Numbers of golden cases of a version, by state. No case of a published version failed. */
        CaseCounts: {
            /**
             * Format: u-int32
             * @description Number of cases that were not run.
             */
            not_run: number;
            /**
             * Format: u-int32
             * @description Number of cases that passed.
             */
            passed: number;
            /**
             * Format: u-int32
             * @description Number of cases that were skipped.
             */
            skipped: number;
        };
        /** @description `POST /v1/session/password`. */
        ChangePassword: {
            /** @description Current password. */
            current: string;
            /** @description New password. */
            new: string;
        };
        /**
         * @description The unit for which a trainer waits.
         * @enum {string}
         */
        Consumes: "batch" | "groups";
        /** @description Number of requests of a batch, by outcome. */
        Counts: {
            /**
             * Format: u-int32
             * @description Number of requests that ended as an error.
             */
            error: number;
            /**
             * Format: u-int32
             * @description Number of requests with a reward.
             */
            scored: number;
            /**
             * Format: u-int32
             * @description Requests among these that did not run, because they share the outcome of an equal request.
             */
            shared?: number;
            /**
             * Format: u-int32
             * @description Requests that were acknowledged.
             */
            submitted: number;
            /**
             * Format: u-int32
             * @description Number of requests that timed out.
             */
            timed_out: number;
        };
        /** @description The key to make. */
        CreateKey: {
            /** @description Time at which it expires; absent if it never does. */
            expires_at?: string | null;
            /** @description Name of the key. */
            name?: string;
            /** @description Plugins that the key may use, as `name` or `name@channel`; all of them when absent. */
            plugins?: string[] | null;
            /** @description Scopes. */
            scopes: components["schemas"]["Scope"][];
            /** @description Name of the tenant; your own when absent. */
            tenant?: string | null;
        };
        /** @description `POST /v1/session/keys`. */
        CreatePersonalKey: {
            /** @description Time at which it expires; absent if it never does. */
            expires_at?: string | null;
            /** @description Name of the key. */
            name?: string;
            /** @description Plugins that the key may use, as `name` or `name@channel`; all of them when absent. */
            plugins?: string[] | null;
            /**
             * @description Scopes of the key, which are some of your role's; `admin:*` and `platform:*` are for keys of the
             *     tenant alone.
             */
            scopes: components["schemas"]["Scope"][];
        };
        /** @description `POST /v1/tenants`. */
        CreateTenant: {
            /** @description Name of the tenant. */
            name: string;
            /** @description Quotas, grants and retention. */
            settings?: components["schemas"]["TenantSettings"];
        };
        /** @description `POST /v1/webhooks`. */
        CreateWebhook: {
            /** @description Form of the messages. */
            form?: components["schemas"]["WebhookForm"];
            /** @description Kinds of incidents to be told of; all of them when absent or empty. */
            kinds?: components["schemas"]["IncidentKind"][];
            /** @description Name of the webhook, unique in your tenant; 1 to 64 bytes. */
            name: string;
            /** @description Whether to be told of the platform's incidents too; needs the scope `platform:*`, in the tenant `platform`. */
            platform?: boolean;
            /**
             * @description Address that messages are posted to: a host that was granted to your tenant, https unless the grant says
             *     http. At most 2,048 bytes.
             */
            url: string;
        };
        /** @description `POST /v1/workers/tokens`: the pool of the worker that may join. */
        CreateWorkerToken: {
            /** @description Pool of the worker. */
            pool: string;
            /**
             * Format: u-int32
             * @description Time in which the token must be used, in seconds: 1 to 86400.
             */
            ttl_seconds?: number | null;
        };
        /** @description Use of a pool by a tenant on one day (UTC); a batch counts on the day on which it ended. */
        DayUsage: {
            /**
             * Format: double
             * @description Worker seconds times the cost of a worker per second at that time.
             */
            cost: number;
            /** @description Day, such as `2026-09-21`. */
            day: string;
            /** @description Name of the pool. */
            pool: string;
            /**
             * Format: u-int64
             * @description Number of requests that ran on the pool.
             */
            requests: number;
            /**
             * Format: double
             * @description Seconds for which workers were busy.
             */
            worker_seconds: number;
        };
        /**
         * @description The state of a delivery.
         * @enum {string}
         */
        DeliveryState: "waiting" | "delivered" | "failed";
        /** @description A batch that has just ended. */
        EndedBatch: {
            /** @description Numbers of ended requests by ending. */
            counts: components["schemas"]["Counts"];
            /** @description Time at which the last request ended; absent before it. */
            done_at?: string | null;
            /**
             * Format: double
             * @description Extra delay, in milliseconds (the paper's d); absent if unknown.
             */
            extra_delay_ms?: number | null;
            /** @description Id of the batch. */
            id: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /**
             * Format: double
             * @description Mean over all requests with a reward; absent if there is none.
             */
            mean_reward?: number | null;
            /** @description `name@version`. */
            plugin: string;
            /** @description Name of the run. */
            run: string;
            /** @description State. */
            state: components["schemas"]["BatchState"];
            /** @description Name of the tenant. */
            tenant: string;
        };
        /**
         * @description The reason why there is no reward.
         * @enum {string}
         */
        ErrorCode: "plugin_trap" | "plugin_error" | "out_of_memory" | "stack_overflow" | "bad_outcome" | "bad_request" | "bad_settings" | "unavailable" | "plugin_unloadable" | "worker_lost" | "lease_expired" | "cancelled";
        /** @description The ends that the planner expected of a live batch. */
        ExpectedEnds: {
            /** @description Time at which the last request ends, with its waits for workers. */
            done_at: string;
            /** @description Time at which the last request could end without any waiting (the paper's T), with those still to come. */
            earliest_end_at: string;
        };
        /** @description One golden case with its result. */
        GoldenCase: {
            /** @description Actual outcome with the plugin's explanation; empty if the case was skipped. */
            actual: string;
            /** @description SHA-256 of the file. */
            digest: string;
            /** @description Expected outcome, such as `scored, reward 1`; empty if the case was skipped. */
            expected: string;
            /** @description Name of its file in the project. */
            file: string;
            /** @description Name of the case; empty if it was skipped. */
            name: string;
            /**
             * Format: double
             * @description Run time of all stages, in milliseconds.
             */
            ran_ms: number;
            /** @description Reason why the case was not run; empty otherwise. */
            reason: string;
            /** @description State of the case. */
            state: components["schemas"]["GoldenCaseState"];
        };
        /** @description The golden cases of a version. */
        GoldenCaseList: {
            /** @description The golden cases. */
            items: components["schemas"]["GoldenCase"][];
        };
        /**
         * @description State of a golden case of a published version.
         * @enum {string}
         */
        GoldenCaseState: "passed" | "not_run" | "skipped";
        /** @description Capabilities that the tenant's plugins may use. */
        Grants: {
            /**
             * @description Whether plugins may use `assay:gpu`.
             * @default false
             */
            gpu: boolean;
            /**
             * @description Hosts that its plugins may send requests to (`wasi:http`): `api.example.com`, `*.example.com`,
             *     `host:8443` for https; `http://host` for http; `private:` before one whose addresses are not
             *     public. None when empty.
             * @default []
             */
            hosts: string[];
            /**
             * @description Names of the toolchains that plugins may use (`assay:exec`): all of them when absent, none
             *     when empty.
             * @default null
             */
            toolchains: string[] | null;
        };
        /** @description The groups of the shown requests, in the order of arrival. */
        GroupColumns: {
            /** @description Time at which the last request of the group ended; null before that. */
            completed_ms: (number | null)[];
            /** @description Numbers of requests that have ended. */
            finished: number[];
            /** @description Names of the groups. */
            name: string[];
            /** @description Numbers of requests. */
            requests: number[];
        };
        /**
         * @description How the rewards of a complete group differ.
         * @enum {string}
         */
        GroupRewards: "all_right" | "all_wrong" | "mixed";
        /** @description Bins of equal width between two bounds; both bounds are inclusive. */
        Histogram: {
            /** @description Number of values in each bin; all bins have the same width. */
            counts: number[];
            /**
             * Format: double
             * @description Start of the first bin.
             */
            from: number;
            /**
             * Format: double
             * @description End of the last bin.
             */
            to: number;
        };
        /** @description A fault that was noticed. */
        Incident: {
            acknowledged?: components["schemas"]["Acknowledgement"] | null;
            /** @description Time of its latest occurrence. */
            at: string;
            /** @description Id of the batch; absent if it concerns none. */
            batch?: string | null;
            /** @description Error code of the failed requests. */
            code?: string | null;
            /**
             * Format: u-int32
             * @description Number of affected workers or requests; for an entry for several batches, the number of
             *     batches.
             */
            count: number;
            /** @description Description as a sentence. */
            detail: string;
            /**
             * Format: int64
             * @description Id of the incident.
             */
            id: number;
            /** @description Kind of the incident. */
            kind: components["schemas"]["IncidentKind"];
            /** @description Name of the pool; absent if it concerns none. */
            pool?: string | null;
            /** @description Name of the run; absent if it concerns none. */
            run?: string | null;
            /** @description Name of the tenant; absent for incidents of the platform. */
            tenant?: string | null;
        };
        /**
         * @description The kind of an incident.
         * @enum {string}
         */
        IncidentKind: "worker_died" | "worker_killed" | "worker_start_failed" | "worker_starved" | "batch_late" | "requests_failed" | "reward_missing" | "trainer_silent" | "reward_dropped" | "verdicts_changed";
        /** @description `GET /v1/incidents`. */
        IncidentPage: {
            /** @description The latest first. */
            items: components["schemas"]["Incident"][];
            /**
             * Format: int64
             * @description Cursor of the next page, to be sent as `after`; absent on the last page.
             */
            next?: number | null;
        };
        /** @description An invitation, whose token allows its holder to set a password once. */
        Invitation: {
            /** @description Time at which the token expires. */
            expires_at: string;
            /** @description Secret token with which the person accepts the invitation. */
            token: string;
        };
        /** @description The reason why an item was rejected. */
        ItemProblem: {
            /** @description Stable code of the error. */
            code: string;
            /** @description Description as a sentence. */
            detail: string;
            /**
             * Format: u-int64
             * @description Position of the item in the call, from 1 (its line number in NDJSON).
             */
            line: number;
        };
        /**
         * @description The last batches of a run as columns, the newest last. Values of the batch summary are null for
         *     live batches and for those that ended before summaries were kept.
         */
        Iterations: {
            /**
             * @description Part of the complete groups whose rewards are all equal and above zero; null until the samples of the
             *     batch are prepared.
             */
            all_right_share: (number | null)[];
            /** @description Times of the announcements. */
            announced_at: string[];
            /** @description Ids of the batches. */
            batch: string[];
            /**
             * @description Means of the components of rewards, by name, of the first 32; empty until the samples of the batch are
             *     prepared.
             */
            components: {
                [key: string]: number;
            }[];
            /** @description Cost of these seconds, by pool. */
            cost: {
                [key: string]: number;
            }[];
            /** @description Numbers of ended requests by ending. */
            counts: components["schemas"]["Counts"][];
            /** @description Time from the first request to the end of the batch, in milliseconds. */
            duration_ms: (number | null)[];
            /** @description Times at which the batches ended; null for live ones. */
            ended_at: (string | null)[];
            /** @description Extra delay, in milliseconds (the paper's d). */
            extra_delay_ms: (number | null)[];
            /** @description Histogram of the rewards. */
            histogram: (components["schemas"]["Histogram"] | null)[];
            /** @description Numbers of the iterations. */
            iteration: number[];
            /** @description Largest reward. */
            max: (number | null)[];
            /** @description Extra delay that the run tolerates, in milliseconds; null if it sets none. */
            max_extra_delay_ms: (number | null)[];
            /** @description Mean reward. */
            mean: (number | null)[];
            /** @description Smallest reward. */
            min: (number | null)[];
            /**
             * @description pass@k by k, for powers of two: the chance that at least one of k samples of a prompt passes, by the unbiased
             *     estimator 1 - C(n-c, k) / C(n, k) for c of n samples that passed, as a mean over the groups with at least k
             *     rewards. A sample passes with a reward of at least 1. Empty without groups, and until the samples of the
             *     batch are prepared.
             */
            pass_at: {
                [key: string]: number;
            }[];
            /** @description Number of groups by solve rate, the part of their samples that passed; null where `pass_at` is empty. */
            solve_rates: (components["schemas"]["Histogram"] | null)[];
            /** @description States. */
            state: components["schemas"]["BatchState"][];
            /** @description Standard deviation of the rewards. */
            std: (number | null)[];
            /** @description Number of requests by verdict; empty without a batch summary. */
            verdicts: {
                [key: string]: number;
            }[];
            /** @description Seconds for which workers were busy, by pool. */
            worker_seconds: {
                [key: string]: number;
            }[];
            /** @description Part of the complete groups whose rewards are all equal. */
            zero_variance_share: (number | null)[];
        };
        /** @description How the processes of a trainer share a batch. The server seals it, after a time without calls. */
        JoinBatch: {
            /** @description The requests that share a batch. */
            by: components["schemas"]["JoinBy"];
            /**
             * Format: u-int32
             * @description Time after which the batch is sealed when all of its requests have ended and no more come,
             *     in milliseconds.
             */
            idle_ms: number;
        };
        /**
         * @description Which announcements get the same batch.
         * @enum {string}
         */
        JoinBy: "run" | "iteration";
        /** @description An API key, without its secret. */
        Key: {
            /** @description Time of the creation. */
            created_at: string;
            /** @description Time at which it expires; absent if it never does. */
            expires_at?: string | null;
            /** @description Id of the key. */
            id: string;
            /** @description Time of the last use, to the minute. */
            last_used_at?: string | null;
            /** @description Name of the key. */
            name: string;
            /** @description Address of the person whose personal key it is; absent for a key of the tenant. */
            person?: string | null;
            /** @description Plugins that the key may use; all of them when absent. */
            plugins?: string[] | null;
            /** @description The public part of the key. */
            prefix: string;
            /** @description Time until which the secret before the last rotation works. */
            previous_secret_until?: string | null;
            /** @description Time of the revocation; absent while it is valid. */
            revoked_at?: string | null;
            /** @description Scopes. */
            scopes: components["schemas"]["Scope"][];
            /** @description The whole key; shown only once, when it is created or rotated. */
            secret?: string | null;
            /** @description Name of the key's tenant. */
            tenant: string;
        };
        /** @description A list of API keys. */
        KeyList: {
            /** @description The keys. */
            items: components["schemas"]["Key"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description The planner's last run. */
        LastPlan: {
            /**
             * Format: double
             * @description Age of the plan, in milliseconds.
             */
            age_ms: number;
            /** @description Time of the state that the plan is based on. */
            at: string;
            /**
             * Format: u-int64
             * @description Number of requests in the simulated workload.
             */
            requests: number;
            /**
             * Format: u-int64
             * @description Number of simulations.
             */
            simulations: number;
            /**
             * Format: double
             * @description Time in which the plan was computed, in milliseconds.
             */
            took_ms: number;
        };
        /** @description The reasons for the time at which a batch ended. */
        Lateness: {
            /** @description Delays of the critical request. */
            critical: components["schemas"]["RequestDelay"];
            /**
             * Format: double
             * @description Time from T to the end of the batch, in milliseconds (the paper's d).
             */
            extra_delay_ms: number;
            /**
             * @description Delays of the request that ended last; d is the sum of its waits and the rest, less its
             *     slack.
             */
            last: components["schemas"]["RequestDelay"];
            /** @description Whether the extra delay is above the tolerance D. */
            late: boolean;
            /** @description The reason as a sentence with numbers. */
            reason: string;
        };
        /** @description Workers that will be ended for one reason. */
        LeavingWorkers: {
            /** @description The reason as a clause, such as that of Kubernetes. */
            reason: string;
            /** @description The time at which the first of them was known to leave. */
            since: string;
            /**
             * Format: u-int32
             * @description Number of workers that leave.
             */
            workers: number;
        };
        /** @description A batch that has not ended. */
        LiveBatch: {
            /** @description Time of the announcement. */
            announced_at: string;
            /** @description Numbers of ended requests by ending. */
            counts: components["schemas"]["Counts"];
            /** @description T + D. */
            due_at?: string | null;
            /**
             * @description Time at which the last request could end without any waiting, as far as known now (the
             *     paper's T).
             */
            earliest_end_at?: string | null;
            /** @description Time at which its last request is expected to end. */
            estimated_done_at?: string | null;
            /**
             * Format: u-int32
             * @description Expected number of requests; absent if the trainer gave none.
             */
            expected_size?: number | null;
            /** @description Time of the first request; absent before it. */
            first_request_at?: string | null;
            /** @description Id of the batch. */
            id: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /** @description Time at which the latest request came. */
            last_request_at?: string | null;
            /** @description `name@version`. */
            plugin: string;
            /**
             * Format: u-int32
             * @description Number of requests that wait now, also those that wait until memory for artifacts is free.
             */
            queued: number;
            /** @description Name of the run. */
            run: string;
            /**
             * Format: u-int32
             * @description Number of requests that run now.
             */
            running: number;
            /** @description State. */
            state: components["schemas"]["BatchState"];
            /** @description Name of the tenant. */
            tenant: string;
            /**
             * Format: double
             * @description Tolerated extra delay in milliseconds (the paper's D).
             */
            tolerance_ms: number;
        };
        /** @description The event `delta` of `GET /v1/live`: the changes, at most four times a second. */
        LiveDelta: {
            /** @description Time of this state. */
            at: string;
            /** @description New or changed batches; each replaces its earlier version. */
            batches: components["schemas"]["LiveBatch"][];
            /**
             * Format: u-int32
             * @description Number of live batches, including those that are not listed.
             */
            batches_total: number;
            /** @description Batches that have ended since the last event. */
            ended: components["schemas"]["EndedBatch"][];
            /** @description New incidents, and incidents with a higher count under the same id. */
            incidents: components["schemas"]["Incident"][];
            /** @description Ids of batches that are still live but no longer among the most urgent. */
            left: string[];
            /** @description Changed pools; only with the scope `platform:*`. */
            pools: components["schemas"]["PoolCapacity"][];
            /** @description The whole queue, if it has changed. */
            queue?: components["schemas"]["StageQueue"][] | null;
        };
        /** @description The event `snapshot` of `GET /v1/live`: the whole state. */
        LiveSnapshot: {
            /** @description Time of this state. */
            at: string;
            /** @description Live batches, the most urgent first, at most 200. */
            batches: components["schemas"]["LiveBatch"][];
            /**
             * Format: u-int32
             * @description Number of live batches, including those that are not listed.
             */
            batches_total: number;
            /** @description Pools; only with the scope `platform:*`. */
            pools?: components["schemas"]["PoolCapacity"][] | null;
            /** @description Waiting and running requests by stage. */
            queue: components["schemas"]["StageQueue"][];
        };
        LlamaFactoryBatch: {
            /** @description Prompt and response in one, with the chat template. */
            messages: string[];
        };
        LlamaFactoryScores: {
            scores: number[];
        };
        /** @description One line of a plugin's log. */
        LogLine: {
            /** @description Level: `debug`, `info`, `warn`, `error`, or `stderr`. */
            level: string;
            /** @description The message. */
            message: string;
            /** @description Name of the stage. */
            stage: string;
        };
        /** @description `GET /v1/runs/{run}/logs`: the newest batch first, and each batch in the order of its requests. */
        LogPage: {
            /** @description The lines of this page. */
            items: components["schemas"]["RunLogLine"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description A member of a tenant. */
        Member: {
            /** @description Time at which the person was added. */
            added_at: string;
            /** @description Time since which the person is barred from signing in. */
            disabled_at?: string | null;
            /** @description E-mail address. */
            email: string;
            invitation?: components["schemas"]["Invitation"] | null;
            /** @description Whether the person has neither set a password nor signed in. */
            invited: boolean;
            /** @description Name of the person. */
            name: string;
            /** @description Id of the person. */
            person: string;
            /** @description Role in the tenant. */
            role: components["schemas"]["Role"];
            /** @description Name of the tenant. */
            tenant: string;
        };
        /** @description A page of members. */
        MemberList: {
            /** @description The members of this page. */
            items: components["schemas"]["Member"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description The membership of a person in a tenant. */
        Membership: {
            /** @description Role in the tenant. */
            role: components["schemas"]["Role"];
            /** @description Name of the tenant. */
            tenant: string;
        };
        /** @description The row with its reward, its components as numbers, or a mask. */
        NemoGymAnswer: {
            failure_reason?: string | null;
            mask_sample?: boolean | null;
            /**
             * Format: double
             * @description The reward; absent in a masked answer, unless the address names a value for it.
             */
            reward?: number | null;
        } & {
            [key: string]: unknown;
        };
        NemoGymParams: {
            input?: components["schemas"]["TrainerPrompt"];
        };
        NemoGymResponse: {
            output?: components["schemas"]["TrainerMessage"][];
        };
        /** @description A row of a data set with the model's response. All other fields are the row's own: the label among them. */
        NemoGymRow: {
            response: components["schemas"]["NemoGymResponse"];
            responses_create_params: components["schemas"]["NemoGymParams"];
        } & {
            [key: string]: unknown;
        };
        OpenInstructProgram: {
            /** Format: double */
            max_execution_time?: number | null;
            program: string;
            /** @description A list, or a text with one: as JSON, or pickled, compressed and in base64. */
            tests: unknown;
        };
        /** @description The results of the tests. */
        OpenInstructResults: {
            /** @description 1 for each test that passed, else 0. */
            results: number[];
            /** @description Seconds; -1 for a test that failed. */
            runtimes: number[];
        };
        OpenRlhfBatch: {
            labels?: unknown[];
            prompts?: components["schemas"]["TrainerPrompt"][];
            query: string[];
        };
        OpenRlhfRewards: {
            extra_logs: {
                [key: string]: number[];
            };
            rewards: number[];
            /** @description The rewards between 0 and 1 from which curves are drawn. */
            scores: number[];
        };
        /** @description The end of a request, as a trainer gets it. An error never has a reward. */
        Outcome: (components["schemas"]["Scored"] & {
            /** @enum {string} */
            kind: "scored";
        }) | {
            /** @enum {string} */
            kind: "timed_out";
            /**
             * Format: double
             * @description The plugin's reward for timeouts.
             */
            reward: number;
            /** @description Name of the stage. */
            stage: string;
        } | {
            /**
             * Format: u-int32
             * @description Number of attempts.
             */
            attempts: number;
            /** @description Stable code of the error. */
            code: components["schemas"]["ErrorCode"];
            /** @enum {string} */
            kind: "error";
            /** @description Description for people. */
            message: string;
            /** @description Whether the same request may succeed if it is sent again. */
            retryable: boolean;
        };
        /** @description `GET /v1/overview`: the live batches and their state in the scheduler. */
        Overview: {
            /** @description Time of the scheduler's state. */
            at: string;
            /** @description Live batches, the most urgent first, at most 200. */
            batches: components["schemas"]["LiveBatch"][];
            /**
             * Format: u-int32
             * @description Number of live batches, including those that are not listed.
             */
            batches_total: number;
            /** @description Incidents, as by `GET /v1/incidents?grouped=true&open=true`, the latest first, at most 20. */
            incidents: components["schemas"]["Incident"][];
            /** @description Pools; only with the scope `platform:*`. */
            pools?: components["schemas"]["PoolCapacity"][] | null;
            /** @description Waiting and running requests by plugin, stage and pool, including single requests. */
            queue: components["schemas"]["StageQueue"][];
        };
        /** @description A person. */
        Person: {
            /** @description Time of the creation. */
            created_at: string;
            /** @description Time since which the person is barred from signing in. */
            disabled_at?: string | null;
            /** @description E-mail address. */
            email: string;
            /** @description Id of the person. */
            id: string;
            invitation?: components["schemas"]["Invitation"] | null;
            /** @description Tenants of the person, with the role in each. */
            memberships: components["schemas"]["Membership"][];
            /** @description Name of the person. */
            name: string;
            /** @description Whether the person has signed in by the OpenID provider. */
            oidc: boolean;
            /** @description Whether a password was set. */
            password: boolean;
        };
        /** @description A page of persons. */
        PersonList: {
            /** @description The persons of this page. */
            items: components["schemas"]["Person"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description The reason why that start is too late. */
        PlanBecause: {
            /** @description Latest time at which the batch may end. */
            by_at: string;
            /** @description Time at which the batch would end. */
            end_at: string;
            /** @enum {string} */
            kind: "late";
        } | {
            /** @description Latest time at which the batch may end. */
            by_at: string;
            /** @enum {string} */
            kind: "may_time_out";
            /** @description Latest time at which the request could end. */
            latest_at: string;
        } | {
            /**
             * Format: double
             * @description Budget for the delay, in milliseconds.
             */
            budget_ms: number;
            /**
             * Format: double
             * @description Expected delay, in milliseconds.
             */
            expected_ms: number;
            /** @enum {string} */
            kind: "risk";
        } | {
            /** @enum {string} */
            kind: "waits";
            /**
             * Format: double
             * @description Largest mean wait that is allowed, in milliseconds.
             */
            max_ms: number;
            /**
             * Format: double
             * @description Mean wait of the requests, in milliseconds.
             */
            mean_ms: number;
        };
        /** @description A change of the planner's target for a pool. */
        PlanDecision: {
            /** @description Time of the plan. */
            at: string;
            /**
             * Format: u-int32
             * @description Number of workers up to which demand may raise the pool.
             */
            ceiling: number;
            /**
             * Format: u-int32
             * @description Ceiling before the change; absent if unknown.
             */
            ceiling_before?: number | null;
            /**
             * Format: u-int32
             * @description Number of workers that are kept even when they are idle.
             */
            hold: number;
            /**
             * Format: u-int32
             * @description Target before the change; absent if unknown.
             */
            hold_before?: number | null;
            /** @description The reason as a sentence. */
            why: string;
        };
        /** @description The reason for a pool's ceiling. */
        PlanReason: {
            /** @enum {string} */
            kind: "idle";
        } | {
            /** @enum {string} */
            kind: "held";
        } | {
            /** @enum {string} */
            kind: "mode";
        } | {
            /** @enum {string} */
            kind: "minimum";
        } | {
            /** @enum {string} */
            kind: "maximum";
            /**
             * Format: u-int32
             * @description Number of workers that the plan needed.
             */
            wanted: number;
        } | {
            /** @enum {string} */
            kind: "unknown";
        } | {
            /** @enum {string} */
            kind: "needed";
        } | {
            /** @description Id of the batch. */
            batch: string;
            /** @description The reason why that start is too late. */
            because: components["schemas"]["PlanBecause"];
            /** @enum {string} */
            kind: "bound";
            /** @description Time at which a request of the batch would be ready for the stage. */
            ready_at: string;
            /** @description Name of the run. */
            run: string;
            /**
             * Format: u-int32
             * @description Number of the stage, from 0.
             */
            stage: number;
            /** @description Time at which the request would start. */
            start_at: string;
        };
        /** @description One version of a plugin. */
        Plugin: {
            /** @description Channels that point to this version, such as `prod`. */
            channels: string[];
            /** @description Whether equal input always has an equal reward. */
            deterministic: boolean;
            /** @description SHA-256 of the component. */
            digest: string;
            /** @description Numbers of golden cases by state; all 0 if the version has none. */
            golden_cases?: components["schemas"]["CaseCounts"];
            /** @description JSON Schema of the labels; absent if there is none. */
            label_schema?: unknown;
            /** @description Name of the plugin. */
            name: string;
            /** @description Time of the publication. */
            published_at: string;
            /** @description Name of the key, or address of the person, that published it; absent if unknown. */
            published_by?: string | null;
            /** @description JSON Schema of the settings; absent if there is none. */
            settings_schema?: unknown;
            /** @description The stages, in order. */
            stages: components["schemas"]["Stage"][];
            /** @description Summary for people. */
            summary: string;
            /**
             * Format: double
             * @description Reward of a request when a stage exceeds its timeout.
             */
            timeout_reward: number;
            /** @description Version. */
            version: string;
            /** @description Reason why no new run may use this version; absent while it is not yanked. */
            yanked?: string | null;
        };
        /** @description A channel of a plugin. */
        PluginChannel: {
            /** @description Name of the channel. */
            channel: string;
            /** @description Time at which it was last promoted or rolled back. */
            promoted_at: string;
            /** @description Version that a rollback chooses: the last one before that is not yanked; absent if there is none. */
            rolls_back_to?: string | null;
            /** @description Version to which it points. */
            version: string;
        };
        /** @description `GET /v1/plugins/{name}/channels`: sorted by name. */
        PluginChannelList: {
            /** @description The channels. */
            items: components["schemas"]["PluginChannel"][];
        };
        /** @description A page of versions of plugins. */
        PluginList: {
            /** @description The versions of this page. */
            items: components["schemas"]["Plugin"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description `GET /v1/plugins/{name}/versions/{version}/stats`: totals over the last batches of a version. */
        PluginStats: {
            /**
             * Format: u-int32
             * @description Number of batches in these totals.
             */
            batches: number;
            /** @description Numbers of ended requests by ending. */
            counts: components["schemas"]["Counts"];
            /** @description Numbers of requests without a reward, by error code. */
            errors: {
                [key: string]: number;
            };
            /** @description End of the first of these batches; `to` is the end of the last one. */
            from?: string | null;
            /**
             * Format: double
             * @description Mean over all requests with a reward; absent while there is none.
             */
            mean_reward?: number | null;
            /** @description `name@version`. */
            plugin: string;
            /** @description Names of the runs of these batches. */
            runs: components["schemas"]["RunOnVersion"][];
            /** @description Run times by stage. */
            stages: components["schemas"]["StageHistogram"][];
            /** @description End of the last of these batches. */
            to?: string | null;
            /** @description Numbers of requests by verdict. */
            verdicts: {
                [key: string]: number;
            };
        };
        /** @description The capacity of a pool. */
        PoolCapacity: {
            /**
             * Format: double
             * @description Cost of a worker per second.
             */
            cost: number;
            /**
             * @description Workers that Assay did not ask to end and that will be ended, such as by an eviction, by the reason, the most
             *     common one first. They finish their leases and get no new ones.
             */
            leaving?: components["schemas"]["LeavingWorkers"][];
            /**
             * Format: u-int32
             * @description Maximum number of workers.
             */
            max: number;
            /**
             * Format: u-int32
             * @description Minimum number of workers, kept even when no batch is live.
             */
            min: number;
            /** @description Name of the pool. */
            pool: string;
            /**
             * Format: u-int64
             * @description Number of requests that wait for a worker.
             */
            queued: number;
            /**
             * Format: double
             * @description Recently measured start time of a worker, in milliseconds.
             */
            startup_ms?: number | null;
            target?: components["schemas"]["PoolTarget"] | null;
            trouble?: components["schemas"]["StartTrouble"] | null;
            /**
             * @description Starting workers that have no place yet, by the reason, the most common one first; empty while the pool's
             *     launcher places workers at once.
             */
            waiting?: components["schemas"]["WaitingWorkers"][];
            /** @description Numbers of workers by state. */
            workers: components["schemas"]["PoolWorkers"];
        };
        /** @description The samples and plans of a pool. */
        PoolHistory: {
            /** @description Changes of the target, the latest first, at most 100. */
            decisions: components["schemas"]["PlanDecision"][];
            /** @description Name of the pool. */
            pool: string;
            /** @description Samples in the order of time, at most 500; each holds until the next one. */
            samples: components["schemas"]["CapacitySample"][];
        };
        /** @description The queue of a pool. */
        PoolQueue: {
            /**
             * @description Waiting batches in the order in which they are served within their tenant (earliest batch
             *     first), at most 50.
             */
            batches: components["schemas"]["QueuedBatch"][];
            /**
             * Format: u-int32
             * @description Number of waiting batches, including those that are not listed.
             */
            batches_total: number;
            /** @description Name of the pool. */
            pool: string;
            /**
             * Format: u-int64
             * @description Number of requests that wait for a worker.
             */
            queued: number;
            /**
             * @description Tenants with waiting requests or workers: those that wait, and those for which they wait. The one with the
             *     most workers comes first, at most 50.
             */
            tenants?: components["schemas"]["PoolTenant"][];
        };
        /** @description The planner's target for a pool, with its reason. */
        PoolTarget: {
            /**
             * Format: u-int32
             * @description Number of workers up to which demand may raise the pool.
             */
            ceiling: number;
            /**
             * Format: u-int32
             * @description Number of workers that are kept even when they are idle.
             */
            hold: number;
            /** @description The reason for the target, for programs. */
            reason: components["schemas"]["PlanReason"];
            /** @description The reason as a sentence. */
            why: string;
            /**
             * Format: u-int32
             * @description Number of workers with which no request would wait.
             */
            zero_queue: number;
        };
        /** @description A tenant's requests and workers of one pool. */
        PoolTenant: {
            /**
             * Format: u-int64
             * @description Number of requests that wait for a worker.
             */
            queued: number;
            /** @description Name of the tenant. */
            tenant: string;
            /**
             * Format: u-int32
             * @description Number of workers that serve the tenant.
             */
            workers: number;
            /**
             * Format: u-int32
             * @description Maximum number of workers by the tenant's quota; absent without one.
             */
            workers_max?: number | null;
        };
        /** @description Number of workers, by state. */
        PoolWorkers: {
            /**
             * Format: u-int32
             * @description Number of busy workers.
             */
            busy: number;
            /**
             * Format: u-int32
             * @description Workers that finish their leases, get no new ones, and end.
             */
            draining: number;
            /**
             * Format: u-int32
             * @description Number of idle workers.
             */
            idle: number;
            /**
             * Format: u-int32
             * @description Idle and busy workers among them that joined by themselves; the bounds of the pool do not count them.
             */
            joined?: number;
            /**
             * Format: u-int32
             * @description Requested workers that have not joined yet.
             */
            starting: number;
        };
        /** @description RFC 9457 problem, `application/problem+json`. */
        Problem: {
            /** @description Stable code of the error, for programs. */
            code: string;
            /** @description Description as a sentence. */
            detail: string;
            /**
             * @description Member of the body that is at fault, with dots between levels, such as
             *     `quotas.workers_max.cpu`; absent if it is none or not a single one.
             */
            field?: string | null;
            /** @description Advice on what to do. */
            hint?: string | null;
            /** @description Id of the HTTP request, as in the server's log. */
            request_id?: string | null;
            /**
             * Format: u-int16
             * @description HTTP status.
             */
            status: number;
            /** @description Title of the HTTP status. */
            title: string;
            /** @description URI of the problem type. */
            type: string;
        };
        /** @description A stage as it was when the batch ran. */
        ProfileStage: {
            /** @description Name of the stage. */
            name: string;
            /** @description Name of the pool. */
            pool: string;
            /**
             * Format: u-int32
             * @description Maximum number of retries of the stage.
             */
            retries_max: number;
            /**
             * Format: u-int32
             * @description Timeout of the stage, in milliseconds.
             */
            timeout_ms: number;
        };
        /** @description `PUT /v1/plugins/{name}/channels/{channel}`. */
        PromotePlugin: {
            /** @description Version to which the channel points from now on. */
            version: string;
        };
        /** @description A change of the version that a channel of a plugin points to. */
        Promotion: {
            /** @description Time of the change. */
            at: string;
            /** @description Version that it pointed to before; absent for a new channel. */
            before?: string | null;
            /** @description Name of the channel. */
            channel: string;
            /** @description Whether it was a rollback. */
            rollback: boolean;
            /** @description Version that it points to since then. */
            version: string;
        };
        /** @description Quantiles of times. */
        Quantiles: {
            /**
             * Format: double
             * @description Maximum, in milliseconds.
             */
            max_ms: number;
            /**
             * Format: double
             * @description Median, in milliseconds.
             */
            median_ms: number;
            /**
             * Format: double
             * @description 95th percentile, in milliseconds.
             */
            p95_ms: number;
        };
        /** @description `GET /v1/queue`: the waiting requests of each pool. */
        QueueList: {
            /** @description Time of this state. */
            at: string;
            /** @description Sorted by name; pools without waiting requests are absent. */
            pools: components["schemas"]["PoolQueue"][];
        };
        /** @description The waiting requests of one batch in one pool. */
        QueuedBatch: {
            /** @description Time T as far as known now, by which the batches are sorted. */
            earliest_end_at?: string | null;
            /** @description Id of the batch. */
            id: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /**
             * Format: u-int32
             * @description Number of requests that wait for a worker.
             */
            queued: number;
            /** @description Name of the run. */
            run: string;
            /**
             * Format: u-int32
             * @description Number of requests that run.
             */
            running: number;
            /** @description Name of the tenant. */
            tenant: string;
        };
        /** @description Quotas. An absent one is limited only by the platform. */
        Quotas: {
            /**
             * Format: u-int32
             * @description Maximum number of batches that have not ended; a single request counts as one.
             * @default null
             */
            open_batches_max: number | null;
            /**
             * Format: u-int32
             * @description Requests per minute, as a token bucket that holds one minute's worth. A batch is admitted
             *     while the bucket is not empty and takes its whole expected size, so that no batch is refused
             *     half-way.
             * @default null
             */
            requests_per_minute_max: number | null;
            /**
             * Format: u-int64
             * @description Maximum stored bytes of requests, artifacts, results, logs and components of plugins.
             * @default null
             */
            stored_bytes_max: number | null;
            /**
             * @description Maximum number of workers at the same time, by pool.
             * @default {}
             */
            workers_max: {
                [key: string]: number;
            };
        };
        /** @description A worker of another machine whose certificate is valid. */
        RemoteWorker: {
            /** @description Whether it is connected now. */
            connected: boolean;
            /** @description End of its newest certificate. */
            expires_at: string;
            /** @description Its identity in its certificate, and its ticket in the list of workers. */
            id: string;
            /** @description Time at which the worker joined. */
            joined_at: string;
            /** @description Name of the machine, as the worker says it. */
            machine: string;
            /** @description Name of the pool. */
            pool: string;
        };
        /** @description `GET /v1/workers/remote`. */
        RemoteWorkerList: {
            /** @description Sorted by the time of their join. */
            items: components["schemas"]["RemoteWorker"][];
        };
        /** @description The outcome of a request that ran again with the same body, settings and seed. */
        Replay: {
            /** @description Whether kind, verdict and reward are equal. */
            agrees: boolean;
            /** @description Names of the values that differ: `kind`, `verdict`, `reward`. */
            differences: string[];
            /** @description The recorded computation. */
            recorded: components["schemas"]["ReplaySide"];
            /** @description The new computation. */
            replayed: components["schemas"]["ReplaySide"];
            /** @description Id of the recorded request. */
            request: string;
        };
        /** @description `POST /v1/requests/{id}/replay`. */
        ReplayRequest: {
            /** @description Version of the same plugin that runs the request; the request's own when absent. */
            version?: string | null;
        };
        /** @description One of the two computations of a replay. */
        ReplaySide: {
            /** @description Id of the request. */
            id: string;
            /** @description The outcome. */
            outcome: components["schemas"]["Outcome"];
            /** @description `name@version`. */
            plugin: string;
            /** @description SHA-256 of the plugin's component. */
            plugin_digest: string;
            /** @description Times of the stages that ran. */
            stages: components["schemas"]["StageTime"][];
        };
        /** @description One request with everything that is stored about it. */
        Request: {
            /** @description Time of the arrival. */
            arrived_at: string;
            context?: components["schemas"]["RequestContext"] | null;
            /** @description Name of the group; absent without one. */
            group?: string | null;
            /** @description Id of the request. */
            id: string;
            /** @description Key of the request, which is unique in its batch. */
            key: string;
            /** @description The label, which the plugin compares with. */
            label?: unknown;
            /** @description Metadata for the plugin. */
            metadata?: unknown;
            /** @description The prompt. */
            prompt: string;
            /** @description The response. */
            response: string;
            result?: components["schemas"]["ResultItem"] | null;
        };
        /** @description The requests of a timeline, in the order of admission. */
        RequestColumns: {
            /** @description Times of arrival, in milliseconds. */
            arrived_ms: number[];
            /** @description Times of the ends, in milliseconds; null while it waits or runs. */
            finished_ms: (number | null)[];
            /** @description Index into the list of groups. */
            group: (number | null)[];
            /** @description Keys. */
            key: string[];
            /** @description `scored`, `timed_out` or `error`; null while it waits or runs. */
            kind: (string | null)[];
            /** @description Rewards; null without one. */
            reward: (number | null)[];
            /** @description Positions in the batch, from 0. */
            seq: number[];
            /** @description One element for each stage. */
            stages: components["schemas"]["StageColumns"][];
            /** @description The plugin's verdict, `timed_out`, or the error's code; null while it waits or runs. */
            verdict: (string | null)[];
        };
        /** @description The run and batch of a request, and its stages in time. */
        RequestContext: {
            /** @description Artifacts that its stages returned. */
            artifacts: components["schemas"]["ArtifactSummary"][];
            /** @description State of the batch. */
            batch_state: components["schemas"]["BatchState"];
            /** @description Time at which it could have ended without any waiting. */
            earliest_end_at?: string | null;
            /** @description Time of the end; absent while it waits or runs. */
            finished_at?: string | null;
            /** @description Arrival of the first request of its batch. */
            first_request_at?: string | null;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /** @description `name@version`. */
            plugin: string;
            /** @description SHA-256 of the plugin's component. */
            plugin_digest: string;
            /** @description Name of the run. */
            run: string;
            /** @description Settings of the run. */
            settings: Record<string, never>;
            /** @description The stages that have ended, in order. */
            spans: components["schemas"]["Span"][];
        };
        /** @description The delays of one request. */
        RequestDelay: {
            /**
             * Format: double
             * @description Time from the end of its last stage to its own end, in milliseconds.
             */
            rest_ms: number;
            /**
             * Format: u-int32
             * @description Position of the request in its batch, from 0.
             */
            seq: number;
            /**
             * Format: double
             * @description Time from its earliest possible end to T, in milliseconds.
             */
            slack_ms: number;
            /** @description The waits at the stages, in order. */
            waits: components["schemas"]["StageWait"][];
        };
        /**
         * @description Filter for the requests of a batch.
         * @enum {string}
         */
        RequestKindFilter: "scored" | "timed_out" | "error" | "waiting";
        /** @description `GET /v1/batches/{id}/requests`: in the order of admission. */
        RequestList: {
            /** @description The requests of this page. */
            items: components["schemas"]["RequestSummary"][];
            /**
             * Format: u-int32
             * @description Cursor of the next page, to be sent as `after`; absent on the last page.
             */
            next?: number | null;
        };
        /** @description The times of one request. */
        RequestProfile: {
            /**
             * Format: double
             * @description Time from the first request of the batch to this one, in milliseconds (the paper's r_i).
             */
            arrived_ms: number;
            /** @description Name of the group; absent without one. */
            group?: string | null;
            /** @description `scored`, `timed_out` or `error`. */
            outcome: string;
            /**
             * @description Run time of each stage, in milliseconds (the paper's s_ij); null where the stage was not
             *     reached.
             */
            ran_ms: (number | null)[];
            /**
             * Format: u-int32
             * @description Position in the order of admission; absent when the outcome was deleted.
             */
            seq?: number | null;
            /** @description The plugin's verdict, `timed_out`, or the error's code. */
            verdict?: string | null;
        };
        /** @description A request in a list. */
        RequestSummary: {
            /** @description Time of the arrival. */
            arrived_at: string;
            /** @description Name of the group; absent without one. */
            group?: string | null;
            /** @description Id of the request. */
            id: string;
            /** @description Key of the request, which is unique in its batch. */
            key: string;
            /** @description `scored`, `timed_out` or `error`; null while it waits or runs. */
            kind?: string | null;
            /** @description First characters of the error's message or of the plugin's explanation. */
            message?: string | null;
            /**
             * Format: double
             * @description The reward; absent without one.
             */
            reward?: number | null;
            /**
             * Format: u-int32
             * @description Position of the request in its batch, from 0.
             */
            seq: number;
            /**
             * Format: double
             * @description Time from its arrival to its end, in milliseconds.
             */
            took_ms?: number | null;
            /** @description The plugin's verdict, `timed_out`, or the error's code; absent while the request waits or runs. */
            verdict?: string | null;
        };
        /** @description One finished request. */
        ResultItem: {
            /**
             * Format: u-int32
             * @description Position in the order of completion, from 1; sent as `after`, it asks for the results after
             *     this one.
             */
            cursor: number;
            /** @description Name of the group; absent without one. */
            group?: string | null;
            /** @description Id of the request. */
            id: string;
            /** @description Key of the request, which is unique in its batch. */
            key: string;
            /** @description The outcome. */
            outcome: components["schemas"]["Outcome"];
            /** @description Id of the equal request that ran and whose outcome this request shares. */
            shared_from?: string | null;
            /** @description The stages that ran, in order; empty if the outcome comes from an equal request. */
            stages: components["schemas"]["StageTime"][];
            /** @description Id of the trace that the request was recorded in, for OpenTelemetry; absent if it was not. */
            trace_id?: string | null;
        };
        /** @description A page of results. */
        ResultsPage: {
            /** @description Whether this is the last page. */
            done: boolean;
            /** @description The results of this page. */
            items: components["schemas"]["ResultItem"][];
            /**
             * Format: u-int32
             * @description Cursor of the next page, to be sent as `after`.
             */
            next: number;
        };
        /** @description Retention in days; the platform's own retention where one is absent. */
        Retention: {
            /**
             * Format: u-int32
             * @description Days for which the profiles of completed batches are kept.
             * @default null
             */
            history_days: number | null;
            /**
             * Format: u-int32
             * @description Days for which requests, artifacts, results and logs are kept after the end of their batch.
             * @default null
             */
            results_days: number | null;
        };
        /** @description The answer to a single request. */
        Reward: {
            /** @description Id of the request. */
            id: string;
            /** @description The outcome. */
            outcome: components["schemas"]["Outcome"];
            /** @description SHA-256 of the plugin's component. */
            plugin_digest: string;
            /** @description Id of the equal request that ran and whose outcome this request shares. */
            shared_from?: string | null;
            /** @description Times of the stages that ran. */
            stages: components["schemas"]["StageTime"][];
            /** @description Id of the trace that the request was recorded in, for OpenTelemetry; absent if it was not. */
            trace_id?: string | null;
        };
        /** @description `POST /v1/rewards`: one request, its outcome in the response. */
        RewardRequest: {
            /** @description The label, which the plugin compares with. */
            label?: unknown;
            /** @description Metadata for the plugin. */
            metadata?: unknown;
            /** @description `name@channel` or `name@version`. */
            plugin: string;
            /** @description The prompt. */
            prompt?: string;
            /** @description The response. */
            response: string;
            /** @description Settings of the plugin; `{}` when absent. */
            settings?: Record<string, never> | null;
            /** @description Whether equal requests share one computation, as in `POST /v1/batches`. */
            share_equal?: boolean | null;
        };
        /** @description Statistics of the rewards of a batch, including those of timeouts. */
        Rewards: {
            /**
             * Format: u-int32
             * @description Number of rewards.
             */
            count: number;
            /** @description Histogram of the rewards. */
            histogram: components["schemas"]["Histogram"];
            /**
             * Format: double
             * @description Largest reward.
             */
            max: number;
            /**
             * Format: double
             * @description Mean of the rewards.
             */
            mean: number;
            /**
             * Format: double
             * @description Smallest reward.
             */
            min: number;
            /**
             * Format: double
             * @description Standard deviation of the rewards.
             */
            std: number;
        };
        /**
         * @description Role of a member in its tenant; each role includes the roles before it.
         * @enum {string}
         */
        Role: "viewer" | "trainer" | "publisher" | "admin";
        /**
         * @description `errcode` is 0 with a reward, 1 while there is none yet, and 2 where there will be none. Only a reward has the fields
         *     after `reward_request_id`.
         */
        RollAnswer: {
            /** @description The components, in a field that ROLL spells so. */
            dimention_reward_score?: {
                [key: string]: components["schemas"]["RollDimension"];
            } | null;
            end_time?: string | null;
            /** Format: u-int8 */
            errcode: number;
            errmsg: string;
            reward_request_id: string;
            /** Format: double */
            reward_score?: number | null;
            start_time?: string | null;
        };
        RollAsk: {
            reward_request_id: string;
        };
        /** @description `POST /v1/plugins/{name}/channels/{channel}/rollback`; may be empty. */
        RollBackPlugin: {
            /**
             * @description Version from which the channel is rolled back; the call is refused if the channel points to another one. A call
             *     that names it can be repeated.
             */
            from?: string | null;
        };
        RollDimension: {
            /** Format: double */
            score: number;
        };
        RollTask: {
            data_id?: unknown;
            experiment_id?: unknown;
            global_step?: unknown;
            project_id?: unknown;
            prompt?: components["schemas"]["TrainerPrompt"];
            response: string;
            reward_info?: unknown;
            /** Format: double */
            timeout?: number | null;
        };
        /** @description Totals and histograms of a batch that has ended. */
        Rollup: {
            /**
             * Format: u-int32
             * @description Number of groups of at least two requests, all with a reward.
             */
            complete_groups: number;
            /** @description Cost of these seconds, by pool. */
            cost: {
                [key: string]: number;
            };
            /**
             * Format: u-int32
             * @description Position of the request that determines T: without any waiting it would have ended last.
             */
            critical_seq?: number | null;
            /** @description Number of requests without a reward, by error code. */
            errors: {
                [key: string]: number;
            };
            expected?: components["schemas"]["ExpectedEnds"] | null;
            /**
             * Format: u-int32
             * @description Number of groups.
             */
            groups: number;
            /**
             * Format: u-int32
             * @description Position of the request that ended last.
             */
            last_seq?: number | null;
            rewards?: components["schemas"]["Rewards"] | null;
            /** @description Times of the stages, in order. */
            stages: components["schemas"]["StageStats"][];
            /** @description Number of requests by verdict: the most frequent verdicts, and all others under `other`. */
            verdicts: {
                [key: string]: number;
            };
            /** @description Seconds for which workers were busy with the batch, by pool. */
            worker_seconds: {
                [key: string]: number;
            };
            /**
             * Format: u-int32
             * @description Number of complete groups whose rewards are all equal, from which a trainer learns nothing.
             */
            zero_variance_groups: number;
        };
        /** @description `POST /v1/keys/{id}/rotate`. */
        RotateKey: {
            /**
             * Format: u-int32
             * @description Hours for which the old secret still works: 24 when absent, 720 at most, 0 to end it at
             *     once.
             * @default 24
             */
            overlap_hours: number;
        };
        /** @description `GET /v1/runs/{run}/history`: completed batches of a run, the latest first. */
        RunHistory: {
            /** @description The batches. */
            items: components["schemas"]["BatchHistory"][];
        };
        /** @description `GET /v1/runs`: the run that was active last comes first. */
        RunList: {
            /** @description The runs of this page. */
            items: components["schemas"]["RunSummary"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description One line that a plugin logged for a request of a run. */
        RunLogLine: {
            /** @description Level: `debug`, `info`, `warn`, `error`, or `stderr`. */
            level: string;
            /** @description The message. */
            message: string;
            /** @description Id of the request. */
            request: string;
            /** @description Name of the stage. */
            stage: string;
            /**
             * @description Verdict of the request: the plugin's verdict, `timed_out`, or the error's code; absent while
             *     it waits or runs.
             */
            verdict?: string | null;
        };
        /** @description A run that uses a version of a plugin. */
        RunOnVersion: {
            /**
             * Format: u-int32
             * @description Number of batches.
             */
            batches: number;
            /** @description Time at which the last batch ended. */
            last_batch_at: string;
            /**
             * Format: double
             * @description Mean reward of the last batch with rewards; absent if there is none.
             */
            last_mean_reward?: number | null;
            /** @description Name of the run. */
            run: string;
        };
        /** @description A run. */
        RunSummary: {
            /**
             * Format: u-int32
             * @description Number of batches that have ended.
             */
            batches: number;
            /** @description Time at which the run began. */
            created_at: string;
            /** @description Time at which its last batch ended. */
            last_batch_at?: string | null;
            /**
             * Format: u-int64
             * @description Number of the last iteration; absent if there is none.
             */
            last_iteration?: number | null;
            /**
             * Format: double
             * @description Mean reward of the last batch with rewards; absent if there is none.
             */
            last_mean_reward?: number | null;
            /**
             * Format: u-int32
             * @description Number of live batches.
             */
            live_batches: number;
            /** @description Name of the run. */
            name: string;
            /** @description `name@version` of the run's first batch, which all later ones use. */
            plugin: string;
            /** @description SHA-256 of the plugin's component. */
            plugin_digest: string;
        };
        /** @description `GET /v1/runs/{run}`. */
        RunView: {
            /** @description Arrivals of the requests of the last batches. */
            curves: components["schemas"]["ArrivalCurve"][];
            /** @description Whether the run has earlier batches than those shown. */
            earlier: boolean;
            /** @description The last batches as columns. */
            iterations: components["schemas"]["Iterations"];
            /**
             * @description Promotions and rollbacks of the run's plugin since the announcement of the first of these batches, the
             *     oldest first, the last 100. The run itself keeps its version.
             */
            promotions: components["schemas"]["Promotion"][];
            /** @description The run. */
            run: components["schemas"]["RunSummary"];
            /** @description Settings of the run. */
            settings: Record<string, never>;
        };
        /** @description One request of a run with its texts and, once it has ended, its outcome. */
        Sample: {
            /** @description Time of the arrival. */
            arrived_at: string;
            /** @description Id of the batch. */
            batch: string;
            /** @description The parts that the reward was made from. */
            components?: {
                [key: string]: number;
            };
            /** @description Time of the end; absent while it waits or runs. */
            finished_at?: string | null;
            /** @description Name of the group; absent without one. */
            group?: string | null;
            /** @description Id of the request. */
            id: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /** @description Key of the request, which is unique in its batch. */
            key: string;
            /** @description `scored`, `timed_out` or `error`; absent while it waits or runs. */
            kind?: string | null;
            /** @description The label; absent without texts. */
            label?: unknown;
            /** @description The plugin's explanation, or the error's message. */
            message?: string | null;
            /** @description Metadata for the plugin; absent without texts. */
            metadata?: unknown;
            /** @description The prompt; absent without texts. */
            prompt?: string | null;
            /** @description The response; absent without texts. */
            response?: string | null;
            /**
             * Format: double
             * @description The reward; absent for an error.
             */
            reward?: number | null;
            /** @description The plugin's verdict, `timed_out`, or the error's code. */
            verdict?: string | null;
        };
        /**
         * @description The file format of samples.
         * @enum {string}
         */
        SampleFormat: "jsonl" | "csv" | "parquet";
        /** @description A page of samples. */
        SampleList: {
            /** @description The samples, in the order asked for. */
            items: components["schemas"]["SampleSummary"][];
            /**
             * Format: u-int32
             * @description Number of newest samples of the runs among which the items are, where older ones were left out: no index has
             *     the order, or few samples match the filters. `iteration_min` and `iteration_max` reach older ones.
             */
            newest?: number | null;
            /** @description Cursor of the next page; absent on the last page. */
            next?: string | null;
            /** @description Whether samples are prepared, and whether their words are. */
            prepared: components["schemas"]["SamplesPrepared"];
            /**
             * Format: u-int32
             * @description Number of ended batches whose samples are still being prepared and are not in the list; at most 1,000.
             *     A batch that has not ended counts where it is asked for.
             */
            preparing: number;
        };
        /** @description A sample as a row of a list, with the beginnings of its texts. */
        SampleSummary: {
            /**
             * Format: double
             * @description The distance of the reward from the mean of its group, in standard deviations; absent without a
             *     group or a reward.
             */
            advantage?: number | null;
            /** @description The time at which it arrived. */
            arrived_at: string;
            /** @description The id of its batch. */
            batch: string;
            /** @description The parts that the reward was made from. */
            components?: {
                [key: string]: number;
            };
            /** @description The name of its group; absent without one. */
            group?: string | null;
            group_rewards?: components["schemas"]["GroupRewards"] | null;
            /** @description The id of the request. */
            id: string;
            /**
             * Format: u-int64
             * @description The iteration of the batch.
             */
            iteration: number;
            /** @description The key that the trainer gave the request. */
            key: string;
            /** @description `scored`, `timed_out` or `error`. */
            kind: string;
            /** @description The label as JSON; absent without one. */
            label?: string | null;
            /** @description The first characters of the text, as for `response` and `label`. */
            prompt: string;
            /**
             * Format: u-int32
             * @description Number of characters of the prompt.
             */
            prompt_chars: number;
            /** @description The first characters of the response. */
            response: string;
            /**
             * Format: u-int32
             * @description Number of characters of the response.
             */
            response_chars: number;
            /**
             * Format: double
             * @description Absent for an error.
             */
            reward?: number | null;
            /** @description The name of the run. */
            run: string;
            /**
             * Format: double
             * @description Milliseconds from its arrival to its end.
             */
            took_ms: number;
            /** @description The plugin's verdict, `timed_out`, or the error's code. */
            verdict: string;
        };
        /**
         * @description The part of samples that the server prepares.
         * @enum {string}
         */
        SamplesPrepared: "words" | "rows" | "nothing";
        /** @description The answer, with its fields in SandboxFusion's order. */
        SandboxFusionAnswer: {
            compile_result?: components["schemas"]["SandboxFusionCommand"] | null;
            executor_pod_name?: string | null;
            files: {
                [key: string]: string;
            };
            message: string;
            run_result?: components["schemas"]["SandboxFusionCommand"] | null;
            status: string;
        };
        SandboxFusionCommand: {
            /** Format: double */
            execution_time: number;
            /** Format: int32 */
            return_code?: number | null;
            status: string;
            stderr: string;
            stdout: string;
        };
        SandboxFusionRunCode: {
            code: string;
            /** Format: double */
            compile_timeout?: number | null;
            fetch_files?: string[] | null;
            /** @description Base64, by path. */
            files?: {
                [key: string]: string | null;
            } | null;
            language: string;
            /** Format: double */
            memory_limit_MB?: number | null;
            /** Format: double */
            run_timeout?: number | null;
            stdin?: string | null;
        };
        /**
         * @description One permission of a key.
         * @enum {string}
         */
        Scope: "batches:write" | "batches:read" | "plugins:publish" | "plugins:promote" | "admin:*" | "platform:*";
        /** @description A reward as the plugin gave it; always finite. */
        Scored: {
            /** @description Named parts of the reward. */
            components?: {
                [key: string]: number;
            };
            /** @description The plugin's explanation for people. */
            explanation?: string;
            /**
             * Format: double
             * @description The reward.
             */
            reward: number;
            /** @description The plugin's word for the result, such as `correct_exact`. */
            verdict: string;
        };
        /** @description `POST /v1/batches/{id}/seal`: no more requests will come. */
        SealBatch: {
            /**
             * Format: u-int32
             * @description Expected number of requests; the seal is refused if the batch has another number.
             */
            final_count?: number | null;
        };
        /** @description `GET /v1/session`: the caller and their permissions. */
        Session: {
            /**
             * @description Token to be sent as the header `X-Assay-Csrf` with every call except GET and HEAD. Another tenant of the
             *     session has another token.
             */
            csrf?: string | null;
            /** @description Time at which the session ends, even if it is in use. */
            expires_at?: string | null;
            key?: components["schemas"]["SessionKey"] | null;
            person?: components["schemas"]["SessionPerson"] | null;
            role?: components["schemas"]["Role"] | null;
            /** @description Scopes of the caller in this tenant. */
            scopes: components["schemas"]["Scope"][];
            /** @description Name of the tenant that the session works with. */
            tenant: string;
            /** @description Tenants to which the session can be switched. */
            tenants?: components["schemas"]["Membership"][];
        };
        /** @description The key of a call. */
        SessionKey: {
            /** @description Id of the key. */
            id: string;
            /** @description Name of the key. */
            name: string;
        };
        /** @description The person of a session. */
        SessionPerson: {
            /** @description E-mail address. */
            email: string;
            /** @description Id of the person. */
            id: string;
            /** @description Name of the person. */
            name: string;
        };
        /** @description `PUT /v1/capacity/{pool}`; takes effect at once and survives restarts. */
        SetCapacity: {
            /**
             * Format: u-int32
             * @description Maximum number of workers; busy workers above it finish their requests.
             */
            max: number;
            /**
             * Format: u-int32
             * @description Minimum number of workers, kept even when no batch is live.
             */
            min: number;
        };
        /** @description `PATCH /v1/members/{person}`. */
        SetMember: {
            /** @description Role in the tenant. */
            role: components["schemas"]["Role"];
        };
        /** @description `PATCH /v1/people/{id}`: absent fields stay unchanged. */
        SetPerson: {
            /** @description Whether the person is barred from signing in; their sessions end. */
            disabled?: boolean | null;
            /** @description New name; unchanged when absent. */
            name?: string | null;
        };
        /** @description `POST /v1/session`. */
        SignIn: {
            /** @description E-mail address. */
            email: string;
            /** @description Password. */
            password: string;
            /**
             * @description Name of the tenant in which the session begins, if the person is a member of it; otherwise, and when absent,
             *     it begins in the one to which they have belonged for longest.
             */
            tenant?: string | null;
        };
        /** @description The ways to sign in. */
        SignInMethods: {
            /** @description Whether there is no administrator yet; the token in the data folder creates the first one. */
            bootstrap: boolean;
            /** @description Whether people sign in at an OpenID provider. */
            oidc: boolean;
            /** @description Whether people sign in with a password. */
            password: boolean;
        };
        /** @description One batch as it was and as it would have been. */
        SimulatedBatch: {
            /**
             * Format: double
             * @description Time from its announcement to its actual end, in milliseconds.
             */
            actual_end_ms: number;
            /**
             * Format: double
             * @description Actual extra delay, in milliseconds.
             */
            actual_extra_delay_ms: number;
            /**
             * Format: double
             * @description Time from its announcement to T in milliseconds; it is the same for every policy.
             */
            earliest_end_ms: number;
            /**
             * Format: double
             * @description Time from its announcement to its simulated end, in milliseconds.
             */
            end_ms: number;
            /**
             * Format: double
             * @description Simulated extra delay, in milliseconds (the paper's d).
             */
            extra_delay_ms: number;
            /** @description Id of the batch. */
            id: string;
            /**
             * Format: u-int64
             * @description Number of the iteration in its run.
             */
            iteration: number;
            /** @description Whether it ended later than T + D in the simulation. */
            late: boolean;
            /**
             * Format: u-int32
             * @description Number of requests.
             */
            requests: number;
        };
        /** @description A point of the curve of a stage. */
        SimulatedPoint: {
            /**
             * Format: double
             * @description Time since the announcement of the first simulated batch, in milliseconds; negative before
             *     it.
             */
            at_ms: number;
            /**
             * Format: u-int32
             * @description Number of busy workers.
             */
            busy: number;
            /**
             * Format: u-int32
             * @description Number of waiting requests.
             */
            queued: number;
            /**
             * Format: u-int32
             * @description Number of workers, including those that start.
             */
            workers: number;
        };
        /** @description Workers of one stage. Stages that share a pool have separate workers in the simulation. */
        SimulatedStage: {
            /**
             * Format: double
             * @description Seconds for which workers of the stage were busy with these batches in reality.
             */
            actual_busy_seconds: number;
            /**
             * Format: double
             * @description Seconds for which workers were busy, summed up.
             */
            busy_seconds: number;
            /**
             * Format: double
             * @description Cost of the worker seconds.
             */
            cost: number;
            /** @description Points in the order of time, at most 500; each holds until the next one. */
            curve: components["schemas"]["SimulatedPoint"][];
            /** @description Name of the pool. */
            pool: string;
            /** @description Name of the stage. */
            stage: string;
            /**
             * Format: double
             * @description Seconds for which workers started, summed up.
             */
            starting_seconds: number;
            /**
             * Format: u-int32
             * @description Number of workers that were started.
             */
            starts: number;
            /**
             * Format: double
             * @description Seconds from the request for each worker to its stop, summed up.
             */
            worker_seconds: number;
            /**
             * Format: u-int32
             * @description Maximum number of workers at one time.
             */
            workers_peak: number;
        };
        /** @description The simulated ends of recorded batches. */
        Simulation: {
            /** @description The simulated batches, the oldest first. */
            batches: components["schemas"]["SimulatedBatch"][];
            /**
             * Format: u-int32
             * @description Number of replayed batches, including those that only served as history.
             */
            batches_replayed: number;
            /** @description Whether the batch was the first of its run and therefore its own history. */
            own_history: boolean;
            /** @description Name of the policy. */
            policy: string;
            /**
             * Format: u-int32
             * @description Number of replayed requests.
             */
            requests_replayed: number;
            /**
             * Format: double
             * @description Time that the simulation took, in milliseconds.
             */
            simulated_in_ms: number;
            /** @description Workers of each stage of the plugin over the whole simulated time. */
            stages: components["schemas"]["SimulatedStage"][];
            /**
             * Format: double
             * @description Tolerated extra delay, in milliseconds (the paper's D).
             */
            tolerance_ms: number;
        };
        /** @description `POST /v1/simulations`: replays recorded batches with other settings of the planner. */
        SimulationRequest: {
            /** @description Id of a completed batch; earlier batches of its run are the planner's history. */
            batch?: string | null;
            /**
             * @description `assay` (when absent), `distrs`, `history`, `zq`, `ideal`, `limit`, `fixed` (as many workers
             *     as `pools_max` says) or `fixed:STAGE=N,...`.
             */
            policy?: string | null;
            /**
             * @description Maximum number of workers of each stage, by pool; the current maximum where a pool is
             *     absent, or the peak of the batches where that is 0.
             */
            pools_max?: {
                [key: string]: number;
            };
            /** @description Name of a run whose last batches are replayed, instead of a batch. */
            run?: string | null;
            /**
             * @description Start time of a worker in milliseconds, by pool; the recently measured time where a pool is
             *     absent.
             */
            startup_ms?: {
                [key: string]: number;
            };
            /**
             * Format: u-int32
             * @description Tolerated extra delay in milliseconds (the paper's D); the batch's own when absent.
             */
            tolerance_ms?: number | null;
        };
        SlimeReward: number | {
            [key: string]: number;
        };
        SlimeRollout: {
            label?: unknown;
            prompt?: components["schemas"]["TrainerPrompt"];
            response: string;
        };
        /** @description `GET /v1/runs/{run}/solve-rates`: the solve rate of a prompt as columns, the oldest batch first. */
        SolveRates: {
            /** @description Ids of the batches. */
            batch: string[];
            /** @description Whether earlier batches were not read. */
            earlier: boolean;
            /** @description Name of the group. */
            group: string;
            /** @description Numbers of their iterations. */
            iteration: number[];
            /** @description Mean rewards. */
            mean: number[];
            /**
             * Format: double
             * @description The smallest reward that is a pass.
             */
            pass_reward: number;
            /** @description Number of those that passed; the solve rate is their part. */
            passed: number[];
            /** @description Number of samples of the group that have a reward. */
            samples: number[];
        };
        /** @description One stage of one request, with absolute times. */
        Span: {
            /**
             * Format: u-int32
             * @description Number of attempts of the stage.
             */
            attempts: number;
            /** @description Time at which the stage ended. */
            ended_at: string;
            /** @description Name of the pool. */
            pool: string;
            /** @description Time at which the request was ready for the stage. */
            queued_at: string;
            /** @description Name of the stage. */
            stage: string;
            /** @description Time at which the stage started. */
            started_at: string;
            /**
             * Format: u-int32
             * @description Timeout of the stage, in milliseconds.
             */
            timeout_ms: number;
        };
        /** @description One stage of a plugin: `stage` of `assay:reward/types`. */
        Stage: {
            /** Format: u-int64 */
            memory_bytes_max: number;
            name: string;
            /** @description Pool on which the stage runs: `cpu`, `gpu`, or one of the operator's own. */
            pool: string;
            /** Format: u-int32 */
            retries_max: number;
            /** Format: u-int32 */
            timeout_ms: number;
        };
        /** @description One stage of each request of a timeline; null where it has not ended or was not reached. */
        StageColumns: {
            /** @description Number of attempts. */
            attempts: (number | null)[];
            /** @description Time at which the stage ended, in milliseconds. */
            ended_ms: (number | null)[];
            /**
             * @description Time at which the request was ready for the stage; also given for the current stage of an
             *     unfinished request.
             */
            queued_ms: (number | null)[];
            /** @description Time at which the stage started, in milliseconds. */
            started_ms: (number | null)[];
        };
        /** @description Run times of a stage. */
        StageHistogram: {
            /** @description Number of requests in each bin. */
            counts: number[];
            /** @description Ends of the bins, in milliseconds; the first bin begins at zero, and the last holds all longer times. */
            edges_ms: number[];
            /** @description Name of the pool. */
            pool: string;
            /**
             * Format: u-int32
             * @description Number of requests.
             */
            requests: number;
            /**
             * Format: u-int32
             * @description Number of attempts after the first one.
             */
            retries: number;
            /** @description Name of the stage. */
            stage: string;
            /**
             * Format: u-int32
             * @description Timeout of the stage, in milliseconds.
             */
            timeout_ms: number;
        };
        /** @description Requests at one stage of one plugin. */
        StageQueue: {
            /** @description `name@version`. */
            plugin: string;
            /** @description Name of the pool. */
            pool: string;
            /**
             * Format: u-int64
             * @description Number of requests that wait, also those that wait until memory for artifacts is free.
             */
            queued: number;
            /**
             * Format: u-int64
             * @description Number of requests that run.
             */
            running: number;
            /** @description Name of the stage. */
            stage: string;
        };
        /** @description Times of one stage of a batch. */
        StageStats: {
            /** @description Name of the pool. */
            pool: string;
            /** @description Times for which requests waited for a worker. */
            queued: components["schemas"]["Quantiles"];
            /** @description Run times. */
            ran: components["schemas"]["Quantiles"];
            /** @description Number of requests by run time; the bins end at `StageHistogram.edges_ms`. */
            ran_counts: number[];
            /**
             * Format: u-int32
             * @description Number of requests that reached the stage.
             */
            requests: number;
            /**
             * Format: u-int32
             * @description Number of attempts after the first one of each request.
             */
            retries: number;
            /** @description Name of the stage. */
            stage: string;
            /**
             * Format: u-int32
             * @description Timeout of the stage, in milliseconds.
             */
            timeout_ms: number;
        };
        /** @description Times of one stage of one request. */
        StageTime: {
            /**
             * Format: u-int32
             * @description Number of attempts of the stage.
             */
            attempts: number;
            /**
             * Format: double
             * @description Time from the moment the stage was ready to its grant to the worker that finished it, in
             *     milliseconds.
             */
            queued_ms: number;
            /**
             * Format: double
             * @description Run time of the attempt that finished, in milliseconds.
             */
            ran_ms: number;
            /** @description Name of the stage. */
            stage: string;
        };
        /** @description The wait of a request at a stage. */
        StageWait: {
            /** @description Name of the pool. */
            pool: string;
            /**
             * Format: double
             * @description Time for which it waited for a worker, including earlier attempts, in milliseconds.
             */
            queued_ms: number;
            /**
             * Format: u-int32
             * @description Number of attempts after the first one.
             */
            retries: number;
            /** @description Name of the stage. */
            stage: string;
        };
        /** @description The reason why workers of a pool do not start. */
        StartTrouble: {
            /** @description Error of the last start. */
            error: string;
            /** @description Time of the last failure. */
            failed_at: string;
            /**
             * Format: u-int64
             * @description Number of failed starts since the last successful one.
             */
            failures: number;
            /** @description Earliest time of the next attempt, if a worker is still needed then. */
            next_try_at: string;
        };
        /** @description One server-sent event, by its fields. */
        StreamEvent: {
            /** @description Data of the event, as JSON text. */
            data: string;
            /** @description Name of the event. */
            event: string;
            /**
             * @description Id of the event; a reconnecting client sends it as `Last-Event-ID` and gets the events after
             *     it.
             */
            id?: string | null;
        };
        /**
         * @description One request as a trainer submits it. Its `key` is unique in the batch, so that a repeated call
         *     changes nothing.
         */
        SubmitItem: {
            /**
             * Format: u-int32
             * @description Time that the reward is expected to take once a worker has the request, all stages together, in milliseconds, up to
             *     a day; absent, it counts as long as requests of the run usually take. Where whole batches are waited for, the longest
             *     waiting request of a batch is served first.
             */
            expected_ms?: number | null;
            /** @description Name of the item's group, such as its prompt's id; absent without one. */
            group?: string | null;
            /** @description Key of the item, unique in the batch; an item with a known key is a repeat. */
            key: string;
            /** @description The data set's answer as any JSON value; the plugin gets its JSON text. */
            label?: unknown;
            /** @description Metadata for the plugin. */
            metadata?: unknown;
            /** @description The prompt. */
            prompt?: string;
            /** @description The response. */
            response: string;
        };
        /** @description The answer to a submission. */
        SubmitReply: {
            /**
             * Format: u-int32
             * @description Number of items that were accepted.
             */
            accepted: number;
            /** @description The result of each item, in order. */
            items: components["schemas"]["Submitted"][];
            /**
             * Format: u-int32
             * @description Number of items that were rejected.
             */
            rejected: number;
            /**
             * Format: u-int32
             * @description Number of items that are repeats of known ones.
             */
            repeated: number;
        };
        /**
         * @description The result of the submission of an item.
         * @enum {string}
         */
        SubmitStatus: "accepted" | "repeated" | "rejected";
        /** @description Result of one submitted item; the results have the order of the items. */
        Submitted: {
            /** @description Id of the request; absent if the item was rejected. */
            id?: string | null;
            /** @description Key of the item; empty if the item could not be parsed. */
            key: string;
            problem?: components["schemas"]["ItemProblem"] | null;
            /** @description The result for this item. */
            status: components["schemas"]["SubmitStatus"];
        };
        /** @description `POST /v1/session/tenant`. */
        SwitchTenant: {
            /** @description Name of the tenant to work with. */
            tenant: string;
        };
        /** @description A tenant. */
        Tenant: {
            /** @description Time of the creation. */
            created_at: string;
            /** @description Id of the tenant. */
            id: string;
            /** @description Name of the tenant. */
            name: string;
            /** @description Quotas, grants and retention. */
            settings?: components["schemas"]["TenantSettings"];
            /** @description Storage roots that the operator grants to the tenant. */
            storage_roots?: string[];
            /** @description Time of its suspension; absent while it is not suspended. */
            suspended_at?: string | null;
        };
        /** @description A page of tenants. */
        TenantList: {
            /** @description The tenants of this page. */
            items: components["schemas"]["Tenant"][];
            /** @description Cursor of the next page, to be sent as `after`; absent on the last page. */
            next?: string | null;
        };
        /** @description Settings of a tenant, made by an administrator of the platform. */
        TenantSettings: {
            /**
             * @description Name that is shown to people.
             * @default
             */
            display_name: string;
            /**
             * @description Grants.
             * @default {
             *       "gpu": false
             *     }
             */
            grants: components["schemas"]["Grants"];
            /**
             * @description Quotas.
             * @default {}
             */
            quotas: components["schemas"]["Quotas"];
            /**
             * @description Times for which data is kept.
             * @default {}
             */
            retention: components["schemas"]["Retention"];
            /**
             * @description Whether the tenant's workers of a contended pool are shared between its runs: the run with the
             *     fewest workers is served next. If not, the batch that could end first is, of whatever run.
             * @default false
             */
            share_runs: boolean;
            /**
             * @description Whether the tenant is suspended: new batches, single requests and plugins are refused,
             *     admitted requests still run to their end, and everything can be read.
             * @default false
             */
            suspended: boolean;
            /**
             * Format: u-int32
             * @description Weight of the tenant when a pool is contended, relative to other tenants.
             * @default 1
             */
            weight: number;
        };
        /** @description `GET /v1/tenants/{name}/usage`. */
        TenantUsage: {
            /** @description Usage of ended batches by day, the latest day first. */
            days: components["schemas"]["DayUsage"][];
            /** @description Number of live batches. */
            open_batches: components["schemas"]["Used"];
            /**
             * @description Tokens that are missing from the bucket; more than the maximum while a large batch is not
             *     paid off.
             */
            requests_per_minute: components["schemas"]["Used"];
            /** @description Bytes that the tenant's data takes in the database. */
            stored_bytes: components["schemas"]["Used"];
            /** @description Name of the tenant. */
            tenant: string;
            /** @description Workers with leases of the tenant, by pool. */
            workers: {
                [key: string]: components["schemas"]["Used"];
            };
        };
        /** @description `GET /v1/batches/{id}/timeline`. Times are milliseconds from the batch's first request. */
        Timeline: {
            /**
             * Format: double
             * @description Time of this state in milliseconds: now, or the end of the batch.
             */
            as_of_ms: number;
            /** @description The batch. */
            batch: components["schemas"]["Batch"];
            /**
             * Format: u-int32
             * @description Position of the request that determines T.
             */
            critical_seq?: number | null;
            /**
             * Format: double
             * @description Time at which the last request could have ended without any waiting (the paper's T), in
             *     milliseconds; for a live batch, estimated from its finished requests.
             */
            earliest_end_ms?: number | null;
            /**
             * Format: double
             * @description Time at which the batch ended, in milliseconds; absent while it is live.
             */
            ended_ms?: number | null;
            /**
             * Format: double
             * @description Expected end of the batch, in milliseconds.
             */
            estimated_end_ms?: number | null;
            /** @description Time of the first request; absent before it. */
            first_arrival_at?: string | null;
            /** @description The groups as columns. */
            groups: components["schemas"]["GroupColumns"];
            /**
             * Format: u-int32
             * @description Position of the request that ended last.
             */
            last_seq?: number | null;
            lateness?: components["schemas"]["Lateness"] | null;
            /**
             * Format: u-int32
             * @description Tolerated extra delay that the run sets, in milliseconds (the paper's D).
             */
            max_extra_delay_ms?: number | null;
            /** @description The requests as columns. */
            requests: components["schemas"]["RequestColumns"];
            rollup?: components["schemas"]["Rollup"] | null;
            /** @description The stages of the plugin, in order. */
            stages: components["schemas"]["ProfileStage"][];
            /** @description Whether only some of the requests are shown, evenly chosen by position. */
            thinned: boolean;
            /**
             * Format: double
             * @description Tolerated extra delay in force, in milliseconds: the run's, or else the platform's.
             */
            tolerance_ms: number;
            /**
             * Format: double
             * @description T + D, with the tolerance in force.
             */
            tolerated_end_ms?: number | null;
            /**
             * Format: u-int32
             * @description Number of requests that were acknowledged.
             */
            total: number;
        };
        /** @description A text, or parts among which texts are. */
        TrainerContent: null | string | components["schemas"]["TrainerContentPart"][];
        TrainerContentPart: {
            text?: string | null;
        };
        TrainerMessage: {
            content?: components["schemas"]["TrainerContent"];
            role?: string;
            type?: string;
        };
        /** @description A text, or messages whose texts it is. */
        TrainerPrompt: string | components["schemas"]["TrainerMessage"][];
        /** @description `PATCH /v1/batches/{id}`: what the trainer knows now. Absent fields stay as they are. */
        UpdateBatch: {
            /**
             * Format: u-int32
             * @description Number of rollouts that still run, each of which will send a request.
             */
            outstanding?: number | null;
        };
        /** @description Current use of a quota and its maximum. */
        Used: {
            /**
             * Format: u-int64
             * @description Maximum; absent if there is none.
             */
            max?: number | null;
            /**
             * Format: u-int64
             * @description Amount in use.
             */
            used: number;
        };
        /** @description Starting workers that wait for a place for one reason. */
        WaitingWorkers: {
            /** @description The reason as a clause, such as that of Slurm. */
            reason: string;
            /** @description The time since which the first of them has waited. */
            since: string;
            /**
             * Format: u-int32
             * @description Number of workers that wait.
             */
            workers: number;
        };
        /** @description A webhook. */
        Webhook: {
            /** @description Time of its creation. */
            created_at: string;
            /** @description Name of the key or address of the person that made it. */
            created_by: string;
            /** @description Form of the messages. */
            form: components["schemas"]["WebhookForm"];
            /** @description Id of the webhook. */
            id: string;
            /** @description Kinds of incidents that it is told of; all of them if empty. */
            kinds: components["schemas"]["IncidentKind"][];
            latest?: components["schemas"]["WebhookDelivery"] | null;
            /** @description Name of the webhook. */
            name: string;
            /** @description Whether it is told of the platform's incidents too. */
            platform: boolean;
            /** @description Key of the signatures, `whsec_` and base64; only in the answer of the call that made the webhook. */
            secret?: string | null;
            /** @description Scheme, host and port of its URL; the rest may be a secret and is not shown. */
            to: string;
        };
        /** @description A message to a webhook. */
        WebhookDelivery: {
            /** @description Why the latest try failed; absent if none did. */
            error?: string | null;
            /**
             * Format: int64
             * @description Id of the delivery, which the receiver gets as `webhook-id`.
             */
            id: number;
            kind?: components["schemas"]["IncidentKind"] | null;
            /** @description Time at which it was made. */
            made_at: string;
            /** @description Time of the next try; absent once it has ended. */
            next_try_at?: string | null;
            /** @description State of the delivery. */
            state: components["schemas"]["DeliveryState"];
            /**
             * Format: u-int32
             * @description Number of tries so far.
             */
            tries: number;
        };
        /** @description The latest deliveries of a webhook. */
        WebhookDeliveryList: {
            /** @description The latest first, at most 50. */
            items: components["schemas"]["WebhookDelivery"][];
        };
        /**
         * @description The form of the messages that a webhook gets.
         * @enum {string}
         */
        WebhookForm: "json" | "slack";
        /** @description A list of webhooks. */
        WebhookList: {
            /** @description The webhooks of your tenant by name. */
            items: components["schemas"]["Webhook"][];
        };
        /** @description A worker. */
        Worker: {
            /** @description Architecture of its CPU: `x86_64` or `aarch64`; absent while it starts. */
            architecture?: string | null;
            /** @description Time at which the worker was requested. */
            asked_at?: string | null;
            /** @description Time of its last message. */
            heard_at?: string | null;
            /**
             * Format: u-int64
             * @description Id of the worker; absent until it has joined.
             */
            id?: number | null;
            /**
             * Format: u-int32
             * @description Number of leases: one is running, the others are prefetched.
             */
            in_hand: number;
            /** @description Time at which the worker joined; absent while it starts. */
            joined_at?: string | null;
            /**
             * @description Launcher of the worker: `process` for a child process of the server, `slurm` for a job of Slurm, `kubernetes` for a
             *     Pod, `joined` for a worker that joined by itself.
             */
            launcher: string;
            /**
             * Format: u-int64
             * @description Resident memory of its process, in bytes.
             */
            memory_bytes?: number | null;
            /**
             * Format: u-int32
             * @description Process id, if the launcher runs it on the server's machine.
             */
            pid?: number | null;
            /** @description Name of the pool. */
            pool: string;
            running?: components["schemas"]["WorkerRunning"] | null;
            /**
             * Format: u-int64
             * @description Number of stages that it finished.
             */
            stages_done: number;
            /** @description State of the worker. */
            state: components["schemas"]["WorkerState"];
            /** @description Identity of the worker from its start to its end. */
            ticket: string;
        };
        /** @description `GET /v1/workers`. */
        WorkerList: {
            /** @description Time of this state. */
            at: string;
            /** @description Sorted by pool and id; workers that start come first in each pool. */
            items: components["schemas"]["Worker"][];
        };
        /** @description The stage that a worker runs now. */
        WorkerRunning: {
            /** @description Id of the batch. */
            batch: string;
            /** @description `name@version`. */
            plugin: string;
            /** @description Id of the request. */
            request: string;
            /** @description Time since which it runs. */
            since: string;
            /** @description Name of the stage. */
            stage: string;
            /** @description Name of the tenant. */
            tenant: string;
        };
        /**
         * @description The state of a worker.
         * @enum {string}
         */
        WorkerState: "starting" | "idle" | "busy" | "draining";
        /** @description A token with which one worker joins once, and what the worker needs beside it. */
        WorkerToken: {
            /** @description SHA-256 of the certificate of the server's authority, `sha256:HEX`. */
            ca_pin: string;
            /** @description Time until which the token can be used. */
            expires_at: string;
            /** @description Address on which the server listens for workers, `IP:PORT`. */
            listen: string;
            /** @description Pool of the worker. */
            pool: string;
            /** @description The secret, which is shown only once. */
            token: string;
        };
        /** @description `POST /v1/plugins/{name}/versions/{version}/yank`. */
        YankPlugin: {
            /** @description Reason why no new run may use the version. */
            reason: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    post_compat_llama_factory_plugin_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LlamaFactoryBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LlamaFactoryScores"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_nemo_gym_plugin_run_verify: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NemoGymRow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NemoGymAnswer"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_open_instruct_plugin_run_test_program: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenInstructProgram"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenInstructResults"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_open_instruct_plugin_run_test_program_stdio: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenInstructProgram"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenInstructResults"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_openrlhf_plugin_run_get_reward: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenRlhfBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenRlhfRewards"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_roll_plugin_run_submit_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RollTask"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RollAnswer"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_roll_plugin_run_task_result: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RollAsk"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RollAnswer"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_sandbox_fusion_plugin_run_run_code: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SandboxFusionRunCode"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxFusionAnswer"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_compat_slime_plugin_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone. */
                plugin: string;
                /** @description The run, followed by the call's options: `my-run;timeout=300`. */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SlimeRollout"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlimeReward"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_audit: {
        parameters: {
            query?: {
                /** @description Name of the tenant that was changed. */
                tenant?: string;
                /** @description Action, such as `quota.set`. */
                action?: string;
                /** @description Id or name of a key, or id or address of a person. */
                actor?: string;
                /** @description Earliest time of the entries. */
                since?: string;
                /** @description Id of an entry; only older ones are returned. */
                before?: number;
                /** @description Maximum number of items: 100 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches: {
        parameters: {
            query?: {
                /**
                 * @description `live`, `ended`, or one state: `announced`, `open`, `sealed`, `done`, `cancelled` or
                 *     `expired`.
                 */
                state?: components["schemas"]["BatchStateFilter"];
                /** @description Name of the run. */
                run?: string;
                /** @description Name of the plugin. */
                plugin?: string;
                /** @description Whether only batches are listed that ended later than their tolerance allows (T + D). */
                late?: boolean;
                /** @description Earliest time of announcement, inclusive. */
                from?: string;
                /** @description Latest time of announcement, exclusive. */
                to?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 100 when absent, 500 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_batches: {
        parameters: {
            query?: never;
            header?: {
                /** @description Key of the call: a repeat under the same key returns the same batch */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnnounceBatch"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description Seconds to wait for the end of the batch, as `wait=60`: 300 at most */
                Prefer?: string | null;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patch_batches_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_batches_id_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches_id_events: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of an event; the events after it are sent */
                "Last-Event-ID"?: number | null;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["StreamEvent"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches_id_logs: {
        parameters: {
            query?: {
                /** @description Verdict of the requests: the plugin's verdict, `timed_out`, or the error's code. */
                verdict?: string;
                /** @description Level: `debug`, `info`, `warn`, `error`, or `stderr`. */
                level?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 100 when absent, 500 at most. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchLogPage"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches_id_profile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchProfile"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches_id_requests: {
        parameters: {
            query?: {
                /** @description Kind of the requests: `scored`, `timed_out`, `error`, or `waiting` (not ended yet). */
                kind?: components["schemas"]["RequestKindFilter"];
                /** @description The plugin's verdict, `timed_out`, or the error's code. */
                verdict?: string;
                /** @description Part of the key or of the group's name. */
                q?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: number;
                /** @description Maximum number of items: 100 when absent, 500 at most. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_batches_id_requests: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmitItem"][];
                "application/x-ndjson": components["schemas"]["SubmitItem"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmitReply"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches_id_results: {
        parameters: {
            query?: {
                /** @description Cursor: the `next` of the previous page. */
                after?: number;
                /** @description Maximum number of items: 1,000 when absent, 10,000 at most. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResultsPage"];
                    "application/x-ndjson": components["schemas"]["ResultItem"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_batches_id_seal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SealBatch"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_batches_id_timeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Timeline"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_bootstrap: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Bootstrap"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_capacity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Capacity"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_capacity_history: {
        parameters: {
            query?: {
                /** @description Name of the pool; all pools when absent. */
                pool?: string;
                /** @description Start of the history; one hour before `to` when absent. */
                from?: string;
                /** @description End of the history; now when absent. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapacityHistory"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_capacity_pool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pool: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetCapacity"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolCapacity"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_incidents: {
        parameters: {
            query?: {
                /** @description Whether all tenants are included; needs the scope `platform:*`. */
                all?: boolean;
                /** @description Start of the period. */
                from?: string;
                /** @description End of the period. */
                to?: string;
                /** @description Only incidents of this kind. */
                kind?: components["schemas"]["IncidentKind"];
                /** @description Only incidents of the run of this name. */
                run?: string;
                /**
                 * @description Whether incidents of the same tenant, kind, pool, run and code are one item: the latest of them,
                 *     with the sum of the counts. Only the last 1,000 incidents are grouped, into one page.
                 */
                grouped?: boolean;
                /** @description Whether acknowledged incidents are left out. */
                open?: boolean;
                /** @description Cursor of a page; only older incidents are returned. */
                after?: number;
                /** @description Maximum number of items: 100 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentPage"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_incidents_id_acknowledge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcknowledgeIncident"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledgement"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_incidents_id_reopen: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_invitations_accept: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptInvitation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_keys: {
        parameters: {
            query?: {
                /** @description Name of the tenant; your own when absent. */
                tenant?: string;
                /** @description Part of a name; upper and lower case are alike. */
                q?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 1,000 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_keys_id_revoke: {
        parameters: {
            query?: {
                /** @description Name of the tenant; your own when absent. */
                tenant?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_keys_id_rotate: {
        parameters: {
            query?: {
                /** @description Name of the tenant; your own when absent. */
                tenant?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateKey"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_live: {
        parameters: {
            query?: {
                /** @description Whether all tenants are included; needs the scope `platform:*`. */
                all?: boolean;
            };
            header?: {
                /** @description Id of an event; the events after it are sent */
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["StreamEvent"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_members: {
        parameters: {
            query?: {
                /** @description Name of the tenant; your own when absent. */
                tenant?: string;
                /** @description Part of a name; upper and lower case are alike. */
                q?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 1,000 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_members: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddMember"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_members_person: {
        parameters: {
            query?: {
                /** @description Name of the tenant; your own when absent. */
                tenant?: string;
            };
            header?: never;
            path: {
                person: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patch_members_person: {
        parameters: {
            query?: {
                /** @description Name of the tenant; your own when absent. */
                tenant?: string;
            };
            header?: never;
            path: {
                person: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetMember"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_overview: {
        parameters: {
            query?: {
                /** @description Whether all tenants are included; needs the scope `platform:*`. */
                all?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_people: {
        parameters: {
            query?: {
                /** @description Part of a name; upper and lower case are alike. */
                q?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 1,000 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patch_people_person: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                person: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPerson"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_people_person_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                person: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_plugins: {
        parameters: {
            query?: {
                /** @description Part of a name; upper and lower case are alike. */
                q?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 1,000 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_plugins: {
        parameters: {
            query?: {
                /** @description Whether to keep the golden cases without running them; needs the scope `admin:*`. */
                skip_cases?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/wasm": string;
                "multipart/form-data": {
                    /** @description A golden case, as YAML with its file name; any number of them. */
                    case?: string[];
                    /**
                     * Format: binary
                     * @description The component, as WebAssembly.
                     */
                    component: string;
                };
            };
        };
        responses: {
            /** @description These bytes were published before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plugin"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plugin"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_plugins_name: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_plugins_name_channels: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginChannelList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_plugins_name_channels_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                channel: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromotePlugin"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plugin"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_plugins_name_channels_channel_rollback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                channel: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RollBackPlugin"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plugin"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_plugins_name_versions_version_cases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoldenCaseList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_plugins_name_versions_version_component: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/wasm": string;
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_plugins_name_versions_version_stats: {
        parameters: {
            query?: {
                /** @description Earliest end of the batches, inclusive. */
                from?: string;
                /** @description Latest end of the batches, exclusive. */
                to?: string;
            };
            header?: never;
            path: {
                name: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginStats"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_plugins_name_versions_version_yank: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["YankPlugin"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plugin"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_queue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_requests_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_requests_id_artifacts_stage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                stage: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_requests_id_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogLine"][];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_requests_id_replay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Seconds to wait for the outcome, as `wait=60`: 60 when absent, 300 at most */
                Prefer?: string | null;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_rewards: {
        parameters: {
            query?: never;
            header?: {
                /** @description Seconds to wait for the outcome, as `wait=60`: 60 when absent, 300 at most */
                Prefer?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RewardRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reward"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_runs: {
        parameters: {
            query?: {
                /** @description Part of the run's name. */
                q?: string;
                /** @description Name of the plugin. */
                plugin?: string;
                /** @description Earliest time of activity, inclusive. */
                from?: string;
                /** @description Latest time of activity, exclusive. */
                to?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 100 when absent, 500 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_runs_run: {
        parameters: {
            query?: {
                /** @description Number of the run's last batches: 200 when absent, 1,000 at most. */
                last?: number;
                /**
                 * @description Ids of up to 8 batches whose arrival curves are returned, separated by commas; the last
                 *     completed ones when absent.
                 */
                curves?: string;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunView"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_runs_run_history: {
        parameters: {
            query?: {
                /** @description Maximum number of items: 100 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunHistory"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_runs_run_logs: {
        parameters: {
            query?: {
                /** @description Verdict of the requests: the plugin's verdict, `timed_out`, or the error's code. */
                verdict?: string;
                /** @description Level: `debug`, `info`, `warn`, `error`, or `stderr`. */
                level?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 100 when absent, 500 at most. */
                limit?: number;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_runs_run_samples: {
        parameters: {
            query?: {
                /** @description Format of the file: `jsonl` when absent, `csv` or `parquet`. */
                format?: components["schemas"]["SampleFormat"];
                /** @description Id of a batch of the run whose samples alone are sent. */
                batch?: string;
                /** @description Whether prompts, responses, labels and metadata are sent too: true when absent. */
                texts?: boolean;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["Sample"];
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_runs_run_solve_rates: {
        parameters: {
            query: {
                /** @description Name of the group: a prompt with its samples. */
                group: string;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SolveRates"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_samples: {
        parameters: {
            query?: {
                /** @description Run whose samples are listed. Exactly one of `run`, `batch` and `plugin` is given. */
                run?: string;
                /** @description Id of the batch whose samples are listed. */
                batch?: string;
                /** @description Plugin version, `name@version`, whose samples are listed: those of its last 256 runs. */
                plugin?: string;
                /**
                 * @description Words that the prompt or the response has, in any case: all of them; `or` between two for either;
                 *     `-` before one that it must not have; quotes around words that follow each other.
                 */
                q?: string;
                /**
                 * @description Column, with `-` before it for descending order: `iteration`, `reward`, `advantage`, `verdict`,
                 *     `kind`, `group`, `key`, `prompt`, `response`, `label`, `prompt_chars`, `response_chars`, `took_ms`,
                 *     or `component`. When absent, the newest iteration comes first, and a batch is in the order of its
                 *     requests. A sample without a value counts as below all others.
                 */
                sort?: string;
                /** @description `scored`, `timed_out` or `error`. */
                kind?: string;
                /** @description The plugin's verdict, `timed_out`, or the error's code. */
                verdict?: string;
                /** @description Name of the group. */
                group?: string;
                /** @description How the rewards of the sample's group differ: `all_right`, `all_wrong` or `mixed`. */
                group_rewards?: components["schemas"]["GroupRewards"];
                /** @description The label as JSON, up to its first 40 characters. */
                label?: string;
                iteration_min?: number;
                iteration_max?: number;
                reward_min?: number;
                reward_max?: number;
                advantage_min?: number;
                advantage_max?: number;
                prompt_chars_min?: number;
                prompt_chars_max?: number;
                response_chars_min?: number;
                response_chars_max?: number;
                /** @description Milliseconds from a request's arrival to its end. */
                took_ms_min?: number;
                took_ms_max?: number;
                /**
                 * @description Name of the component of the reward that `component_min`, `component_max` and the order `component`
                 *     are about.
                 */
                component?: string;
                component_min?: number;
                component_max?: number;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 100 when absent, 500 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SampleList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session_keys: {
        parameters: {
            query?: {
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 1,000 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePersonalKey"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_keys_id_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session_methods: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInMethods"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session_oidc: {
        parameters: {
            query?: {
                /** @description Path and query of the page of this server to which the browser returns; `/` when absent or when it is no such page. */
                back?: string;
                /**
                 * @description Name of the tenant in which the session begins, if the person is a member of it; otherwise, and when absent, it
                 *     begins in the one to which they have belonged for longest.
                 */
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirect to the provider; sets the cookie `assay_oidc` */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused: redirects a browser to `/sign-in?problem=CODE` */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session_oidc_callback: {
        parameters: {
            query?: {
                state?: string;
                code?: string;
                error?: string;
                /** @description Issuer of the answer (RFC 9207). */
                iss?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed in: redirect to the page that asked; sets the cookie `assay_session`. A refused browser is redirected to `/sign-in?problem=CODE` */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePassword"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_tenant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SwitchTenant"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_simulations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulationRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Simulation"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_tenants: {
        parameters: {
            query?: {
                /** @description Part of a name; upper and lower case are alike. */
                q?: string;
                /** @description Cursor: the `next` of the previous page. */
                after?: string;
                /** @description Maximum number of items: 1,000 when absent, 1,000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_tenants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTenant"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_tenants_name: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patch_tenants_name: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TenantSettings"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_tenants_name_usage: {
        parameters: {
            query?: {
                /** @description Number of days up to today: 30 when absent, 400 at most. */
                days?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantUsage"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_webhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_webhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_webhooks_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_webhooks_id_deliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_webhooks_id_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_workers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_workers_remote: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoteWorkerList"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_workers_remote_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_workers_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWorkerToken"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerToken"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_workers_id_drain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}

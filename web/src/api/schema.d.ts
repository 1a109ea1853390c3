// Written by `make web-api` from the server's OpenAPI document.

export interface paths {
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
         * Administrative acts with what they changed, the latest first; with `admin:*` alone, those on your
         *     own tenant.
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
         * Batches in the order in which they were announced, the newest first; those that were made for one
         *     request alone are left out.
         */
        get: operations["get_batches"];
        put?: never;
        /** Announce a batch: the rollout has started, requests will come. */
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
        /** A batch as it stands; with `Prefer: wait=N` once it has ended, or after N seconds. */
        get: operations["get_batches_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
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
        /** Cancel a batch: what has not ended ends as an error, never as a number. */
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
    "/v1/batches/{id}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** When the requests of a completed batch came and how long each stage of them ran. */
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
        /** Submit requests. An item whose key is in the batch already is left alone: repeats are harmless. */
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
         * Results in the order of completion. With `Accept: application/x-ndjson` the stream follows
         *     until the batch has ended.
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
         * When each request of a batch waited and ran, stage by stage, and why the batch was late. Of more
         *     than 4,096 requests so many are shown.
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
        /** Make the first administrator of the platform, once, and sign in as such. */
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
        /** Every pool: bounds, workers, what waits, and what the planner wants and why. */
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
        /** How pools stood and what the planner decided, over time. */
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
         * Set how many workers a pool has at least and at most. It holds at once, and over restarts, where
         *     it overrides the command line. Busy workers above `max` finish what they do.
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
         * Incidents of your tenant, the latest first; with `platform:*` those of the platform as well. They
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
        /** A tenant's keys, without their secrets. */
        get: operations["get_keys"];
        put?: never;
        /** Make a key. The answer has the whole key, this once. */
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
         * Give a key another secret; the answer has it, this once. The old one works for a while longer,
         *     so that nobody who uses it is cut off.
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
         * Follow what is live as server-sent events: `snapshot` (a `LiveSnapshot`) first, then `delta`s
         *     (`LiveDelta`), four a second at most. Behind a `Last-Event-ID` that is known still come the deltas
         *     since, else another snapshot.
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
        /** A tenant's members. */
        get: operations["get_members"];
        put?: never;
        /** Add a member by address. For who is new here the answer has an invitation, this once. */
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
        /** Give a member another role; it holds at once. */
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
        /** Live batches, what waits, and the last incidents: of your tenant, or of all. */
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
        /** Everybody. */
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
        /** Rename somebody, or keep them from signing in. */
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
         * Invite somebody anew, who has lost their password. The old one is gone, and so are all sessions;
         *     the answer has the invitation, this once.
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
        /** Every version of every plugin. */
        get: operations["get_plugins"];
        put?: never;
        /** Publish a component; its own `describe` names it. The same bytes again change nothing. */
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
    "/v1/plugins/{name}/channels/{channel}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Point a channel to a version. Runs that are under way keep theirs. */
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
         * Point a channel to the version that it had before, the last that is not yanked. Runs that are
         *     under way keep theirs.
         */
        post: operations["post_plugins_name_channels_channel_rollback"];
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
        /** Keep new runs off a version. Runs that use it keep it. */
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
        /** What waits in each pool, batch by batch, in the order in which it is served. */
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
        /** A request: what came in and, once it has ended, what came out. */
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
        /** The bytes that a stage left for the next, by the stage's name. */
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
        /** What the plugin logged for a request, over all its stages and tries. */
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
         * Run a request again with the same body, settings and seed, by its own version of the plugin or by
         *     another, and compare the outcomes. It is a request like any other: quotas and usage count it.
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
        /** Training runs, the one that was active last first: when its last batch ended, or when it began. */
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
        /** One run, its last batches as columns, and arrival curves of some of them. */
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
         * What the plugin logged for the requests of a run: the newest batch first, in it by request. A page
         *     looks through 64 batches at most, so that one with few lines may have a `next`.
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
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who calls, as what, and what else there is to switch to. */
        get: operations["get_session"];
        put?: never;
        /** Sign in. The answer sets the cookie `assay_session`. */
        post: operations["post_session"];
        /** Sign out. */
        delete: operations["delete_session"];
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
        /** How one can sign in. */
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
        /** Begin to sign in by the OpenID provider: for browsers, which are sent there. */
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
        /** End a sign-in by the OpenID provider: for browsers, which come from there and go to `/`. */
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
         * Replay completed batches on a virtual clock: when would they have ended, with which workers? Of a
         *     run the last 20 batches are replayed, of which the first is history only.
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
        /** Every tenant; with `admin:*` alone, your own. */
        get: operations["get_tenants"];
        put?: never;
        /** Make a tenant. */
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
        /** A tenant: what bounds it and what is granted to it. */
        get: operations["get_tenants_name"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a tenant's settings. The body is a JSON merge patch (RFC 7396) of them: what it does not
         *     name stays, and null takes a bound away. It holds at once.
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
         * What a tenant uses now, beside its quotas, and what it cost by pool and day (UTC). Batches count
         *     on the day on which they end.
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
    "/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every worker: what it is and what it runs. */
        get: operations["get_workers"];
        put?: never;
        post?: never;
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
         * Drain a worker: it finishes what it has in hand, gets nothing more and ends. The planner may start
         *     another in its place.
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
            /** @description Another name than the invitation's. */
            name?: string | null;
            password: string;
            token: string;
        };
        /** @description `POST /v1/members`. */
        AddMember: {
            email: string;
            /** @description Of who is new here. */
            name?: string;
            role: components["schemas"]["Role"];
            /** @description The tenant's name; your own when absent. */
            tenant?: string | null;
        };
        /** @description `POST /v1/batches`: a rollout has started and a batch of requests will come. */
        AnnounceBatch: {
            /**
             * Format: u-int32
             * @description The batch is complete with this many requests, without a seal.
             */
            expected_size?: number | null;
            /**
             * Format: u-int32
             * @description Samples of one prompt; a group is complete with this many.
             */
            group_size?: number | null;
            /** Format: u-int64 */
            iteration?: number;
            /**
             * Format: u-int32
             * @description The extra delay that the run tolerates (the paper's D).
             */
            max_extra_delay_ms?: number | null;
            /** @description `name@channel`, `name@version`, or `tenant/name@...`. */
            plugin: string;
            /** @description The training run; it keeps the plugin digest and settings of its first batch. */
            run: string;
            /** @description The plugin's settings for this run. */
            settings?: Record<string, never> | null;
            /**
             * @description Whether requests that are equal share one computation, where the plugin is deterministic;
             *     they do unless this is false.
             */
            share_equal?: boolean | null;
        };
        /** @description When the requests of a batch came, from its first one on. */
        ArrivalCurve: {
            /** @description Points of time, evenly spread up to the last arrival. */
            at_ms: number[];
            batch: string;
            /** Format: u-int64 */
            iteration: number;
            /** @description The share of the requests that had come by then. */
            share: number[];
        };
        /** @description What a stage left for the next, without its bytes. */
        ArtifactSummary: {
            /** Format: u-int64 */
            bytes: number;
            content_type: string;
            created_at: string;
            /** @description The stage that left it. */
            stage: string;
        };
        /** @description Who acted. */
        AuditActor: {
            id?: string | null;
            /** @description `key`, `person`, or `platform`: the server itself. */
            kind: string;
            /** @description A key's name, a person's address. */
            name: string;
            /** @description The key's. */
            tenant?: string | null;
        };
        /** @description One act, with what it changed. */
        AuditEntry: {
            /** @description Noun and verb, such as `key.revoke`. */
            action: string;
            actor: components["schemas"]["AuditActor"];
            /** @description Absent for what is gone. */
            after?: unknown;
            at: string;
            /** @description Absent for what was made. */
            before?: unknown;
            /**
             * Format: int64
             * @description Grows with time; give the last one of a page as `before` for the next.
             */
            id: number;
            /** @description The name or id of what was changed. */
            subject: string;
            /** @description Whose things were changed; absent for the platform's. */
            tenant?: string | null;
        };
        AuditPage: {
            /** @description The latest first. */
            items: components["schemas"]["AuditEntry"][];
            /**
             * Format: int64
             * @description Give it as `before` for what came earlier; absent when this is all.
             */
            next?: number | null;
        };
        Batch: {
            announced_at: string;
            counts: components["schemas"]["Counts"];
            done_at?: string | null;
            /** @description When the last request is expected to end. */
            estimated_done_at?: string | null;
            /** Format: u-int32 */
            expected_size?: number | null;
            /** @description Since when its requests and results are kept no longer; its totals stay. */
            expired_at?: string | null;
            /**
             * Format: double
             * @description The paper's d: how much later the batch ended than its slowest request could have.
             */
            extra_delay_ms?: number | null;
            first_request_at?: string | null;
            /** Format: u-int32 */
            group_size?: number | null;
            id: string;
            /** Format: u-int64 */
            iteration: number;
            /** Format: u-int32 */
            max_extra_delay_ms?: number | null;
            /**
             * Format: double
             * @description Over every request with a reward; absent while there is none.
             */
            mean_reward?: number | null;
            /** @description `name@version`. */
            plugin: string;
            plugin_digest: string;
            run: string;
            sealed_at?: string | null;
            state: components["schemas"]["BatchState"];
        };
        /** @description A completed batch in numbers. */
        BatchHistory: {
            announced_at: string;
            done_at: string;
            /** @description The paper's T: when the last request could have ended, had none ever waited. */
            earliest_end_at: string;
            /**
             * Format: double
             * @description The paper's d: how much later than T the batch ended.
             */
            extra_delay_ms: number;
            first_request_at: string;
            id: string;
            /** Format: u-int64 */
            iteration: number;
            /** @description `name@version`. */
            plugin: string;
            plugin_digest: string;
            /** Format: u-int32 */
            requests: number;
            run: string;
            /** @description For how long workers of each pool were busy with it. */
            worker_seconds: {
                [key: string]: number;
            };
        };
        /** @description `GET /v1/batches`: the newest first. */
        BatchList: {
            items: components["schemas"]["BatchSummary"][];
            /** @description Give it as `after` for the next page; absent when this is all. */
            next?: string | null;
        };
        /**
         * @description `GET /v1/batches/{id}/profile`: when the requests of a completed batch came and how long they
         *     ran.
         */
        BatchProfile: {
            batch: components["schemas"]["BatchHistory"];
            /** @description In the order of completion. */
            requests: components["schemas"]["RequestProfile"][];
            stages: components["schemas"]["ProfileStage"][];
        };
        /**
         * @description Life of a batch: `announced -> open -> sealed -> done | cancelled | expired`.
         * @enum {string}
         */
        BatchState: "announced" | "open" | "sealed" | "done" | "cancelled" | "expired";
        /**
         * @description Which batches of a list are asked for: `live`, `ended`, or those in one state.
         * @enum {string}
         */
        BatchStateFilter: "live" | "ended" | "announced" | "open" | "sealed" | "done" | "cancelled" | "expired";
        BatchSummary: {
            batch: components["schemas"]["Batch"];
            /** @description Its extra delay is above what its run tolerates. */
            late: boolean;
            rollup?: components["schemas"]["Rollup"] | null;
        };
        /** @description `POST /v1/bootstrap`: makes the first administrator of the platform. */
        Bootstrap: {
            email: string;
            name?: string;
            password: string;
            /** @description From the file `bootstrap.token` in the server's data folder. */
            token: string;
        };
        /** @description `GET /v1/capacity`. */
        Capacity: {
            plan?: components["schemas"]["LastPlan"] | null;
            /** @description How the number of workers is chosen: assay, distrs, history, zq or fixed. */
            planner: string;
            /** @description By name. */
            pools: components["schemas"]["PoolCapacity"][];
        };
        /** @description `GET /v1/capacity/history`: kept for 7 days. */
        CapacityHistory: {
            from: string;
            /** @description By name. */
            pools: components["schemas"]["PoolHistory"][];
            to: string;
        };
        /** @description How a pool stood: of each number the most within the sample's part of the time asked for. */
        CapacitySample: {
            at: string;
            /** Format: u-int32 */
            busy: number;
            /** Format: u-int32 */
            ceiling?: number | null;
            /**
             * Format: double
             * @description What the pool's workers, those that start included, cost a second.
             */
            cost: number;
            /**
             * Format: u-int32
             * @description Workers that there was work for: busy ones and requests that waited.
             */
            demand: number;
            /** Format: u-int32 */
            draining: number;
            /** Format: u-int32 */
            hold?: number | null;
            /** Format: u-int32 */
            idle: number;
            /** Format: u-int32 */
            queued: number;
            /** Format: u-int32 */
            starting: number;
            /**
             * Format: u-int32
             * @description Workers with which the plan saw no request wait; absent before the first plan.
             */
            zero_queue?: number | null;
        };
        /** @description `POST /v1/session/password`. */
        ChangePassword: {
            current: string;
            new: string;
        };
        /** @description Requests of a batch by what became of them. */
        Counts: {
            /** Format: u-int32 */
            error: number;
            /** Format: u-int32 */
            scored: number;
            /**
             * Format: u-int32
             * @description Of all that ended those that did not run: an equal request's outcome is theirs.
             */
            shared?: number;
            /**
             * Format: u-int32
             * @description Acknowledged.
             */
            submitted: number;
            /** Format: u-int32 */
            timed_out: number;
        };
        CreateKey: {
            expires_at?: string | null;
            name?: string;
            /** @description Plugins whose batches it may announce, as `name` or `name@channel`; all of them when absent. */
            plugins?: string[] | null;
            scopes: components["schemas"]["Scope"][];
            /** @description The tenant's name; your own when absent. */
            tenant?: string | null;
        };
        /** @description `POST /v1/tenants`. */
        CreateTenant: {
            name: string;
            settings?: components["schemas"]["TenantSettings"];
        };
        /** @description What a tenant used of a pool in a day (UTC), by when its batches ended. */
        DayUsage: {
            /**
             * Format: double
             * @description Seconds times what a worker of the pool cost then.
             */
            cost: number;
            /** @description Such as `2026-09-21`. */
            day: string;
            pool: string;
            /**
             * Format: u-int64
             * @description That ran on the pool.
             */
            requests: number;
            /** Format: double */
            worker_seconds: number;
        };
        /** @description A batch that has just ended. */
        EndedBatch: {
            counts: components["schemas"]["Counts"];
            done_at?: string | null;
            /** Format: double */
            extra_delay_ms?: number | null;
            id: string;
            /** Format: u-int64 */
            iteration: number;
            /** Format: double */
            mean_reward?: number | null;
            /** @description `name@version`. */
            plugin: string;
            run: string;
            state: components["schemas"]["BatchState"];
            /** @description Its name. */
            tenant: string;
        };
        /**
         * @description Why there is no reward.
         * @enum {string}
         */
        ErrorCode: "plugin_trap" | "plugin_error" | "out_of_memory" | "stack_overflow" | "bad_outcome" | "bad_request" | "bad_settings" | "unavailable" | "plugin_unloadable" | "worker_lost" | "lease_expired" | "cancelled";
        /** @description What a plugin that asks for it gets. */
        Grants: {
            /**
             * @description `assay:gpu`.
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
             * @description Toolchains of `assay:exec` by name; all of them when absent, none when empty.
             * @default null
             */
            toolchains: string[] | null;
        };
        /** @description The groups among the shown requests, in the order in which they came. */
        GroupColumns: {
            /** @description When the last of its requests ended; null before. */
            completed_ms: (number | null)[];
            finished: number[];
            name: string[];
            requests: number[];
        };
        /** @description Bins of equal width between two bounds, which belong to the first and the last. */
        Histogram: {
            counts: number[];
            /** Format: double */
            from: number;
            /** Format: double */
            to: number;
        };
        /** @description Something that went wrong. */
        Incident: {
            /** @description The latest time that it counts. */
            at: string;
            batch?: string | null;
            /** @description Of failed requests: the error's code. */
            code?: string | null;
            /**
             * Format: u-int32
             * @description How often: workers, or requests; of further batches that share an entry, batches.
             */
            count: number;
            /** @description In words. */
            detail: string;
            /** Format: int64 */
            id: number;
            kind: components["schemas"]["IncidentKind"];
            pool?: string | null;
            run?: string | null;
            /** @description Its name; absent for the platform's. */
            tenant?: string | null;
        };
        /** @enum {string} */
        IncidentKind: "worker_died" | "worker_killed" | "worker_start_failed" | "batch_late" | "requests_failed";
        /** @description `GET /v1/incidents`. */
        IncidentPage: {
            /** @description The latest first. */
            items: components["schemas"]["Incident"][];
            /**
             * Format: int64
             * @description Give it as `after` for the page behind; absent when this is all.
             */
            next?: number | null;
        };
        /** @description With its token a password can be set, once. */
        Invitation: {
            expires_at: string;
            token: string;
        };
        ItemProblem: {
            code: string;
            detail: string;
            /**
             * Format: u-int64
             * @description Place of the item in the call, from 1 (its line, in NDJSON).
             */
            line: number;
        };
        /**
         * @description The last batches of a run as columns, the newest last. What only a roll-up knows is null for
         *     batches that have none: live ones, and those that ended before there were any.
         */
        Iterations: {
            announced_at: string[];
            batch: string[];
            cost: {
                [key: string]: number;
            }[];
            counts: components["schemas"]["Counts"][];
            /** @description From the first request to the end. */
            duration_ms: (number | null)[];
            ended_at: (string | null)[];
            extra_delay_ms: (number | null)[];
            histogram: (components["schemas"]["Histogram"] | null)[];
            iteration: number[];
            max: (number | null)[];
            max_extra_delay_ms: (number | null)[];
            mean: (number | null)[];
            min: (number | null)[];
            state: components["schemas"]["BatchState"][];
            std: (number | null)[];
            /** @description As in a roll-up; empty without one. */
            verdicts: {
                [key: string]: number;
            }[];
            worker_seconds: {
                [key: string]: number;
            }[];
            /** @description Of the complete groups. */
            zero_variance_share: (number | null)[];
        };
        Key: {
            created_at: string;
            expires_at?: string | null;
            id: string;
            /** @description When it was last used, to the minute. */
            last_used_at?: string | null;
            name: string;
            /** @description Plugins whose batches it may announce; all of them when absent. */
            plugins?: string[] | null;
            /** @description The public part of the key. */
            prefix: string;
            /** @description Until when the secret before the last rotation works. */
            previous_secret_until?: string | null;
            revoked_at?: string | null;
            scopes: components["schemas"]["Scope"][];
            /** @description The whole key; shown once, when it is made or rotated. */
            secret?: string | null;
            tenant: string;
        };
        KeyList: {
            items: components["schemas"]["Key"][];
        };
        /** @description The planner's last run. */
        LastPlan: {
            /** Format: double */
            age_ms: number;
            /** @description When its view of the service was taken. */
            at: string;
            /**
             * Format: u-int64
             * @description Requests in the simulated workload.
             */
            requests: number;
            /**
             * Format: u-int64
             * @description How often it was simulated.
             */
            simulations: number;
            /** Format: double */
            took_ms: number;
        };
        /** @description Why a batch ended when it did. */
        Lateness: {
            /** @description What the critical request went through. */
            critical: components["schemas"]["RequestDelay"];
            /**
             * Format: double
             * @description The paper's d: from T to the end.
             */
            extra_delay_ms: number;
            /** @description What the request that ended last went through; d is its waits and the rest, less the slack. */
            last: components["schemas"]["RequestDelay"];
            /** @description Whether the extra delay is above D. */
            late: boolean;
            /** @description In a sentence, with numbers. */
            reason: string;
        };
        /** @description A batch that has not ended. */
        LiveBatch: {
            announced_at: string;
            counts: components["schemas"]["Counts"];
            /** @description T + D. */
            due_at?: string | null;
            /** @description The paper's T as far as it is known now: when the last request could end, if none ever waited. */
            earliest_end_at?: string | null;
            /** @description When its last request is expected to end if nothing waits any more. */
            estimated_done_at?: string | null;
            /** Format: u-int32 */
            expected_size?: number | null;
            first_request_at?: string | null;
            id: string;
            /** Format: u-int64 */
            iteration: number;
            /** @description `name@version`. */
            plugin: string;
            /**
             * Format: u-int32
             * @description Requests that wait for a worker now.
             */
            queued: number;
            run: string;
            /**
             * Format: u-int32
             * @description Requests that workers run now.
             */
            running: number;
            state: components["schemas"]["BatchState"];
            /** @description Its name. */
            tenant: string;
            /**
             * Format: double
             * @description The paper's D: how much later than T it may end.
             */
            tolerance_ms: number;
        };
        /** @description The event `delta` of `GET /v1/live`: what has changed, four times a second at most. */
        LiveDelta: {
            at: string;
            /** @description Those that are new or changed; each replaces what was known of it. */
            batches: components["schemas"]["LiveBatch"][];
            /** Format: u-int32 */
            batches_total: number;
            /** @description They have ended since. */
            ended: components["schemas"]["EndedBatch"][];
            /** @description New ones and, with the same id, those that count more than before. */
            incidents: components["schemas"]["Incident"][];
            /** @description Live still, and no longer among the most urgent. */
            left: string[];
            /** @description With `platform:*` alone: those that have changed. */
            pools: components["schemas"]["PoolCapacity"][];
            /** @description The whole of it, where it has changed. */
            queue?: components["schemas"]["StageQueue"][] | null;
        };
        /** @description The event `snapshot` of `GET /v1/live`: all there is, to start from. */
        LiveSnapshot: {
            at: string;
            /** @description The most urgent first, 200 at most. */
            batches: components["schemas"]["LiveBatch"][];
            /** Format: u-int32 */
            batches_total: number;
            /** @description With `platform:*` alone. */
            pools?: components["schemas"]["PoolCapacity"][] | null;
            queue: components["schemas"]["StageQueue"][];
        };
        /** @description One line that a plugin logged. */
        LogLine: {
            /** @description `debug`, `info`, `warn`, `error`, or `stderr`. */
            level: string;
            message: string;
            stage: string;
        };
        /** @description `GET /v1/runs/{run}/logs`: the newest batch first, in it by request. */
        LogPage: {
            items: components["schemas"]["RunLogLine"][];
            /** @description Give it as `after` for the page behind; absent when this is all. */
            next?: string | null;
        };
        Member: {
            added_at: string;
            /** @description Since when this person cannot sign in anywhere. */
            disabled_at?: string | null;
            email: string;
            invitation?: components["schemas"]["Invitation"] | null;
            /** @description Has not set a password yet, nor signed in otherwise. */
            invited: boolean;
            name: string;
            person: string;
            role: components["schemas"]["Role"];
            tenant: string;
        };
        MemberList: {
            items: components["schemas"]["Member"][];
        };
        Membership: {
            role: components["schemas"]["Role"];
            tenant: string;
        };
        /** @description How a request ended: what a trainer gets. The error has no numeric reward by construction. */
        Outcome: (components["schemas"]["Scored"] & {
            /** @enum {string} */
            kind: "scored";
        }) | {
            /** @enum {string} */
            kind: "timed_out";
            /** Format: double */
            reward: number;
            stage: string;
        } | {
            /** Format: u-int32 */
            attempts: number;
            code: components["schemas"]["ErrorCode"];
            /** @enum {string} */
            kind: "error";
            message: string;
            retryable: boolean;
        };
        /** @description `GET /v1/overview`: what is live, as committed, and what the scheduler has of it. */
        Overview: {
            /** @description When the scheduler was looked at. */
            at: string;
            /** @description The most urgent first, 200 at most. */
            batches: components["schemas"]["LiveBatch"][];
            /**
             * Format: u-int32
             * @description Live batches, those that are not listed included.
             */
            batches_total: number;
            /** @description The latest first, 20 at most. */
            incidents: components["schemas"]["Incident"][];
            /** @description With `platform:*` alone. */
            pools?: components["schemas"]["PoolCapacity"][] | null;
            /** @description By plugin, stage and pool: what waits and runs, single rewards included. */
            queue: components["schemas"]["StageQueue"][];
        };
        Person: {
            created_at: string;
            /** @description Since when this person cannot sign in. */
            disabled_at?: string | null;
            email: string;
            id: string;
            invitation?: components["schemas"]["Invitation"] | null;
            memberships: components["schemas"]["Membership"][];
            name: string;
            /** @description Whether the person has signed in by the OpenID provider. */
            oidc: boolean;
            /** @description Whether a password was set. */
            password: boolean;
        };
        PersonList: {
            items: components["schemas"]["Person"][];
        };
        /** @description Why that start is too late. */
        PlanBecause: {
            by_at: string;
            end_at: string;
            /** @enum {string} */
            kind: "late";
        } | {
            by_at: string;
            /** @enum {string} */
            kind: "may_time_out";
            latest_at: string;
        } | {
            /** Format: double */
            budget_ms: number;
            /** Format: double */
            expected_ms: number;
            /** @enum {string} */
            kind: "risk";
        };
        /** @description The planner's target of a pool changed. */
        PlanDecision: {
            at: string;
            /** Format: u-int32 */
            ceiling: number;
            /** Format: u-int32 */
            ceiling_before?: number | null;
            /** Format: u-int32 */
            hold: number;
            /**
             * Format: u-int32
             * @description Absent where nothing earlier is known.
             */
            hold_before?: number | null;
            /** @description The reason in words. */
            why: string;
        };
        /** @description Why a pool's ceiling is what it is. */
        PlanReason: {
            /** @enum {string} */
            kind: "idle";
        } | {
            /** @enum {string} */
            kind: "mode";
        } | {
            /** @enum {string} */
            kind: "minimum";
        } | {
            /** @enum {string} */
            kind: "maximum";
            /** Format: u-int32 */
            wanted: number;
        } | {
            /** @enum {string} */
            kind: "unknown";
        } | {
            /** @enum {string} */
            kind: "needed";
        } | {
            batch: string;
            because: components["schemas"]["PlanBecause"];
            /** @enum {string} */
            kind: "bound";
            /** @description A request of the batch would be ready for the stage ... */
            ready_at: string;
            run: string;
            /**
             * Format: u-int32
             * @description From 0.
             */
            stage: number;
            /** @description ... and start so late that */
            start_at: string;
        };
        /** @description One version of a plugin. */
        Plugin: {
            /** @description Channels that point to this version, such as `prod`. */
            channels: string[];
            deterministic: boolean;
            digest: string;
            label_schema?: unknown;
            name: string;
            published_at: string;
            /** @description The name of the key, or the person's address; absent where it was not noted. */
            published_by?: string | null;
            settings_schema?: unknown;
            stages: components["schemas"]["Stage"][];
            summary: string;
            /** Format: double */
            timeout_reward: number;
            version: string;
            /** @description Why no new run may pin this version; absent while it is not yanked. */
            yanked?: string | null;
        };
        PluginList: {
            items: components["schemas"]["Plugin"][];
        };
        /** @description `GET /v1/plugins/{name}/versions/{version}/stats`: summed up over its last batches. */
        PluginStats: {
            /**
             * Format: u-int32
             * @description How many batches this is summed up over.
             */
            batches: number;
            counts: components["schemas"]["Counts"];
            errors: {
                [key: string]: number;
            };
            /** @description When the first and the last of them ended. */
            from?: string | null;
            /** Format: double */
            mean_reward?: number | null;
            /** @description `name@version`. */
            plugin: string;
            /** @description The runs of these batches. */
            runs: components["schemas"]["RunOnVersion"][];
            stages: components["schemas"]["StageHistogram"][];
            to?: string | null;
            verdicts: {
                [key: string]: number;
            };
        };
        PoolCapacity: {
            /**
             * Format: double
             * @description Of a worker, a second.
             */
            cost: number;
            /**
             * Format: u-int32
             * @description Never more workers than this.
             */
            max: number;
            /**
             * Format: u-int32
             * @description Workers that are there even when nothing is live.
             */
            min: number;
            pool: string;
            /**
             * Format: u-int64
             * @description Requests that wait for a worker.
             */
            queued: number;
            /**
             * Format: double
             * @description How long a worker takes to start, as measured lately.
             */
            startup_ms?: number | null;
            target?: components["schemas"]["PoolTarget"] | null;
            trouble?: components["schemas"]["StartTrouble"] | null;
            workers: components["schemas"]["PoolWorkers"];
        };
        PoolHistory: {
            /** @description Changes of the target, the latest first, 100 at most. */
            decisions: components["schemas"]["PlanDecision"][];
            pool: string;
            /** @description 500 at most, in the order of time; each holds until the next. */
            samples: components["schemas"]["CapacitySample"][];
        };
        PoolQueue: {
            /**
             * @description In the order in which they are served among those of their tenant (earliest batch first), 50
             *     at most.
             */
            batches: components["schemas"]["QueuedBatch"][];
            /**
             * Format: u-int32
             * @description Batches that wait, those that are not listed included.
             */
            batches_total: number;
            pool: string;
            /** Format: u-int64 */
            queued: number;
        };
        /** @description What the planner wants of a pool, and why. */
        PoolTarget: {
            /**
             * Format: u-int32
             * @description Workers that demand may raise this to.
             */
            ceiling: number;
            /**
             * Format: u-int32
             * @description Workers that are kept whether or not anything waits for them.
             */
            hold: number;
            reason: components["schemas"]["PlanReason"];
            /** @description The reason in words. */
            why: string;
            /**
             * Format: u-int32
             * @description What it would take for no request to wait.
             */
            zero_queue: number;
        };
        /** @description Workers by what they do. */
        PoolWorkers: {
            /** Format: u-int32 */
            busy: number;
            /**
             * Format: u-int32
             * @description They get nothing more and end.
             */
            draining: number;
            /** Format: u-int32 */
            idle: number;
            /**
             * Format: u-int32
             * @description Asked for and not there yet.
             */
            starting: number;
        };
        /** @description RFC 9457 problem, `application/problem+json`. */
        Problem: {
            /** @description Stable; branch on this. */
            code: string;
            detail: string;
            /** @description What to do about it. */
            hint?: string | null;
            request_id?: string | null;
            /** Format: u-int16 */
            status: number;
            title: string;
            type: string;
        };
        /** @description A stage as it was when the batch ran. */
        ProfileStage: {
            name: string;
            pool: string;
            /** Format: u-int32 */
            retries_max: number;
            /** Format: u-int32 */
            timeout_ms: number;
        };
        /** @description `PUT /v1/plugins/{name}/channels/{channel}`. */
        PromotePlugin: {
            version: string;
        };
        Quantiles: {
            /** Format: double */
            max_ms: number;
            /** Format: double */
            median_ms: number;
            /** Format: double */
            p95_ms: number;
        };
        /** @description `GET /v1/queue`: what waits in each pool. */
        QueueList: {
            at: string;
            /** @description By name; pools in which nothing waits are absent. */
            pools: components["schemas"]["PoolQueue"][];
        };
        /** @description What waits of one batch in one pool. */
        QueuedBatch: {
            /** @description By which it is ranked: T as far as it is known now. */
            earliest_end_at?: string | null;
            id: string;
            /** Format: u-int64 */
            iteration: number;
            /** Format: u-int32 */
            queued: number;
            run: string;
            /** Format: u-int32 */
            running: number;
            tenant: string;
        };
        /** @description Bounds. What is absent has no bound but the platform's own. */
        Quotas: {
            /**
             * Format: u-int32
             * @description Batches that have not ended; a single reward is one, too.
             * @default null
             */
            open_batches_max: number | null;
            /**
             * Format: u-int32
             * @description A bucket of so many requests that fills at this rate. A batch is admitted while it is not
             *     empty, and takes its whole expected size: no batch is refused half-way.
             * @default null
             */
            requests_per_minute_max: number | null;
            /**
             * Format: u-int64
             * @description Of requests, artifacts, results and logs.
             * @default null
             */
            stored_bytes_max: number | null;
            /**
             * @description The most workers at once, by pool.
             * @default {}
             */
            workers_max: {
                [key: string]: number;
            };
        };
        /** @description A request run again: the same body, settings and seed. */
        Replay: {
            /** @description Kind, verdict and reward are equal. */
            agrees: boolean;
            /** @description What is not equal: `kind`, `verdict`, `reward`. */
            differences: string[];
            recorded: components["schemas"]["ReplaySide"];
            replayed: components["schemas"]["ReplaySide"];
            request: string;
        };
        /** @description `POST /v1/requests/{id}/replay`. */
        ReplayRequest: {
            /** @description Another version of the same plugin; that of the request when absent. */
            version?: string | null;
        };
        ReplaySide: {
            id: string;
            outcome: components["schemas"]["Outcome"];
            /** @description `name@version`. */
            plugin: string;
            plugin_digest: string;
            stages: components["schemas"]["StageTime"][];
        };
        /** @description One request with all that is kept of it. */
        Request: {
            arrived_at: string;
            context?: components["schemas"]["RequestContext"] | null;
            group?: string | null;
            id: string;
            key: string;
            label?: unknown;
            metadata?: unknown;
            prompt: string;
            response: string;
            result?: components["schemas"]["ResultItem"] | null;
        };
        /** @description The requests of a timeline, in the order of admission. */
        RequestColumns: {
            arrived_ms: number[];
            finished_ms: (number | null)[];
            /** @description Place in the list of groups. */
            group: (number | null)[];
            key: string[];
            /** @description `scored`, `timed_out` or `error`; null while it waits or runs. */
            kind: (string | null)[];
            reward: (number | null)[];
            seq: number[];
            /** @description An element a stage. */
            stages: components["schemas"]["StageColumns"][];
            verdict: (string | null)[];
        };
        /** @description Where a request belongs. */
        RequestContext: {
            artifacts: components["schemas"]["ArtifactSummary"][];
            batch_state: components["schemas"]["BatchState"];
            /** @description When it could have ended without ever waiting. */
            earliest_end_at?: string | null;
            finished_at?: string | null;
            /** @description When the first request of its batch came. */
            first_request_at?: string | null;
            /** Format: u-int64 */
            iteration: number;
            /** @description `name@version`. */
            plugin: string;
            plugin_digest: string;
            run: string;
            /** @description The run's. */
            settings: Record<string, never>;
            /** @description The stages that ended, in order. */
            spans: components["schemas"]["Span"][];
        };
        /** @description What kept one request from ending when it could have. */
        RequestDelay: {
            /**
             * Format: double
             * @description What lies between its last stage's end and its own, and is no stage's.
             */
            rest_ms: number;
            /** Format: u-int32 */
            seq: number;
            /**
             * Format: double
             * @description How much earlier than T it could have ended.
             */
            slack_ms: number;
            waits: components["schemas"]["StageWait"][];
        };
        /**
         * @description Which requests of a batch are asked for.
         * @enum {string}
         */
        RequestKindFilter: "scored" | "timed_out" | "error" | "waiting";
        /** @description `GET /v1/batches/{id}/requests`: in the order of admission. */
        RequestList: {
            items: components["schemas"]["RequestSummary"][];
            /**
             * Format: u-int32
             * @description Give it as `after` for the next page; absent when this is all.
             */
            next?: number | null;
        };
        RequestProfile: {
            /**
             * Format: double
             * @description The paper's r_i: from the batch's first request to this one.
             */
            arrived_ms: number;
            group?: string | null;
            /** @description `scored`, `timed_out` or `error`. */
            outcome: string;
            /** @description The paper's s_ij, a stage each; null where the stage was not reached. */
            ran_ms: (number | null)[];
            /**
             * Format: u-int32
             * @description Place in the order of admission; absent when the outcome is no longer kept.
             */
            seq?: number | null;
            /** @description The word for what happened: the plugin's verdict, `timed_out`, or the error's code. */
            verdict?: string | null;
        };
        RequestSummary: {
            arrived_at: string;
            group?: string | null;
            id: string;
            key: string;
            /** @description `scored`, `timed_out` or `error`; null while it waits or runs. */
            kind?: string | null;
            /** @description The beginning of what an error says, or of the plugin's explanation. */
            message?: string | null;
            /** Format: double */
            reward?: number | null;
            /** Format: u-int32 */
            seq: number;
            /**
             * Format: double
             * @description From its arrival to its end.
             */
            took_ms?: number | null;
            verdict?: string | null;
        };
        /** @description One finished request. */
        ResultItem: {
            /**
             * Format: u-int32
             * @description Place in the order of completion, from 1; give it as `after` to go on behind it.
             */
            cursor: number;
            group?: string | null;
            id: string;
            key: string;
            outcome: components["schemas"]["Outcome"];
            /** @description The equal request that ran; its outcome is this one's as well. */
            shared_from?: string | null;
            /** @description The stages that ran, in order; none if the outcome is another's. */
            stages: components["schemas"]["StageTime"][];
        };
        ResultsPage: {
            /** @description Nothing will come behind this page. */
            done: boolean;
            items: components["schemas"]["ResultItem"][];
            /**
             * Format: u-int32
             * @description Give it as `after` for the next page.
             */
            next: number;
        };
        /** @description For how many days things are kept; what is absent, as long as the platform keeps it. */
        Retention: {
            /**
             * Format: u-int32
             * @description The times of completed batches.
             * @default null
             */
            history_days: number | null;
            /**
             * Format: u-int32
             * @description Requests, artifacts, results and logs, from the end of their batch on.
             * @default null
             */
            results_days: number | null;
        };
        Reward: {
            id: string;
            outcome: components["schemas"]["Outcome"];
            plugin_digest: string;
            /** @description As in a batch's results. */
            shared_from?: string | null;
            stages: components["schemas"]["StageTime"][];
        };
        /** @description `POST /v1/rewards`: one request, its outcome in the response. */
        RewardRequest: {
            label?: unknown;
            metadata?: unknown;
            plugin: string;
            prompt?: string;
            response: string;
            settings?: Record<string, never> | null;
            /** @description As in `POST /v1/batches`. */
            share_equal?: boolean | null;
        };
        /** @description Rewards of a batch, timeouts included. */
        Rewards: {
            /** Format: u-int32 */
            count: number;
            histogram: components["schemas"]["Histogram"];
            /** Format: double */
            max: number;
            /** Format: double */
            mean: number;
            /** Format: double */
            min: number;
            /**
             * Format: double
             * @description The standard deviation over all of them.
             */
            std: number;
        };
        /**
         * @description What a member may do in its tenant; each may do what those before it may.
         * @enum {string}
         */
        Role: "viewer" | "trainer" | "publisher" | "admin";
        /** @description What a batch left with its end, in numbers. */
        Rollup: {
            /**
             * Format: u-int32
             * @description Groups of two or more all of whose requests have a reward.
             */
            complete_groups: number;
            /** @description The same times what a second costs. */
            cost: {
                [key: string]: number;
            };
            /**
             * Format: u-int32
             * @description The request that determines T: even without ever waiting none could have ended later.
             */
            critical_seq?: number | null;
            /** @description Requests without a reward by the error's code. */
            errors: {
                [key: string]: number;
            };
            /** Format: u-int32 */
            groups: number;
            /**
             * Format: u-int32
             * @description The request that ended last.
             */
            last_seq?: number | null;
            rewards?: components["schemas"]["Rewards"] | null;
            stages: components["schemas"]["StageStats"][];
            /** @description Requests by the word for what happened: the most frequent ones, the rest under `other`. */
            verdicts: {
                [key: string]: number;
            };
            /** @description For how long workers of each pool were busy with it. */
            worker_seconds: {
                [key: string]: number;
            };
            /**
             * Format: u-int32
             * @description Complete groups whose rewards are all the same: there is nothing to learn from them.
             */
            zero_variance_groups: number;
        };
        /** @description `POST /v1/keys/{id}/rotate`. */
        RotateKey: {
            /**
             * Format: u-int32
             * @description How long the old secret works on; 24 when absent, 720 at most, 0 ends it at once.
             * @default 24
             */
            overlap_hours: number;
        };
        /** @description `GET /v1/runs/{run}/history`: completed batches of a run, the latest first. */
        RunHistory: {
            items: components["schemas"]["BatchHistory"][];
        };
        /** @description `GET /v1/runs`: what was active last comes first. */
        RunList: {
            items: components["schemas"]["RunSummary"][];
            /** @description Give it as `after` for the next page; absent when this is all. */
            next?: string | null;
        };
        /** @description One line that a plugin logged for a request of a run. */
        RunLogLine: {
            /** @description `debug`, `info`, `warn`, `error`, or `stderr`. */
            level: string;
            message: string;
            request: string;
            stage: string;
            /** @description The request's word for what happened; absent while it waits or runs. */
            verdict?: string | null;
        };
        RunOnVersion: {
            /** Format: u-int32 */
            batches: number;
            last_batch_at: string;
            /** Format: double */
            last_mean_reward?: number | null;
            run: string;
        };
        RunSummary: {
            /**
             * Format: u-int32
             * @description Batches that have ended.
             */
            batches: number;
            created_at: string;
            /** @description When its last batch ended. */
            last_batch_at?: string | null;
            /** Format: u-int64 */
            last_iteration?: number | null;
            /** Format: double */
            last_mean_reward?: number | null;
            /** Format: u-int32 */
            live_batches: number;
            name: string;
            /** @description `name@version`, pinned by its first batch. */
            plugin: string;
            plugin_digest: string;
        };
        /** @description `GET /v1/runs/{run}`. */
        RunView: {
            curves: components["schemas"]["ArrivalCurve"][];
            /** @description Whether earlier batches than those shown exist. */
            earlier: boolean;
            iterations: components["schemas"]["Iterations"];
            run: components["schemas"]["RunSummary"];
            settings: Record<string, never>;
        };
        /**
         * @description What a key may do.
         * @enum {string}
         */
        Scope: "batches:write" | "batches:read" | "plugins:publish" | "plugins:promote" | "admin:*" | "platform:*";
        /** @description A reward, as the plugin gave it. Always finite. */
        Scored: {
            /** @description The parts the reward was made from. */
            components?: {
                [key: string]: number;
            };
            explanation?: string;
            /** Format: double */
            reward: number;
            /** @description The plugin's word for what happened. */
            verdict: string;
        };
        /** @description `POST /v1/batches/{id}/seal`: no more requests will come. */
        SealBatch: {
            /**
             * Format: u-int32
             * @description Refused when the batch has another number of requests.
             */
            final_count?: number | null;
        };
        /** @description `GET /v1/session`: who calls, as what. */
        Session: {
            /** @description To be sent back as `X-Assay-Csrf` with everything but GET and HEAD. */
            csrf?: string | null;
            /** @description When the session ends, whatever happens. */
            expires_at?: string | null;
            key?: components["schemas"]["SessionKey"] | null;
            person?: components["schemas"]["SessionPerson"] | null;
            role?: components["schemas"]["Role"] | null;
            scopes: components["schemas"]["Scope"][];
            /** @description Whose things are read and changed. */
            tenant: string;
            /** @description Which tenants the session can be switched to. */
            tenants?: components["schemas"]["Membership"][];
        };
        SessionKey: {
            id: string;
            name: string;
        };
        SessionPerson: {
            email: string;
            id: string;
            name: string;
        };
        /** @description `PUT /v1/capacity/{pool}`: from now on, and over restarts. */
        SetCapacity: {
            /**
             * Format: u-int32
             * @description Never more workers than this; busy ones above it finish what they do.
             */
            max: number;
            /**
             * Format: u-int32
             * @description Workers that are there even when nothing is live.
             */
            min: number;
        };
        /** @description `PATCH /v1/members/{person}`. */
        SetMember: {
            role: components["schemas"]["Role"];
        };
        /** @description `PATCH /v1/people/{id}`: what is absent stays. */
        SetPerson: {
            /** @description Who is disabled cannot sign in, and is signed out. */
            disabled?: boolean | null;
            name?: string | null;
        };
        /** @description `POST /v1/session`. */
        SignIn: {
            email: string;
            password: string;
        };
        /** @description How one can sign in here; for who has not. */
        SignInMethods: {
            /** @description There is no administrator yet; one can be made with the token in the data folder. */
            bootstrap: boolean;
            oidc: boolean;
            password: boolean;
        };
        /** @description One batch as it was and as it would have been. */
        SimulatedBatch: {
            /** Format: double */
            actual_end_ms: number;
            /** Format: double */
            actual_extra_delay_ms: number;
            /**
             * Format: double
             * @description From its announcement to T, which no policy changes.
             */
            earliest_end_ms: number;
            /**
             * Format: double
             * @description From its announcement on.
             */
            end_ms: number;
            /**
             * Format: double
             * @description The paper's d.
             */
            extra_delay_ms: number;
            id: string;
            /** Format: u-int64 */
            iteration: number;
            late: boolean;
            /** Format: u-int32 */
            requests: number;
        };
        SimulatedPoint: {
            /**
             * Format: double
             * @description From the announcement of the first simulated batch on; below zero before it.
             */
            at_ms: number;
            /** Format: u-int32 */
            busy: number;
            /** Format: u-int32 */
            queued: number;
            /**
             * Format: u-int32
             * @description Starting or joined.
             */
            workers: number;
        };
        /** @description Workers of one stage. Where several stages share a pool, each has workers of its own here. */
        SimulatedStage: {
            /**
             * Format: double
             * @description For how long workers of the stage really ran the simulated batches.
             */
            actual_busy_seconds: number;
            /** Format: double */
            busy_seconds: number;
            /** Format: double */
            cost: number;
            /** @description 500 at most; each holds until the next. */
            curve: components["schemas"]["SimulatedPoint"][];
            pool: string;
            stage: string;
            /** Format: double */
            starting_seconds: number;
            /** Format: u-int32 */
            starts: number;
            /**
             * Format: double
             * @description From when each worker was asked for until it was stopped.
             */
            worker_seconds: number;
            /** Format: u-int32 */
            workers_peak: number;
        };
        /** @description What would have become of recorded batches. */
        Simulation: {
            /** @description In the order of time. */
            batches: components["schemas"]["SimulatedBatch"][];
            /**
             * Format: u-int32
             * @description Batches that were replayed, those that are history only included.
             */
            batches_replayed: number;
            /** @description The run's first batch has none before it: it was its own history. */
            own_history: boolean;
            policy: string;
            /** Format: u-int32 */
            requests_replayed: number;
            /** Format: double */
            simulated_in_ms: number;
            /** @description A stage of the plugin each, over the whole time that is simulated. */
            stages: components["schemas"]["SimulatedStage"][];
            /** Format: double */
            tolerance_ms: number;
        };
        /** @description `POST /v1/simulations`: the planner on what really came, with other settings. */
        SimulationRequest: {
            /** @description A completed batch; the batches of its run before it are the history that the planner has. */
            batch?: string | null;
            /**
             * @description `assay` (when absent), `distrs`, `history`, `zq`, `ideal`, `limit`, `fixed` (as many workers
             *     as `pools_max` says) or `fixed:STAGE=N,...`.
             */
            policy?: string | null;
            /** @description By pool: the most workers of each of its stages; as now where it is silent. */
            pools_max?: {
                [key: string]: number;
            };
            /** @description In place of a batch: the last batches of a run. */
            run?: string | null;
            /** @description By pool: how long a worker takes to start; as measured lately where it is silent. */
            startup_ms?: {
                [key: string]: number;
            };
            /**
             * Format: u-int32
             * @description The paper's D; the batch's own when absent.
             */
            tolerance_ms?: number | null;
        };
        /** @description One stage of one request, in calendar time. */
        Span: {
            /** Format: u-int32 */
            attempts: number;
            ended_at: string;
            pool: string;
            queued_at: string;
            stage: string;
            started_at: string;
            /** Format: u-int32 */
            timeout_ms: number;
        };
        /** @description One stage of a plugin: `stage` of `assay:reward/types`. */
        Stage: {
            /** Format: u-int64 */
            memory_bytes_max: number;
            name: string;
            /** @description The kind of worker it runs on: `cpu`, `gpu`, or an operator's own. */
            pool: string;
            /** Format: u-int32 */
            retries_max: number;
            /** Format: u-int32 */
            timeout_ms: number;
        };
        /** @description One stage of each request of a timeline; null where it has not ended or was not reached. */
        StageColumns: {
            attempts: (number | null)[];
            ended_ms: (number | null)[];
            /** @description Since when it waited; also known of the stage at which an unfinished request is. */
            queued_ms: (number | null)[];
            started_ms: (number | null)[];
        };
        /** @description How long a stage ran. */
        StageHistogram: {
            counts: number[];
            /** @description Where each bin ends; the first begins at zero, the last holds all that is longer. */
            edges_ms: number[];
            pool: string;
            /** Format: u-int32 */
            requests: number;
            /** Format: u-int32 */
            retries: number;
            stage: string;
            /** Format: u-int32 */
            timeout_ms: number;
        };
        /** @description Requests at one stage of one plugin. */
        StageQueue: {
            /** @description `name@version`. */
            plugin: string;
            pool: string;
            /** Format: u-int64 */
            queued: number;
            /** Format: u-int64 */
            running: number;
            stage: string;
        };
        /** @description How long one stage of a batch took. */
        StageStats: {
            pool: string;
            queued: components["schemas"]["Quantiles"];
            ran: components["schemas"]["Quantiles"];
            /** @description Requests by how long it ran; [`stage_edge_ms`] says where each bin ends. */
            ran_counts: number[];
            /**
             * Format: u-int32
             * @description That reached it.
             */
            requests: number;
            /**
             * Format: u-int32
             * @description Attempts beyond each request's first.
             */
            retries: number;
            stage: string;
            /** Format: u-int32 */
            timeout_ms: number;
        };
        /** @description When one stage of one request ran, relative to the request's arrival. */
        StageTime: {
            /** Format: u-int32 */
            attempts: number;
            /**
             * Format: double
             * @description From becoming ready to being granted to the worker that finished it.
             */
            queued_ms: number;
            /** Format: double */
            ran_ms: number;
            stage: string;
        };
        StageWait: {
            pool: string;
            /**
             * Format: double
             * @description For a worker, earlier tries included.
             */
            queued_ms: number;
            /** Format: u-int32 */
            retries: number;
            stage: string;
        };
        /** @description Why workers of a pool do not start. */
        StartTrouble: {
            /** @description What became of the last one. */
            error: string;
            failed_at: string;
            /**
             * Format: u-int64
             * @description Failed starts since one went well.
             */
            failures: number;
            /** @description The next try comes no earlier, if a worker is still wanted then. */
            next_try_at: string;
        };
        /** @description One of a stream of server-sent events: its fields, as a client's parser tells them apart. */
        StreamEvent: {
            /** @description JSON. */
            data: string;
            event: string;
            /** @description To be sent back as `Last-Event-ID`, to go on behind this one. */
            id?: string | null;
        };
        /** @description One request as a trainer submits it. `key` is unique in the batch: a repeat is harmless. */
        SubmitItem: {
            group?: string | null;
            key: string;
            /** @description The data set's answer, any JSON; the plugin gets its JSON text. */
            label?: unknown;
            metadata?: unknown;
            prompt?: string;
            response: string;
        };
        SubmitReply: {
            /** Format: u-int32 */
            accepted: number;
            items: components["schemas"]["Submitted"][];
            /** Format: u-int32 */
            rejected: number;
            /** Format: u-int32 */
            repeated: number;
        };
        /** @enum {string} */
        SubmitStatus: "accepted" | "repeated" | "rejected";
        /** @description What became of one item of a submit, in the items' order. */
        Submitted: {
            id?: string | null;
            /** @description The item's key; empty when the item could not be read so far. */
            key: string;
            problem?: components["schemas"]["ItemProblem"] | null;
            status: components["schemas"]["SubmitStatus"];
        };
        /** @description `POST /v1/session/tenant`. */
        SwitchTenant: {
            tenant: string;
        };
        Tenant: {
            created_at: string;
            id: string;
            name: string;
            settings?: components["schemas"]["TenantSettings"];
            /** @description Storage roots that the operator's file grants it. */
            storage_roots?: string[];
            /** @description Since when it admits nothing; absent while it is not suspended. */
            suspended_at?: string | null;
        };
        TenantList: {
            items: components["schemas"]["Tenant"][];
        };
        /** @description What an administrator of the platform chooses for a tenant. */
        TenantSettings: {
            /**
             * @description For people.
             * @default
             */
            display_name: string;
            /**
             * @default {
             *       "gpu": false
             *     }
             */
            grants: components["schemas"]["Grants"];
            /** @default {} */
            quotas: components["schemas"]["Quotas"];
            /** @default {} */
            retention: components["schemas"]["Retention"];
            /**
             * @description Admits no new batch, no single reward and no plugin; what was admitted goes on to its end,
             *     and everything can be read.
             * @default false
             */
            suspended: boolean;
            /**
             * Format: u-int32
             * @description Its share of a pool that is over-subscribed, beside the others'.
             * @default 1
             */
            weight: number;
        };
        /** @description `GET /v1/tenants/{name}/usage`. */
        TenantUsage: {
            /** @description Of batches that ended, the latest day first. */
            days: components["schemas"]["DayUsage"][];
            open_batches: components["schemas"]["Used"];
            /** @description What the bucket lacks; more than the most while a batch's debt is not paid. */
            requests_per_minute: components["schemas"]["Used"];
            stored_bytes: components["schemas"]["Used"];
            tenant: string;
            /** @description By pool: workers that have something of the tenant's in hand. */
            workers: {
                [key: string]: components["schemas"]["Used"];
            };
        };
        /** @description `GET /v1/batches/{id}/timeline`. Times are milliseconds from the batch's first request. */
        Timeline: {
            /**
             * Format: double
             * @description Up to when this is known: now, or the batch's end.
             */
            as_of_ms: number;
            batch: components["schemas"]["Batch"];
            /**
             * Format: u-int32
             * @description The request that determines T.
             */
            critical_seq?: number | null;
            /**
             * Format: double
             * @description The paper's T: when the last request could have ended, had none ever waited. Of a live batch,
             *     as far as its finished requests tell.
             */
            earliest_end_ms?: number | null;
            /** Format: double */
            ended_ms?: number | null;
            /**
             * Format: double
             * @description When it was or is expected to end.
             */
            estimated_end_ms?: number | null;
            /** @description Absent before the first request. */
            first_arrival_at?: string | null;
            groups: components["schemas"]["GroupColumns"];
            /**
             * Format: u-int32
             * @description The request that ended last.
             */
            last_seq?: number | null;
            lateness?: components["schemas"]["Lateness"] | null;
            /**
             * Format: u-int32
             * @description The run's D.
             */
            max_extra_delay_ms?: number | null;
            requests: components["schemas"]["RequestColumns"];
            rollup?: components["schemas"]["Rollup"] | null;
            stages: components["schemas"]["ProfileStage"][];
            /** @description Whether only some of them are shown, evenly chosen by their place. */
            thinned: boolean;
            /**
             * Format: double
             * @description T + D.
             */
            tolerated_end_ms?: number | null;
            /**
             * Format: u-int32
             * @description Requests that were acknowledged.
             */
            total: number;
        };
        /** @description What is used now, and the most that may be. */
        Used: {
            /**
             * Format: u-int64
             * @description Absent where there is no bound.
             */
            max?: number | null;
            /** Format: u-int64 */
            used: number;
        };
        Worker: {
            /** @description When it was asked for. */
            asked_at?: string | null;
            /** @description Its last message. */
            heard_at?: string | null;
            /**
             * Format: u-int64
             * @description Absent until it has joined.
             */
            id?: number | null;
            /**
             * Format: u-int32
             * @description Leases in its hand: it runs one and holds the others ready.
             */
            in_hand: number;
            joined_at?: string | null;
            /** @description Who starts and ends it: `local`, a process on the host's own machine. */
            launcher: string;
            /**
             * Format: u-int64
             * @description Resident memory of its process.
             */
            memory_bytes?: number | null;
            /** Format: u-int32 */
            pid?: number | null;
            pool: string;
            running?: components["schemas"]["WorkerRunning"] | null;
            /**
             * Format: u-int64
             * @description Stages that it ran to an end.
             */
            stages_done: number;
            state: components["schemas"]["WorkerState"];
        };
        /** @description `GET /v1/workers`. */
        WorkerList: {
            at: string;
            /** @description By pool, those that start first, then by id. */
            items: components["schemas"]["Worker"][];
        };
        /** @description What a worker runs right now. */
        WorkerRunning: {
            batch: string;
            /** @description `name@version`. */
            plugin: string;
            request: string;
            since: string;
            stage: string;
            /** @description Its name. */
            tenant: string;
        };
        /** @enum {string} */
        WorkerState: "starting" | "idle" | "busy" | "draining";
        /** @description `POST /v1/plugins/{name}/versions/{version}/yank`. */
        YankPlugin: {
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
                /** @description The tenant whose things were changed. */
                tenant?: string;
                /** @description Such as `quota.set`. */
                action?: string;
                /** @description The id or the name of a key, the id or the address of a person. */
                actor?: string;
                /** @description From this moment on. */
                since?: string;
                /** @description What came earlier than this entry. */
                before?: number;
                /** @description At most this many; 100 when absent, 1,000 at most. */
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
                /** @description `live`, `ended`, or one state: `announced`, `open`, `sealed`, `done`, `cancelled`, `expired`. */
                state?: components["schemas"]["BatchStateFilter"];
                /** @description The run's name. */
                run?: string;
                /** @description The plugin's name. */
                plugin?: string;
                /** @description Announced at this moment or later. */
                from?: string;
                /** @description Announced before this moment. */
                to?: string;
                /** @description The `next` of the page before. */
                after?: string;
                /** @description At most this many; 100 when absent, 500 at most. */
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
                /** @description A repeat of the call under the same key gets the same batch */
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
                /** @description `wait=60`: answer when the batch has ended, at most 300 s later */
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
                /** @description Go on behind this event */
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
                /** @description `scored`, `timed_out`, `error`, or `waiting`: those that have not ended. */
                kind?: components["schemas"]["RequestKindFilter"];
                /** @description The word for what happened: the plugin's verdict, `timed_out`, or the error's code. */
                verdict?: string;
                /** @description A part of the key or of the group's name. */
                q?: string;
                /** @description The `next` of the page before. */
                after?: number;
                /** @description At most this many; 100 when absent, 500 at most. */
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
                /** @description Go on behind this cursor. */
                after?: number;
                /** @description At most this many; 1,000 when absent, 10,000 at most. */
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
                /** @description Its name; all of them when absent. */
                pool?: string;
                /** @description An hour before `to` when absent. */
                from?: string;
                /** @description Now when absent. */
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
                /** @description Those of all tenants; needs `platform:*`. */
                all?: boolean;
                from?: string;
                to?: string;
                kind?: components["schemas"]["IncidentKind"];
                /** @description Go on behind this entry, with older ones. */
                after?: number;
                /** @description At most this many; 100 when absent, 1,000 at most. */
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
                /** @description The tenant's name; your own when absent. */
                tenant?: string;
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
                /** @description The tenant's name; your own when absent. */
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
                /** @description The tenant's name; your own when absent. */
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
                /** @description Those of all tenants; needs `platform:*`. */
                all?: boolean;
            };
            header?: {
                /** @description Go on behind this event */
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
                /** @description The tenant's name; your own when absent. */
                tenant?: string;
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
                /** @description The tenant's name; your own when absent. */
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
                /** @description The tenant's name; your own when absent. */
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
                /** @description Those of all tenants; needs `platform:*`. */
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
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/wasm": string;
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
        requestBody?: never;
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
                /** @description Batches that ended at this moment or later. */
                from?: string;
                /** @description Batches that ended before this moment. */
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
                /** @description `wait=60`: wait at most this many seconds; 60 when absent, 300 at most */
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
                /** @description `wait=60`: wait at most this many seconds; 60 when absent, 300 at most */
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
                /** @description A part of the run's name. */
                q?: string;
                /** @description The plugin's name. */
                plugin?: string;
                /** @description Active at this moment or later. */
                from?: string;
                /** @description Active before this moment. */
                to?: string;
                /** @description The `next` of the page before. */
                after?: string;
                /** @description At most this many; 100 when absent, 500 at most. */
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
                /** @description So many of its last batches; 200 when absent, 1,000 at most. */
                last?: number;
                /**
                 * @description Batches whose arrival curves are wanted, separated by commas, at most 8; the last ones that
                 *     were completed when absent.
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
                /** @description At most this many; 100 when absent, 1,000 at most. */
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
                /** @description Of requests with this word: the plugin's verdict, `timed_out`, or the error's code. */
                verdict?: string;
                /** @description `debug`, `info`, `warn`, `error`, or `stderr`. */
                level?: string;
                /** @description The `next` of the page before. */
                after?: string;
                /** @description At most this many; 100 when absent, 500 at most. */
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
        };
    };
    get_session_oidc: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the provider; sets the cookie `assay_oidc` */
            302: {
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
                /** @description RFC 9207. */
                iss?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed in, to `/`; sets the cookie `assay_session`. A browser that is refused goes to `/sign-in?problem=CODE` */
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
                /** @description Today and so many days before it, less one; 30 when absent, 400 at most. */
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

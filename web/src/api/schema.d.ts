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
        get?: never;
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
        get?: never;
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
             * Format: int32
             * @description The batch is complete with this many requests, without a seal.
             */
            expected_size?: number | null;
            /**
             * Format: int32
             * @description Samples of one prompt; a group is complete with this many.
             */
            group_size?: number | null;
            /** Format: int64 */
            iteration?: number;
            /**
             * Format: int32
             * @description The extra delay that the run tolerates (the paper's D).
             */
            max_extra_delay_ms?: number | null;
            /** @description `name@channel`, `name@version`, or `tenant/name@...`. */
            plugin: string;
            /** @description The training run; it keeps the plugin digest and settings of its first batch. */
            run: string;
            /** @description The plugin's settings for this run. */
            settings?: Record<string, never> | null;
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
            /** Format: int32 */
            expected_size?: number | null;
            /** @description Since when its requests and results are kept no longer; its totals stay. */
            expired_at?: string | null;
            /**
             * Format: double
             * @description The paper's d: how much later the batch ended than its slowest request could have.
             */
            extra_delay_ms?: number | null;
            first_request_at?: string | null;
            /** Format: int32 */
            group_size?: number | null;
            id: string;
            /** Format: int64 */
            iteration: number;
            /** Format: int32 */
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
            /** Format: int64 */
            iteration: number;
            /** @description `name@version`. */
            plugin: string;
            plugin_digest: string;
            /** Format: int32 */
            requests: number;
            run: string;
            /** @description For how long workers of each pool were busy with it. */
            worker_seconds: {
                [key: string]: number;
            };
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
        /** @description `POST /v1/session/password`. */
        ChangePassword: {
            current: string;
            new: string;
        };
        /** @description Requests of a batch by what became of them. */
        Counts: {
            /** Format: int32 */
            error: number;
            /** Format: int32 */
            scored: number;
            /**
             * Format: int32
             * @description Acknowledged.
             */
            submitted: number;
            /** Format: int32 */
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
             * Format: int64
             * @description That ran on the pool.
             */
            requests: number;
            /** Format: double */
            worker_seconds: number;
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
             * @description Toolchains of `assay:exec` by name; all of them when absent, none when empty.
             * @default null
             */
            toolchains: string[] | null;
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
             * Format: int64
             * @description Place of the item in the call, from 1 (its line, in NDJSON).
             */
            line: number;
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
             * Format: int64
             * @description Requests in the simulated workload.
             */
            requests: number;
            /**
             * Format: int64
             * @description How often it was simulated.
             */
            simulations: number;
            /** Format: double */
            took_ms: number;
        };
        /** @description One line that a plugin logged. */
        LogLine: {
            /** @description `debug`, `info`, `warn`, `error`, or `stderr`. */
            level: string;
            message: string;
            stage: string;
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
            /** Format: int32 */
            attempts: number;
            code: components["schemas"]["ErrorCode"];
            /** @enum {string} */
            kind: "error";
            message: string;
            retryable: boolean;
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
            /** Format: int32 */
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
             * Format: int32
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
        PoolCapacity: {
            /**
             * Format: int32
             * @description Never more workers than this.
             */
            max: number;
            /**
             * Format: int32
             * @description Workers that are there even when nothing is live.
             */
            min: number;
            pool: string;
            /**
             * Format: int64
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
        /** @description What the planner wants of a pool, and why. */
        PoolTarget: {
            /**
             * Format: int32
             * @description Workers that demand may raise this to.
             */
            ceiling: number;
            /**
             * Format: int32
             * @description Workers that are kept whether or not anything waits for them.
             */
            hold: number;
            reason: components["schemas"]["PlanReason"];
            /** @description The reason in words. */
            why: string;
            /**
             * Format: int32
             * @description What it would take for no request to wait.
             */
            zero_queue: number;
        };
        /** @description Workers by what they do. */
        PoolWorkers: {
            /** Format: int32 */
            busy: number;
            /**
             * Format: int32
             * @description They get nothing more and end.
             */
            draining: number;
            /** Format: int32 */
            idle: number;
            /**
             * Format: int32
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
            /** Format: int32 */
            status: number;
            title: string;
            type: string;
        };
        /** @description A stage as it was when the batch ran. */
        ProfileStage: {
            name: string;
            pool: string;
            /** Format: int32 */
            retries_max: number;
            /** Format: int32 */
            timeout_ms: number;
        };
        /** @description `PUT /v1/plugins/{name}/channels/{channel}`. */
        PromotePlugin: {
            version: string;
        };
        /** @description Bounds. What is absent has no bound but the platform's own. */
        Quotas: {
            /**
             * Format: int32
             * @description Batches that have not ended; a single reward is one, too.
             * @default null
             */
            open_batches_max: number | null;
            /**
             * Format: int32
             * @description A bucket of so many requests that fills at this rate. A batch is admitted while it is not
             *     empty, and takes its whole expected size: no batch is refused half-way.
             * @default null
             */
            requests_per_minute_max: number | null;
            /**
             * Format: int64
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
        /** @description One request with all that is kept of it. */
        Request: {
            arrived_at: string;
            group?: string | null;
            id: string;
            key: string;
            label?: unknown;
            metadata?: unknown;
            prompt: string;
            response: string;
            result?: components["schemas"]["ResultItem"] | null;
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
             * Format: int32
             * @description Place in the order of admission; absent when the outcome is no longer kept.
             */
            seq?: number | null;
            /** @description The word for what happened: the plugin's verdict, `timed_out`, or the error's code. */
            verdict?: string | null;
        };
        /** @description One finished request. */
        ResultItem: {
            /**
             * Format: int32
             * @description Place in the order of completion, from 1; give it as `after` to go on behind it.
             */
            cursor: number;
            group?: string | null;
            id: string;
            key: string;
            outcome: components["schemas"]["Outcome"];
            /** @description The stages that ran, in order. */
            stages: components["schemas"]["StageTime"][];
        };
        ResultsPage: {
            /** @description Nothing will come behind this page. */
            done: boolean;
            items: components["schemas"]["ResultItem"][];
            /**
             * Format: int32
             * @description Give it as `after` for the next page.
             */
            next: number;
        };
        /** @description For how many days things are kept; what is absent, as long as the platform keeps it. */
        Retention: {
            /**
             * Format: int32
             * @description The times of completed batches.
             * @default null
             */
            history_days: number | null;
            /**
             * Format: int32
             * @description Requests, artifacts, results and logs, from the end of their batch on.
             * @default null
             */
            results_days: number | null;
        };
        Reward: {
            id: string;
            outcome: components["schemas"]["Outcome"];
            plugin_digest: string;
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
        };
        /**
         * @description What a member may do in its tenant; each may do what those before it may.
         * @enum {string}
         */
        Role: "viewer" | "trainer" | "publisher" | "admin";
        /** @description `POST /v1/keys/{id}/rotate`. */
        RotateKey: {
            /**
             * Format: int32
             * @description How long the old secret works on; 24 when absent, 720 at most, 0 ends it at once.
             * @default 24
             */
            overlap_hours: number;
        };
        /** @description `GET /v1/runs/{run}/history`: completed batches of a run, the latest first. */
        RunHistory: {
            items: components["schemas"]["BatchHistory"][];
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
             * Format: int32
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
             * Format: int32
             * @description Never more workers than this; busy ones above it finish what they do.
             */
            max: number;
            /**
             * Format: int32
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
        /** @description One stage of a plugin: `stage` of `assay:reward/types`. */
        Stage: {
            /** Format: int64 */
            memory_bytes_max: number;
            name: string;
            /** @description The kind of worker it runs on: `cpu`, `gpu`, or an operator's own. */
            pool: string;
            /** Format: int32 */
            retries_max: number;
            /** Format: int32 */
            timeout_ms: number;
        };
        /** @description When one stage of one request ran, relative to the request's arrival. */
        StageTime: {
            /** Format: int32 */
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
        /** @description Why workers of a pool do not start. */
        StartTrouble: {
            /** @description What became of the last one. */
            error: string;
            failed_at: string;
            /**
             * Format: int64
             * @description Failed starts since one went well.
             */
            failures: number;
            /** @description The next try comes no earlier, if a worker is still wanted then. */
            next_try_at: string;
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
            /** Format: int32 */
            accepted: number;
            items: components["schemas"]["Submitted"][];
            /** Format: int32 */
            rejected: number;
            /** Format: int32 */
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
             * Format: int32
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
        /** @description What is used now, and the most that may be. */
        Used: {
            /**
             * Format: int64
             * @description Absent where there is no bound.
             */
            max?: number | null;
            /** Format: int64 */
            used: number;
        };
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
                    "text/event-stream": string;
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
        requestBody: {
            content: {
                "application/json": components["schemas"]["SealBatch"];
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
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateKey"];
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
                "application/wasm": number[];
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
                    "application/octet-stream": number[];
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
            /** @description Signed in, to `/`; sets the cookie `assay_session` */
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
}

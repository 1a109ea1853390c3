//! Every limit, in one place. Whoever meets one gets an error that names it and its number.

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

// What a trainer sends.
/// A JSON array of items; NDJSON is read line by line and may be longer.
pub const ARRAY_BODY_BYTES_MAX: usize = 32 * MIB;
/// Calls whose whole body is held in memory at once; further ones wait.
pub const BUFFERED_CALLS_MAX: usize = 32;
pub const UPLOADS_MAX: usize = 2;
/// The body of an HTTP request that carries neither requests nor a plugin.
pub const SMALL_BODY_BYTES_MAX: usize = 256 * KIB;
/// One item with all its fields, as JSON.
pub const ITEM_BYTES_MAX: usize = 4 * MIB;
pub const KEY_BYTES_MAX: usize = 256;
pub const GROUP_BYTES_MAX: usize = 256;
pub const RUN_BYTES_MAX: usize = 256;
pub const PROMPT_BYTES_MAX: usize = MIB;
pub const RESPONSE_BYTES_MAX: usize = 2 * MIB;
pub const LABEL_BYTES_MAX: usize = MIB;
pub const METADATA_BYTES_MAX: usize = 256 * KIB;
pub const SETTINGS_BYTES_MAX: usize = 64 * KIB;
pub const BATCH_REQUESTS_MAX: u32 = 131_072;
pub const OPEN_BATCHES_PER_TENANT_MAX: usize = 20_000;
/// Items of one submit that share a group commit's acknowledgement.
pub const SUBMIT_CHUNK_ITEMS_MAX: usize = 512;
pub const SUBMIT_CHUNK_BYTES_MAX: usize = 8 * MIB;
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
pub const REASON_BYTES_MAX: usize = 1_024;
pub const KEY_NAME_BYTES_MAX: usize = 128;

// Trainers' own protocols.
/// Calls that wait for rewards at once, over all tenants; each may have a connection of its own, and
/// some are left for others.
pub const COMPAT_WAITING_MAX: usize = 3_072;
/// Samples of one call.
pub const COMPAT_LIST_ITEMS_MAX: usize = 8_192;
/// Requests of a batch that is made of what comes, and how long it takes them; another one follows.
pub const COMPAT_BATCH_REQUESTS_MAX: u32 = 16_384;
pub const COMPAT_BATCH_SECONDS_MAX: u64 = 3_600;
/// Such a batch is sealed when nothing has come for so long, unless the trainer's address says otherwise.
pub const COMPAT_GAP_SECONDS: u64 = 10;
pub const COMPAT_GAP_SECONDS_MAX: u64 = 3_600;
/// How long after its end a call that got no answer may still be repeated, and in how many batches of a
/// run such calls are looked for.
pub const COMPAT_REPEAT_SECONDS: u64 = 600;
pub const COMPAT_REPEAT_BATCHES_MAX: usize = 4;
/// Tries of one call, each after another's failure.
pub const COMPAT_TRIES_MAX: usize = 16;
/// Runs of a tenant, or steps of them, that have such a batch at once or had one a moment ago.
pub const COMPAT_RUNS_MAX: usize = 10_000;
/// A client's own deadline.
pub const COMPAT_SECONDS_MAX: u64 = 3_600;
pub const COMPAT_FIELD_BYTES_MAX: usize = 256;

// What is shown of the running service.
/// Live batches that are listed at once, of a tenant or of all.
pub const LIVE_BATCHES_SHOWN_MAX: usize = 200;
/// Batches that are listed of what waits in a pool.
pub const QUEUED_BATCHES_SHOWN_MAX: usize = 50;
pub const STAGE_QUEUES_SHOWN_MAX: usize = 200;
/// Incidents of an overview.
pub const INCIDENTS_SHOWN_MAX: u32 = 20;
pub const INCIDENT_ITEMS_DEFAULT: u32 = 100;
pub const INCIDENT_ITEMS_MAX: u32 = 1_000;
/// Entries of one kind that a minute has for a tenant; what comes on top is counted in one more.
pub const INCIDENTS_PER_MINUTE_MAX: u32 = 60;
/// Incidents on their way to the database; what comes on top is not kept.
pub const INCIDENTS_PENDING_MAX: usize = 4_096;
pub const INCIDENT_DAYS_KEPT: u32 = 30;
pub const CAPACITY_SAMPLE_DAYS_KEPT: u32 = 7;
/// Of a pool, in one answer.
pub const CAPACITY_POINTS_MAX: u32 = 500;
pub const PLAN_DECISIONS_MAX: u32 = 100;
/// Streams of what is live, of one key or one person, and of all.
pub const LIVE_STREAMS_PER_CALLER_MAX: usize = 16;
pub const LIVE_STREAMS_MAX: usize = 512;
/// Events that a reader may miss and still go on behind.
pub const LIVE_EVENTS_KEPT_MAX: usize = 256;
pub const LIVE_BYTES_KEPT_MAX: usize = MIB;
/// How often an open stream's key or session is looked up again.
pub const STREAM_CHECK_SECONDS: u64 = 10;
/// Simulations at once, and what one replays.
pub const SIMULATIONS_MAX: usize = 2;
pub const SIMULATED_BATCHES_MAX: u32 = 20;
pub const SIMULATED_REQUESTS_MAX: u32 = 100_000;
pub const SIMULATED_WORKERS_MAX: u32 = 10_000;
pub const SIMULATED_POINTS_MAX: usize = 500;
pub const SIMULATION_SECONDS_MAX: u64 = 30;

// What the server holds at once.
/// Requests that wait or run, over all batches, by the bytes of their bodies, each counted with at
/// least [`REQUEST_COST_BYTES_MIN`]; further submits wait for room.
pub const LIVE_BYTES_MAX: usize = 4 << 30;
pub const REQUEST_COST_BYTES_MIN: usize = 4 * KIB;
/// Artifacts that wait for their next stage; a stage that leaves one more fails as unavailable.
pub const ARTIFACT_LIVE_BYTES_MAX: usize = 2 << 30;
/// Results of ended batches that are kept at hand; older ones are read from the database.
pub const RESULTS_AT_HAND_MAX: usize = 200_000;
/// Outcomes of deterministic plugins that are remembered for equal requests to come, by bytes, of
/// one tenant; and tenants of which any are.
pub const SHARED_OUTCOMES_BYTES_MAX: usize = 16 * MIB;
pub const SHARED_OUTCOMES_TENANTS_MAX: usize = 16;
pub const CONNECTIONS_MAX: usize = 4_096;
pub const PAGE_ITEMS_MAX: u32 = 10_000;
pub const PAGE_ITEMS_DEFAULT: u32 = 1_000;
/// Completed batches of a run that are listed at once.
pub const RUN_HISTORY_ITEMS_MAX: u32 = 1_000;
pub const RUN_HISTORY_ITEMS_DEFAULT: u32 = 100;
/// Acts of the audit that are listed at once.
pub const AUDIT_ITEMS_MAX: u32 = 1_000;
pub const AUDIT_ITEMS_DEFAULT: u32 = 100;
/// Batches of a run that its page shows.
pub const RUN_ITERATIONS_MAX: u32 = 1_000;
pub const RUN_ITERATIONS_DEFAULT: u32 = 200;
/// Arrival curves beside each other, and the points of each.
pub const RUN_CURVES_MAX: usize = 8;
pub const RUN_CURVE_POINTS: usize = 50;
/// Batches of a run that a page of its log lines looks through.
pub const LOG_BATCHES_MAX: u32 = 64;
/// Versions that a channel had before, to which it can be rolled back.
pub const CHANNEL_VERSIONS_KEPT_MAX: usize = 32;
/// Rows of a list of runs, batches or requests.
pub const LIST_ITEMS_MAX: u32 = 500;
pub const LIST_ITEMS_DEFAULT: u32 = 100;
/// Text that a list is searched for.
pub const SEARCH_BYTES_MAX: usize = 256;
/// Requests that a timeline shows; of a larger batch it shows so many.
pub const TIMELINE_REQUESTS_MAX: u32 = 4_096;
/// Batches that a plugin version's page sums up.
pub const VERSION_BATCHES_MAX: u32 = 200;
/// Different verdicts that are counted of a batch, and those of which its roll-up tells.
pub const VERDICTS_COUNTED_MAX: usize = 1_024;
pub const VERDICTS_TOLD_MAX: usize = 32;
/// Bins of a batch's rewards.
pub const REWARD_BINS: usize = 20;
/// Days of which usage is told at once.
pub const USAGE_DAYS_MAX: u32 = 400;
pub const USAGE_DAYS_DEFAULT: u32 = 30;

// Tenants.
pub const TENANTS_MAX: usize = 10_000;
pub const DISPLAY_NAME_BYTES_MAX: usize = 128;
pub const TENANT_WEIGHT_MAX: u32 = 1_000;
/// Toolchains that a tenant may be granted by name.
pub const TENANT_TOOLCHAINS_MAX: usize = 64;
/// Hosts that a tenant's plugins may send requests to, and one of them as it is written.
pub const TENANT_HOSTS_MAX: usize = 64;
pub const HOST_PATTERN_BYTES_MAX: usize = 300;
pub const HOST_NAME_BYTES_MAX: usize = 253;
pub const RETENTION_DAYS_MAX: u32 = 36_500;
/// Rows that are deleted in one commit when they are too old.
pub const PURGED_ROWS_AT_ONCE: u32 = 5_000;

// People.
pub const EMAIL_BYTES_MAX: usize = 254;
pub const PERSON_NAME_BYTES_MAX: usize = 128;
/// In characters; the most is in bytes, of which each costs time.
pub const PASSWORD_CHARS_MIN: usize = 12;
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// Passwords that are hashed at once, each with 19 MiB; further ones wait.
pub const PASSWORDS_HASHED_AT_ONCE: usize = 2;
pub const PASSWORD_WAIT_SECONDS_MAX: u64 = 15;
/// Tries to sign in, for an address and for where they come from; one more comes back after so many
/// seconds.
pub const SIGN_INS_PER_EMAIL_MAX: u32 = 10;
pub const SIGN_INS_PER_EMAIL_REFILL_SECONDS: u32 = 30;
pub const SIGN_INS_PER_PEER_MAX: u32 = 100;
pub const SIGN_INS_PER_PEER_REFILL_SECONDS: u32 = 1;
/// Addresses of each kind whose tries are counted at once.
pub const SIGN_INS_COUNTED_MAX: usize = 10_000;
/// A session ends when nothing came for this long, and whatever happens after this long.
pub const SESSION_IDLE_SECONDS_MAX: u64 = 12 * 3_600;
pub const SESSION_SECONDS_MAX: u64 = 7 * 24 * 3_600;
/// Of one person; the oldest gives way.
pub const SESSIONS_PER_PERSON_MAX: u32 = 32;
pub const INVITATION_SECONDS_MAX: u64 = 7 * 24 * 3_600;
pub const MEMBERS_PER_TENANT_MAX: u32 = 10_000;
/// Sign-ins that are under way at the OpenID provider, and how long one may take.
pub const OIDC_PENDING_MAX: usize = 1_000;
pub const OIDC_PENDING_SECONDS_MAX: u64 = 600;
/// An answer of the provider.
pub const OIDC_ANSWER_BYTES_MAX: usize = MIB;
pub const OIDC_SECONDS_MAX: u64 = 10;

// Keys.
/// How long a key's old secret may work beside the new one.
pub const KEY_OVERLAP_HOURS_MAX: u32 = 30 * 24;
pub const KEY_OVERLAP_HOURS_DEFAULT: u32 = 24;
/// A key's last use is written at most this often.
pub const KEY_USE_SECONDS: u64 = 60;
pub const KEY_PLUGINS_MAX: usize = 64;

// How long things may take.
pub const LONG_POLL_SECONDS_MAX: u64 = 300;
/// A client that sends no byte of a call for this long loses its connection.
pub const READ_SECONDS_MAX: u64 = 30;
/// What is read of a refused body and thrown away, so that its sender gets to see why.
pub const UNREAD_BYTES_MAX: usize = 16 * MIB;
pub const UNREAD_SECONDS_MAX: u64 = 10;
/// A submit that finds no room or no database for this long is refused, to be sent again.
pub const ADMISSION_SECONDS_MAX: u64 = 30;
/// A batch to which nothing happens for this long expires.
pub const ANNOUNCED_SECONDS_MAX: u64 = 3_600;
pub const OPEN_IDLE_SECONDS_MAX: u64 = 24 * 3_600;
/// A worker that has not joined this long after its start is given up.
pub const WORKER_START_SECONDS_MAX: u64 = 30;
/// Between two tries to start workers of a pool: doubled from the least to the most.
pub const WORKER_RETRY_MS_MIN: u64 = 50;
pub const WORKER_RETRY_MS_MAX: u64 = 10_000;
/// An idle worker that was told to end is killed after this long.
pub const WORKER_STOP_SECONDS_MAX: u64 = 5;
/// A worker silent for this long is lost.
pub const HEARTBEAT_SECONDS_MAX: u64 = 10;
pub const HEARTBEAT_SECONDS: u64 = 2;
/// On top of a stage's own timeout before its worker is killed.
pub const LEASE_GRACE_MS: u64 = 1_000;
/// Retries after a lost worker, on top of a plugin's own retries.
pub const WORKER_LOST_RETRIES_MAX: u32 = 3;

// What a plugin is and returns.
pub const PLUGIN_BYTES_MAX: usize = 128 * MIB;
pub const PLUGIN_NAME_BYTES_MAX: usize = 64;
pub const VERSION_BYTES_MAX: usize = 64;
pub const SUMMARY_BYTES_MAX: usize = 1_024;
pub const SCHEMA_BYTES_MAX: usize = 64 * KIB;
pub const STAGES_MAX: usize = 16;
pub const STAGE_TIMEOUT_MS_MAX: u32 = 3_600_000;
pub const STAGE_MEMORY_BYTES_MAX: u64 = 1 << 30;
pub const STAGE_RETRIES_MAX: u32 = 10;
pub const ARTIFACT_BYTES_MAX: usize = 16 * MIB;
pub const CONTENT_TYPE_BYTES_MAX: usize = 256;
pub const VERDICT_BYTES_MAX: usize = 64;
pub const EXPLANATION_BYTES_MAX: usize = 4 * KIB;
pub const COMPONENTS_MAX: usize = 32;
pub const COMPONENT_NAME_BYTES_MAX: usize = 64;
pub const ERROR_MESSAGE_BYTES_MAX: usize = 4 * KIB;
pub const LOG_LINES_MAX: usize = 64;
pub const LOG_LINE_BYTES_MAX: usize = KIB;
/// What is kept of a guest's standard output and error, each.
pub const GUEST_OUTPUT_BYTES_MAX: usize = 16 * KIB;
/// Guest stack; a deeper recursion is an error of the plugin.
pub const GUEST_STACK_BYTES_MAX: usize = MIB;
pub const GUEST_TABLE_ELEMENTS_MAX: usize = 20_000;
/// Handles (streams, pollables) that a guest holds at once.
pub const GUEST_HANDLES_MAX: usize = 4_096;
/// Random bytes a guest gets at once.
pub const GUEST_RANDOM_BYTES_MAX: usize = MIB;
/// How long a plugin may take to describe itself, and the memory it may use.
pub const DESCRIBE_MS_MAX: u64 = 5_000;
pub const DESCRIBE_MEMORY_BYTES_MAX: u64 = 512 << 20;
/// Address space of the process that compiles uploaded plugins.
pub const COMPILE_MEMORY_BYTES_MAX: u64 = 4 << 30;
pub const COMPILE_SECONDS_MAX: u64 = 120;
/// A compiled plugin on its way to a worker.
pub const COMPILED_BYTES_MAX: usize = 1 << 30;
/// Plugins that a worker keeps loaded.
pub const LOADED_PLUGINS_MAX: usize = 32;

// Objects in storage, which plugins read.
/// `root/path`, as plugins name an object.
pub const OBJECT_NAME_BYTES_MAX: usize = 1_024;
/// What a plugin gets into its own memory at once.
pub const OBJECT_GET_BYTES_MAX: u64 = 16 << 20;
/// What a worker takes at all, for programs to read.
pub const OBJECT_BYTES_MAX: u64 = 512 << 20;
/// Of one listing.
pub const OBJECT_NAMES_MAX: usize = 10_000;
/// Reads of objects at once, over all workers of a server; further ones wait.
pub const OBJECT_READS_MAX: usize = 64;
/// A store that says nothing for this long cannot be reached.
pub const OBJECT_WAIT_SECONDS_MAX: u64 = 15;
pub const STORAGE_ROOTS_MAX: usize = 64;
/// Objects of which a worker remembers the version that it has.
pub const OBJECTS_KNOWN_MAX: usize = 4_096;
/// The objects that the workers of a machine keep by content.
pub const OBJECT_CACHE_BYTES_MAX: u64 = 8 << 30;
/// What a plugin hands over in one call, all test cases of a batch together; larger data is named
/// instead (`blob.stored`).
pub const PROGRAM_CALL_BYTES_MAX: usize = 256 * MIB;

// Scheduling.
/// A worker may hold further leases while those in its hand are expected to take less than this.
pub const IN_HAND_MICROS_MAX: u64 = 2_000;
pub const IN_HAND_LEASES_MAX: usize = 128;
pub const POOLS_MAX: usize = 64;
/// More than any machine has cores.
pub const POOL_WORKERS_MAX: u32 = 1_024;
/// Completed batches of each run, and of each plugin, that a starting server learns from; a run that
/// is in use keeps as many, however old.
pub const HISTORY_BATCHES_EACH: u32 = 4;
/// What it reads of them at the most, over all runs, the latest first.
pub const HISTORY_BATCHES_MAX: u32 = 1_000;
/// And what the planner keeps of them, over all runs.
pub const HISTORY_REQUESTS_MAX: u32 = 4_000_000;
/// Completed batches that are forgotten in one commit.
pub const HISTORY_FORGOTTEN_AT_ONCE: u32 = 100;
/// The planner is called at most once in this time.
pub const PLAN_PAUSE_MS: u64 = 100;
/// A lease that waits in a worker's hand behind a stage which runs longer than this is taken back.
pub const IN_HAND_STALL_MS: u64 = 20;

// Requests of plugins to other hosts, of one call of a plugin (a stage of a request).
pub const HTTP_REQUESTS_MAX: u32 = 64;
/// Of them at once; each has a connection of its own.
pub const HTTP_AT_ONCE_MAX: usize = 8;
/// Bodies that are sent, and that are received, all together.
pub const HTTP_SENT_BYTES_MAX: u64 = 8 << 20;
pub const HTTP_RECEIVED_BYTES_MAX: u64 = 16 << 20;
/// Headers of a request as they are held, and the lines that begin a response.
pub const HTTP_HEADER_BYTES_MAX: usize = 32 * KIB;
pub const HTTP_HEADERS_MAX: usize = 100;
pub const HTTP_PATH_BYTES_MAX: usize = 8 * KIB;
/// For a name's addresses, a connection and its encryption, together.
pub const HTTP_CONNECT_MS_MAX: u64 = 10_000;
/// Requests end so long before the call does, or a tenth of its time where that is less: a plugin can
/// still say that it got no answer.
pub const HTTP_RESERVE_MS: u64 = 1_000;
/// Addresses of a name that are looked at.
pub const HTTP_ADDRESSES_MAX: usize = 16;
/// Secrets of the operator's file, and one of them.
pub const SECRETS_MAX: usize = 256;
pub const SECRET_BYTES_MAX: usize = 8 * KIB;

// Programs that plugins have run.
/// Files of one source, or placed beside one run.
pub const EXEC_FILES_MAX: usize = 256;
/// Bytes of the files of one source.
pub const EXEC_SOURCE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of the files that are placed for one run; they are not counted against its own limits.
pub const EXEC_PLACED_BYTES_MAX: u64 = 512 << 20;
pub const EXEC_PATH_BYTES_MAX: usize = 256;
pub const EXEC_PATH_PARTS_MAX: usize = 16;
/// A compiler's options, a program's arguments and its environment: how many of each, and their bytes.
pub const EXEC_WORDS_MAX: usize = 256;
pub const EXEC_WORDS_BYTES_MAX: usize = 64 * KIB;
/// Files of one run that are returned.
pub const EXEC_COLLECTED_FILES_MAX: usize = 64;
/// Cases of one batch.
pub const EXEC_CASES_MAX: usize = 4_096;
/// What one batch returns of its programs' output and files; beyond it they are cut, and say so.
pub const EXEC_RETURNED_BYTES_MAX: usize = 64 * MIB;
/// What a compiler leaves.
pub const EXEC_ARTIFACT_BYTES_MAX: u64 = 64 << 20;
/// Artifacts that a machine keeps on disk, over all tenants.
pub const EXEC_ARTIFACTS_BYTES_MAX: u64 = 4 << 30;
/// Artifacts that a worker keeps ready in memory.
pub const EXEC_READY_BYTES_MAX: u64 = 128 << 20;
pub const EXEC_READY_MAX: usize = 128;
/// The least that a file in a cache on disk is counted with.
pub const EXEC_CACHE_COST_BYTES_MIN: u64 = 16 << 10;
/// A toolchain's file.
pub const TOOLCHAIN_FILE_BYTES_MAX: u64 = 64 << 10;
/// A longer word is no number, whatever its digits.
pub const COMPARED_NUMBER_BYTES_MAX: usize = 1_024;
/// A helper that refused is asked again after this long.
pub const EXEC_REFUSED_SECONDS: u64 = 10;

// CUDA.
/// What a simulated device runs in a millisecond, in lane-instructions: a verdict must not depend on the
/// machine's speed. An interpreter on a common core does twice as many.
pub const GPU_SIMULATED_STEPS_PER_MS: u64 = 50_000;
/// Memory of a simulated device.
pub const GPU_SIMULATED_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Buffers and modules of a session.
pub const GPU_BUFFERS_MAX: usize = 256;
pub const GPU_MODULES_MAX: usize = 64;
/// An image that is loaded, and what is written to or read from a buffer at once.
pub const GPU_TRANSFER_BYTES_MAX: u64 = 64 << 20;
/// Steps of a plan, whatever a session allows.
pub const GPU_STEPS_MAX: u32 = 4_096;
pub const GPU_SEEDS_MAX: usize = 64;
pub const GPU_TRIALS_MAX: u32 = 10_000;
pub const GPU_PRINTED_BYTES_MAX: u32 = 1 << 20;
/// Bytes of one source with its headers.
pub const GPU_SOURCE_BYTES_MAX: usize = 8 * MIB;
pub const GPU_HEADERS_MAX: usize = 64;
/// Options, name expressions and entries of one request, of each.
pub const GPU_WORDS_MAX: usize = 128;
pub const GPU_WORD_BYTES_MAX: usize = 1_024;
/// What a compiler says that is kept.
pub const GPU_LOG_BYTES_MAX: usize = 64 * KIB;
/// Machine code and PTX of a source, of each; the interpreter takes as much.
pub const GPU_IMAGE_BYTES_MAX: u64 = 16 << 20;
pub const GPU_KERNELS_MAX: usize = 1_024;
/// CPU time and memory of a compilation: where a request says 0, and the most.
pub const GPU_COMPILE_CPU_MS: u32 = 30_000;
pub const GPU_COMPILE_CPU_MS_MAX: u32 = 120_000;
pub const GPU_COMPILE_MEMORY_MIB: u32 = 2_048;
pub const GPU_COMPILE_MEMORY_MIB_MAX: u32 = 4_096;
/// Below this no compiler starts.
pub const GPU_COMPILE_MEMORY_MIB_MIN: u32 = 512;
/// What was compiled, on a machine's disk over all tenants, and in a worker's memory.
pub const GPU_ARTIFACTS_BYTES_MAX: u64 = 2 << 30;
pub const GPU_READY_BYTES_MAX: usize = 64 * MIB;
pub const GPU_READY_MAX: usize = 128;
/// CPU time of one recording of a host function.
pub const GPU_RECORD_CPU_MS: u32 = 2_000;
pub const GPU_RECORD_CPU_MS_MAX: u32 = 20_000;
pub const GPU_RECORD_MEMORY_BYTES: u64 = 256 << 20;
/// What a host function writes to its standard output, or its standard error.
pub const GPU_RECORD_SAID_BYTES_MAX: u64 = 64 << 10;
/// Host functions that a source may register, and their arguments.
pub const GPU_ENTRIES_MAX: usize = 256;
pub const GPU_ARGUMENTS_MAX: usize = 64;
pub const GPU_DIMENSIONS_MAX: usize = 16;
/// Tensors that a host function returns.
pub const GPU_RETURNED_MAX: usize = 64;
/// All buffers of a recording, none of which it has: the memory of a large GPU.
pub const GPU_DEVICE_BYTES_MAX: u64 = 128 << 30;
/// What a recording leaves, as text, and one sentence of it.
pub const GPU_TRACE_BYTES_MAX: u64 = 8 << 20;
pub const GPU_SENTENCE_BYTES_MAX: u64 = 512;

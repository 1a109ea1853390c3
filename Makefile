# Assay's tasks, for people and for continuous integration; `make help` lists them.
# Paths may hold spaces: recipes quote them and no file is a target.

TARGET := $(or $(CARGO_TARGET_DIR),target)
# The programs of a running service, and those that measure it.
PROGRAMS := -p assay-cli -p assay-worker -p assay-exec -p assay-gpu
BENCHES := $(PROGRAMS) -p assay-bench
PLUGIN := --target wasm32-wasip2 --profile plugin
PLUGINS ?= hello math code cuda judge run format
DATA ?= plugins/math/sample.jsonl
ARGS ?=
FROM ?=

# Queries are checked against .sqlx, whatever DATABASE_URL says; `make sqlx` alone asks a database.
export SQLX_OFFLINE := true

.PHONY: chaos demo-cluster live test-limits test-starved run web web-api python-api proto web-speed check test test-one test-long contract test-v2 bench bench-peers bench-long bench-queued bench-boxes bench-kernels bench-math bench-callers reproduce docs fuzz test-trainers release release-lto release-benches plugins guests dist test-dist test-containers test-kubernetes test-upgrade test-aarch64 test-buckets sqlx fmt clean help

run: ## Start Assay here and score DATA (JSON lines), with more options in ARGS
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory web
	@scripts/build.sh programs --release $(PROGRAMS) --no-default-features
	@$(MAKE) --no-print-directory plugins PLUGINS="math code cuda"
	$(if $(findstring cuda,$(ARGS)),@"$(TARGET)/release/assay" gpu install-toolchain)
	"$(TARGET)/release/assay" dev --plugins "$(TARGET)/wasm32-wasip2/plugin" \
		$(if $(findstring --demo,$(ARGS)),,--score "$(DATA)") $(ARGS)

web: ## Build the dashboard, which the server takes in as it is built; nothing where there is no Node
	@scripts/web.sh

web-api: ## Write the dashboard's types of the REST interface anew, after a change of the interface
	@scripts/setup.sh web
	cargo build -p assay-cli
	"$(TARGET)/debug/assay" openapi >"$(TARGET)/openapi.json"
	document=$$(realpath "$(TARGET)/openapi.json") && cd web && npm run --silent api -- "$$document"

python-api: ## Write the Python client's models of the REST interface anew, after a change of the interface
	cargo build -p assay-cli
	"$(TARGET)/debug/assay" openapi >"$(TARGET)/openapi.json"
	sdk/python-client/generate.py "$(TARGET)/openapi.json"

proto: ## Write the messages between server and workers anew, after a change of worker.proto
	UPDATE_EXPECT=1 cargo test -q -p assay-wire --test generated

web-speed: ## Measure every page of the dashboard on 1,000 batches of 2,048 requests (some minutes)
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory web
	cargo build --release $(PROGRAMS) -p assay-seed
	program=$$(realpath "$(TARGET)/release/assay") && cd web && ASSAY_PROGRAM="$$program" npm run --silent e2e:fast

check: ## What is known within three minutes: formatting, lints, tests without servers, one reward end to end
	@scripts/check.sh

test: ## Everything that must hold: builds, tests, formatting, lints
	@scripts/test.sh

test-long: ## `make test` with every case instead of samples (an hour or more)
	@ASSAY_TEST_LONG=1 PROPTEST_CASES=5000 scripts/test.sh

test-one: ## Run the tests whose names hold NAME, with what they need built
	@scripts/test-one.sh "$(NAME)" $(ARGS)

live: ## Play batches under every policy and in simulation, ROUNDS (5) of each, and write docs/live.md
	@ASSAY_LIVE_REPORT="$(CURDIR)/docs/live.md" ASSAY_LIVE_ROUNDS=$(or $(ROUNDS),5) scripts/test-one.sh every_policy_does

chaos: ## Kill, stop and cut off servers under load for MINUTES (10) by SEED (1), then check every reward; more in ARGS
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory plugins PLUGINS="math run"
	cargo build -p assay-cli -p assay-worker -p assay-exec -p assay-gpu -p assay-postgres
	tests/chaos/run.py --minutes "$(or $(MINUTES),10)" --seed "$(or $(SEED),1)" $(ARGS)

demo-cluster: ## Two servers and Slurm on three hosts of this machine: a batch whose server and node are killed, or cut off (ARGS=--cut)
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory release PROGRAMS="$(PROGRAMS) -p assay-postgres"
	@$(MAKE) --no-print-directory plugins PLUGINS=math
	tests/cluster/run.py --programs "$(TARGET)/release" $(ARGS)

test-limits: ## Crowds of connections, tenants, requests and streams on a release build, and what a neighbour notices; more in ARGS
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory release plugins PLUGINS="math run"
	tests/chaos/limits.py --programs "$(TARGET)/release" $(ARGS)

test-starved: ## Repeat requests of every plugin beside busy loops and stopped workers on a release build; more in ARGS
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory release plugins PLUGINS="math hello format run code cuda judge"
	"$(TARGET)/release/assay-gpu" install --to "$(TARGET)/cuda"
	tests/chaos/starved.py --programs "$(TARGET)/release" $(ARGS)

contract: ## Try the REST interface against its document with many more calls than `make test` does (some minutes)
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory plugins guests
	cargo build -p assay-cli -p assay-worker -p assay-exec -p assay-gpu
	tests/contract/run.py --long

test-upgrade: ## One batch over servers and workers of a release before, FROM=FOLDER or REVISION, and of this one, and back; more in ARGS
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory plugins PLUGINS=math
	@scripts/test-upgrade.sh "$(FROM)" $(ARGS)

test-buckets: ## Try buckets of S3, Google's and Azure's protocols in emulators, with more options in ARGS (s3, gs or az)
	@scripts/setup.sh buckets
	@$(MAKE) --no-print-directory plugins PLUGINS=code
	cargo build -p assay-cli -p assay-worker -p assay-exec -p assay-gpu
	@"$(TARGET)/buckets-venv/bin/python" tests/buckets/run.py --azurite "$(TARGET)/azurite/node_modules/.bin/azurite-blob" $(ARGS)

test-aarch64: ## Compare a worker for Arm, in an emulator, with one of this machine (its build takes some minutes)
	@scripts/setup.sh aarch64
	@$(MAKE) --no-print-directory plugins PLUGINS="math format"
	cargo build -p assay-cli -p assay-worker -p assay-exec -p assay-gpu
	@scripts/test-aarch64.sh $(ARGS)

test-v2: ## Test the boxes on cgroups of version 2 alone, in an emulator (some minutes)
	@scripts/test-v2.sh

bench: ## Measure Assay beside a plain reward server, with more options in ARGS
	@scripts/setup.sh bench
	@$(MAKE) --no-print-directory release-benches plugins guests
	"$(TARGET)/release-lto/assay-bench" $(ARGS)

bench-peers: ## Measure Assay beside FastAPI, Celery on Redis, Math-Verify and plain processes, with more options in ARGS
	@scripts/setup.sh bench
	@$(MAKE) --no-print-directory release-lto plugins guests PLUGINS="math run"
	target/bench-venv/bin/python bench/peer/measure.py $(ARGS)

bench-long: ## Measure an hour of batches at 70 % of the highest rate, a killed server in it, with more options in ARGS
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory release-lto guests
	@bench/long/measure.py $(ARGS)

bench-queued: ## Measure a million queued requests, and a killed server's way back, with more options in ARGS
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory release-lto guests
	@bench/long/queued.py $(ARGS)

bench-boxes: ## Measure boxed programs beside plain ones and other boxes, with more options in ARGS
	@scripts/setup.sh bench
	@$(MAKE) --no-print-directory release-benches plugins
	"$(TARGET)/release-lto/assay-bench-boxes" $(ARGS)

bench-kernels: ## Measure CUDA compiled and checked beside plain scripts, with more options in ARGS
	@scripts/setup.sh bench
	@$(MAKE) --no-print-directory release-benches
	"$(TARGET)/release-lto/assay" gpu install-toolchain --to "$(TARGET)/cuda"
	"$(TARGET)/release-lto/assay-bench-kernels" --cuda "$(TARGET)/cuda" $(ARGS)

bench-math: ## Compare the plugin math with Math-Verify, with more options in ARGS (--answers FILE)
	@scripts/setup.sh bench-math
	cargo build --release -p assay-plugin-math --example score
	target/math-venv/bin/python bench/math/compare.py --program "$(TARGET)/release/examples/score" $(ARGS)

bench-callers: ## Measure many parallel callers of each protocol and of the Python client, with more options in ARGS
	@scripts/setup.sh bench python-client
	@$(MAKE) --no-print-directory release plugins PLUGINS="math format run"
	"$(TARGET)/python-client-venv/bin/python" bench/callers/measure.py $(ARGS)

reproduce: ## Run the paper's figures and more by simulation, into docs/reproduction.md
	@scripts/setup.sh build
	cargo build --release -p assay-reproduce
	@scripts/reproduce.sh

docs: ## Build the book from docs/book into target/book
	@scripts/setup.sh build docs
	cargo build -p assay-cli
	docs/book/build.py

fuzz: ## Run the fuzz target TARGET (fuzz/README.md lists them) for SECONDS (60)
	@scripts/setup.sh fuzz
	@scripts/fuzz.sh "$(if $(filter command line,$(origin TARGET)),$(TARGET))" "$(or $(SECONDS),60)"

test-trainers: ## Follow the trainers' guides with the trainers themselves, and kill servers under them (large packages)
	@scripts/setup.sh test trainers
	@$(MAKE) --no-print-directory plugins
	cargo build -p assay-cli -p assay-worker -p assay-exec -p assay-gpu
	docs/book/run.py --trainers
	tests/trainers/run.py

test-kernelbench: ## Import tasks in KernelBench's form with PyTorch and judge them (large packages); those of a checkout in DIR
	@scripts/setup.sh test torch
	@$(MAKE) --no-print-directory plugins PLUGINS=cuda
	cargo build -p assay-cli -p assay-worker -p assay-exec -p assay-gpu
	tests/kernelbench.py $(DIR)

release: ## Build the programs, optimised
	@scripts/build.sh programs --release $(PROGRAMS)

release-lto: ## Build the programs as they are packed: optimised across crates
	@scripts/build.sh packed --profile release-lto $(PROGRAMS)

release-benches: ## Build the programs as they are packed, and what measures them
	@scripts/build.sh packed --profile release-lto $(BENCHES)

plugins: ## Build the plugins as WebAssembly components, or those of PLUGINS alone
	@scripts/build.sh plugins $(PLUGIN) $(addprefix -p assay-plugin-,$(PLUGINS))

guests: ## Build the guests of the tests, hostile ones among them
	cargo build $(PLUGIN) -p assay-guests --examples

dist: ## Pack a release into target/dist: an archive, a Debian package, their sums and contents
	@scripts/setup.sh build dist
	@$(MAKE) --no-print-directory web
	@$(MAKE) --no-print-directory release-lto plugins
	@scripts/dist.sh

test-dist: dist ## Try the release in fresh Debian 12 systems, as root (some minutes, Debian's packages)
	@scripts/test-dist.sh

test-containers: dist ## Build the images of containers from a release and kill servers in them, as root (`make test` does it with its programs)
	@scripts/test-containers.sh

test-kubernetes: ## Test workers as Pods with the API server of an administrator's file, KUBECONFIG; Pods run here, as processes
	@[ -n "$(KUBECONFIG)" ] || { echo 'usage: make test-kubernetes KUBECONFIG=FILE' >&2; exit 2; }
	@ASSAY_TEST_KUBECONFIG="$$(realpath "$(KUBECONFIG)")" scripts/test-one.sh kubernetes:: $(ARGS)

sqlx: ## Describe the server's queries anew (.sqlx), after a change of one or of a migration
	@scripts/setup.sh sqlx
	@scripts/sqlx.sh

fmt: ## Format the sources
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml

clean: ## Remove what was built
	cargo clean

help: ## List the tasks
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{ printf "make %-16s %s\n", $$1, $$2 }'

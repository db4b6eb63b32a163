# Everything a user or developer runs. `make help` lists it.
.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
# Whatever the environment says: without byte code each of a run's hundreds of processes compiles all that it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup dev demo check test proofs proofs-status lint types fmt docs console golden requirements servers \
        bench-audit bench bench-against bench-peers bench-runtime bench-pipeline bench-classify bench-mcp bench-ask bench-front bench-gate \
        bench-ingest bench-cognition profile bench-memory bench-recall first-ask bench-replays bench-servers \
        bench-start eval sbom audit release clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

setup: ## make .venv with fathom in it, from pinned and hashed requirements
	@sh deploy/setup.sh base

dev:
	@sh deploy/setup.sh dev

demo: setup ## start the embedded default, play a conversation, show on one screen what prompts get
	@.venv/bin/fathom demo

check: dev ## style, types and unit tests: what to run while you work, in a minute and a half
	@$(PYTHON) -m tests.run check

test: dev ## check, contracts, end to end, evidence, brief chaos, on embedded stores and four servers; PART="stores e2e"
	@$(PYTHON) -m tests.run test $(PART)

proofs: dev ## what takes hours, for a release and for what a change touches; PART="upgrades chaos" SIZE=full; SIZE=release MINUTES=30
	@$(PYTHON) -m tests.proofs.run $(PART) $(if $(SIZE),--size $(SIZE)) $(if $(MINUTES),--minutes $(MINUTES))

proofs-status: dev ## which proofs have run, on which commit, and which are older than the code they prove
	@$(PYTHON) -m tests.proofs.run --status

lint: dev ## ruff, codespell, no secret in the repository
	@.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/codespell && $(PYTHON) -m tests.secret_scan

types: dev ## mypy, strict
	@.venv/bin/mypy

fmt: dev ## format
	@.venv/bin/ruff check --fix -q . ; .venv/bin/ruff format .

docs: dev ## make the generated documents again
	@$(PYTHON) -m deploy.docs.generate

console: dev ## build the console's page from its sources
	@$(PYTHON) -m tests.console.build

golden: dev ## approve what packs hold of the golden corpus after a change that means it; commit the diff with the change
	@$(PYTHON) -m tests.golden.corpus

requirements: dev ## which requirements have a test, and which have none
	@$(PYTHON) -m tests.requirements.coverage

servers: dev ## fetch and run Kafka, Redis, Qdrant and Neo4j on loopback until Ctrl-C, and print a worker's settings
	@$(PYTHON) -m tests.servers.run

bench-audit: dev ## 1,000,000 audited records on a broker: sealed, verified; one message explained beside them
	@$(PYTHON) -m bench.audit

bench: setup ## all benchmarks; writes docs/benchmarks.md
	@$(PYTHON) -m bench

bench-against: setup ## an earlier version and this one in turns: latency, CPU, records and disk of a message; COMMIT=… ROUNDS=5
	@$(PYTHON) -m bench.against $(COMMIT) $(if $(ROUNDS),--rounds $(ROUNDS))

bench-peers: setup ## a stage beside Faust and Quix Streams, a pack beside LangChain, LlamaIndex and mem0; ROUNDS=3
	@$(PYTHON) -m bench.peers $(if $(ROUNDS),--rounds $(ROUNDS))

bench-runtime: setup ## one stage against a bare aiokafka loop
	@$(PYTHON) -m bench.runtime

bench-pipeline: setup ## pack latency and throughput, by level and rate
	@$(PYTHON) -m bench.pipeline

bench-classify: setup ## time of one classification
	@$(PYTHON) -m bench.classify

bench-mcp: setup ## time of one assessment over MCP on stdio, beside the same in process
	@$(PYTHON) -m bench.mcp

bench-ask: setup ## what /ask adds to a pack's latency, connections held, assessments over HTTP
	@$(PYTHON) -m bench.ask

bench-front: setup ## what /v1 adds to a pack's latency and to the model's
	@$(PYTHON) -m bench.front

bench-gate: setup ## from a tool call to its verdict, at 200 calls a second
	@$(PYTHON) -m bench.gate

bench-ingest: dev ## from a message and from a document to the first pack that shows it
	@$(PYTHON) -m bench.ingest

bench-cognition: setup ## time of a complex question among 10,000 passages, and of packs beside it
	@$(PYTHON) -m bench.deep.cognition

profile: dev ## where the CPU of a message goes, by process and cause; RATE=50
	@$(PYTHON) -m bench.profiling --rate $(or $(RATE),50)

bench-memory: setup ## retrieval as memory grows; SIZES="--own 1000,10000 --others 1000,100000" chooses
	@$(PYTHON) -m bench.memory $(SIZES)

bench-recall: setup ## what the search graphs find of what comparing every passage finds
	@$(PYTHON) -m bench.recall

first-ask: setup ## the README's first question in RUNS=20 fresh installations: the same pack each time
	@$(PYTHON) -m bench.first_ask $(RUNS)

bench-replays: setup ## packs' p95 beside a replay; rates of exact replay, reprocessing and rebuild; REPLAYS="--messages 10000" chooses
	@$(PYTHON) -m bench.replays $(REPLAYS)

bench-servers: setup ## pack latency on the four servers that the environment names
	@$(PYTHON) -m bench.pipeline --servers

bench-start: setup ## cold start to first pack, memory
	@$(PYTHON) -m bench.start

OWN_SETS = bench/everyday_by_others bench/legal_multihop bench/everyday_harder bench/long_talks bench/single_beliefs
# Judgement is measured, not how fast the machine is today: packs wait for what they look up.
PATIENT = $(foreach level,0 1 2 3 4,FATHOM_PACK_DEADLINE_MS_D$(level)=30000)
eval: dev ## decisions and packs measured: KIT=FOLDER of labelled files (without it our own sets); pages in .eval
	@mkdir -p .eval
	@for file in $(wildcard $(KIT)/*.jsonl.gz); do task=$$(basename $$file | cut -d. -f1); \
	  .venv/bin/fathom eval predict $$task --input $$file --output .eval/$$task.jsonl || exit 1; done
	@$(if $(KIT),.venv/bin/fathom eval report $(KIT) --predictions .eval --html .eval/decisions.html --json > .eval/decisions.json)
	@$(PATIENT) .venv/bin/fathom eval packs bench/everyday $(wildcard $(KIT)/memory_retrieval.*.gz) --up --alone --html .eval/packs.html --json \
	  $(if $(KIT),--foreign 40) $(addprefix --chat ,$(wildcard $(KIT)/context_needs.*.gz)) > .eval/packs.json
	@$(PATIENT) .venv/bin/fathom eval packs $(OWN_SETS) --up --alone --html .eval/own.html --json > .eval/own.json
	@.venv/bin/fathom eval answers bench/legal_multihop bench/everyday bench/everyday_by_others $(wildcard $(KIT)/memory_retrieval.*.gz) \
	  $(if $(KIT),--dataset faquad --dataset oab) --up --rate 8 --json > .eval/answers.json
	@$(PYTHON) -m bench.judgement .eval

sbom: dev ## the bill of materials of what is installed, CycloneDX, into dist/
	@sh deploy/setup-release.sh && sh deploy/release.sh dist sbom

audit: dev ## known faults of what is installed; OFFLINE=ok: say so where nobody can be asked
	@sh deploy/setup-release.sh && sh deploy/audit.sh $(if $(filter ok,$(OFFLINE)),--offline-ok)

release: dev ## wheel, sdist, bill of materials and checksums into dist/, the same bytes each time; the image, with an engine
	@sh deploy/setup-release.sh && sh deploy/release.sh dist

clean: ## remove what runs and tests left behind (not .venv)
	@rm -rf .fathom .servers .eval .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis clients/python/.mypy_cache

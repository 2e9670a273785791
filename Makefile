# Everything a developer does, by one name each. `make` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# All modules of the workspace as package patterns, for tools that know no "work".
MODULES = $(shell go list -m -f '{{.Dir}}/...')

# Arguments for what `make run` starts, for example ARGS='--redis redis://db:6379 --demo=false',
# and for the searches of `make explore` and `make explore-nightly`, for example ARGS='-seed 7'.
ARGS ?=
# A package hangs when it takes longer than this.
TEST_TIMEOUT ?= 25m
BENCH ?= .
# What `make compose` runs the stack on.
STORES ?= redis
# How long each search and each seed of `make explore-nightly` may take.
NIGHTLY ?= 1h
# Without the race detector: there is one goroutine to a world. 4 GiB are enough.
EXPLORE = GOMEMLIMIT=3500MiB scripts/with-test-tools env RSC_TEST_REDIS=process go test ./services/coordinator/internal/group/explore -run '^(TestSearch|TestWalks|TestRealStoresDoAsTheModel|TestTheCoreAllocatesLittle)$$' -v -count=1 -timeout 12h -args
# How long each target of `make fuzz` runs, and which do.
FUZZTIME ?= 1m
FUZZ ?= .*
# What `make mutants` does; MUTANTS='-only MUT01,MUT07' runs some.
MUTANTS ?= -write docs/verification.md

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## build and start the standalone suite with its demo (ARGS=… for flags)
	@go build -o bin/standalone ./services/standalone/cmd/standalone
	@exec bin/standalone $(ARGS)

.PHONY: test
test: ## run all tests with the race detector against real Redis processes
	@scripts/with-test-tools env RSC_TEST_REDIS=process go test -race -timeout $(TEST_TIMEOUT) work
	@go test -tags rsc_next_schema ./services/coordinator/internal/codec ./services/coordinator/internal/peers

.PHONY: explore
explore: ## search the group protocol for schedules that break it, and print figures (ARGS='-seed …' repeats a run)
	@$(EXPLORE) -states 1000000 -walks 200000 -doubles 2000 -visits 1000 -figures $(ARGS) | grep --line-buffered -v '^=== '

.PHONY: explore-nightly
explore-nightly: ## the same with bigger numbers, each part for at most NIGHTLY (1h); go on with ARGS='-seed … -from …'
	@$(EXPLORE) -states 5000000 -large 50000000 -walks 8400000 -doubles 40000 -visits 1000 -limit $(NIGHTLY) -figures $(ARGS) | grep --line-buffered -v '^=== '

.PHONY: mutants
mutants: ## break the protocol in 35 ways, see each noticed, and write the table down
	@scripts/with-test-tools env RSC_TEST_REDIS=process go run ./tools/mutants $(MUTANTS)

.PHONY: fuzz
fuzz: ## run the native fuzz targets (FUZZ=regexp picks some), each for FUZZTIME
	@scripts/fuzz $(FUZZTIME) '$(FUZZ)'

.PHONY: lint
lint: ## golangci-lint over every module, then the numbers kept in CI
	@"$$(scripts/golangci-lint)" run $(MODULES)
	@go run ./tools/modcheck

.PHONY: generate
generate: ## make generated files again: the gateway's copy of the API's document, the console's templates, dashboards, docs/metrics.md, docs/configuration.md
	@go generate work

.PHONY: licences
licences: ## check the licence of every module, and list what is shipped in docs/licences.md
	@go run ./tools/licences

.PHONY: vulncheck
vulncheck: ## look for known vulnerabilities; needs https://vuln.go.dev, or VULNDB=… of a mirror
	@scripts/vulncheck

.PHONY: sbom
sbom: ## write a bill of materials (CycloneDX) for each program, into bin/sbom
	@scripts/sbom

.PHONY: fmt
fmt: ## format all Go files
	@"$$(scripts/golangci-lint)" fmt $(MODULES)

.PHONY: screenshots
screenshots: ## take the pictures of docs/operators-guide.md again, in a real Chromium
	@scripts/with-test-tools env RSC_TEST_REDIS=process RSC_ARTEFACTS= go test -count=1 -run '^TestEveryPage' ./tools/browser
	@mkdir -p docs/images
	@for page in overview group plan migration messages audit system; do cp "tools/browser/artefacts/guide-$$page.png" "docs/images/$$page.png"; done

.PHONY: compose
compose: ## run docker-compose.yml as it stands and try it (STORES='redis cluster postgres'); starts an engine where none answers
	@scripts/compose-smoke $(STORES)

.PHONY: bench
bench: ## run the benchmarks (BENCH=regexp picks some)
	@scripts/with-test-tools env RSC_TEST_REDIS=process go test -run '^$$' -bench '$(BENCH)' -benchmem work

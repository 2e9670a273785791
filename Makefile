# Everything a developer does, by one name each. `make` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# All modules of the workspace as package patterns, for tools that know no "work".
MODULES = $(shell go list -m -f '{{.Dir}}/...')

# Arguments for what `make run` starts, for example ARGS='--redis redis://db:6379 --demo=false'.
ARGS ?=
# A package hangs when it takes longer than this.
TEST_TIMEOUT ?= 15m
BENCH ?= .
# What `make mutants` does; MUTANTS='-only MUT01,MUT07' runs some.
MUTANTS ?= -write docs/verification.md

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## build and start the standalone suite with its demo (ARGS=… for flags)
	@go build -o bin/standalone ./services/standalone/cmd/standalone
	@exec bin/standalone $(ARGS)

.PHONY: test
test: ## run all tests with the race detector against real Redis processes
	@scripts/with-test-tools env RSC_TEST_REDIS=process go test -race -timeout $(TEST_TIMEOUT) work

.PHONY: mutants
mutants: ## break the protocol in 35 ways, see each noticed, and write the table down
	@scripts/with-test-tools env RSC_TEST_REDIS=process go run ./tools/mutants $(MUTANTS)

.PHONY: lint
lint: ## golangci-lint over every module, then the numbers kept in CI
	@"$$(scripts/golangci-lint)" run $(MODULES)
	@go run ./tools/modcheck

.PHONY: generate
generate: ## make generated files again (go:generate lines; there are none yet)
	@go generate work

.PHONY: fmt
fmt: ## format all Go files
	@"$$(scripts/golangci-lint)" fmt $(MODULES)

.PHONY: bench
bench: ## run the benchmarks (BENCH=regexp picks some)
	@scripts/with-test-tools env RSC_TEST_REDIS=process go test -run '^$$' -bench '$(BENCH)' -benchmem work

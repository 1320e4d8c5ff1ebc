export GOFLAGS := -buildvcs=false

.DEFAULT_GOAL := help
.PHONY: help dev build check test full lint script verify ordeal purge agents headless bench fuzz soak siege sizes story pictures docs

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: ## build both programs into ./bin, and say how to try them
	CGO_ENABLED=0 go build -o bin/ ./cmd/...
	@printf '%s\n' '' \
	'Built bin/retake and bin/retaked. Nothing was started. To try them, paste these lines into a shell:' '' \
	'  export PATH="$(CURDIR)/bin:$$PATH"' \
	'  export RETAKE_HOME="$$(mktemp -d)"            # a history of its own; yours is not touched' \
	'  retake demo "$$RETAKE_HOME/demo"              # a sample project with a history' \
	'  cd "$$RETAKE_HOME/demo/shopfront" && retake   # its timeline' '' \
	'When you are done:' '' \
	'  cd / && retake daemon stop && rm -rf "$$RETAKE_HOME" && unset RETAKE_HOME'

build: ## build ./retake and ./retaked
	CGO_ENABLED=0 go build -o . ./cmd/...

check: ## what to run before a push: format, vet, the rules of the code and of the words, go.mod
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	go test ./internal/arch ./test/words
	.ci/tidy

# The tag makes the keys of stores cheap. go vet is in make check.
test: ## run the fast tests, and of what is long a sample
	go test -short -vet=off -tags testing ./... ./.ci/count ./.ci/typecheck

full: ## run all tests, and all of what make test has a sample of
	go test -timeout 30m -tags testing ./... ./.ci/count ./.ci/typecheck

lint: ## format, vet and lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	go vet ./... ./.ci/count
	golangci-lint run ./...

script: ## run the command-line scripts
	go test -tags testing ./test/script/...

verify: ## generated files are current (node and python3 make them), other systems build, the portable code passes
	.ci/generated
	GOOS=darwin go build ./...
	GOOS=windows go build ./...
	go test -tags portable ./internal/platform/fsx/... ./internal/engine/capture/... ./test/script/...

ordeal: ## the full reliability harness
	go run -tags testing ./test/ordeal -tier c -o reliability.json
	go run ./test/readme

purge: ## 1,000 secrets captured in every way, purged, and searched for
	RETAKE_PURGE_SECRETS=1000 RETAKE_PURGE_RESULT=$(CURDIR)/bench/results/purge.json go test -count=1 -timeout 60m -run TestR3_PurgedSecretsAreGone ./test/purge

agents: ## real agents against a model that follows a script; npm fetches them
	go run ./test/agents -install -o test/agents/results.json -doc docs/start/agents.md -pages docs/start

headless: ## a hundred turns of real agents that exit after each: none is lost, none holds your edits
	go run ./test/agents -install -headless 100 -beds 2 -versions 2.1.78,2.1.325 -o test/agents/headless.json

bench: ## measure against the bars
	go run ./bench

fuzz: ## fuzz every target; TIME=3h
	go run ./test/fuzz -total $(or $(TIME),3h) -o test/fuzz/results.json

siege: ## slow connections and archive bombs against a server; UPGRADE=-upgrade replaces servers under load
	go test -count=1 -tags 'siege testing' ./test/siege
	go run -tags testing ./test/siege -connections $(or $(CONNECTIONS),1500) $(UPGRADE) -o test/siege/results.json

soak: ## thirty days in ninety minutes: four agents, faults, retention; leaks and wrong bytes fail
	go run -tags testing ./test/soak -time $(or $(TIME),90m) -days $(or $(DAYS),30) -o test/soak/results.json -svg docs/internals/plots
	! go run -tags testing ./test/soak -time 90s -days 2 -faults 20s -samples 5s -control

replica: ## copies elsewhere, at full size: 2,000 uploads opened after every object, 500 kills of the host, the price
	UPLOADS=2000 go test -count=1 -tags testing -run TestCopyIsWhole -v -timeout 90m ./internal/storage/store/kopia
	CUTS=500 go test -count=1 -tags 's3 ssh testing' -run 'TestCopyIn|TestCopyOver|TestMachineIsLost|TestUploadsThatAreCut' -v -timeout 60m ./test/real
	SAVES=200 go test -count=1 -tags testing -run TestPriceOfAnUpload -v ./internal/storage/store/kopia
	SAVES=25 go test -count=1 -tags testing -run TestSavesBesideUploads -v ./internal/storage/store/kopia

sizes: ## lines, names, comments and types, beside other projects
	@go run ./test/sizes

story: ## scripted runs with a known truth, held against what is told of them
	go run ./test/story -o test/story/results.json -page docs/use/what-changed.md

pictures: ## the pictures of the documents, from a morning and an undo that are really played
	go run ./test/pictures -o docs/pictures

.PHONY: sdk
PYTHON ?= python3

sdk: ## the clients in three languages, asked the same of a real server
	node --test sdk/typescript/
	cd sdk/python && PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q
	go run ./test/sdk -python $(PYTHON)

docs: ## lint the description of the API, and render it as bin/api.html
	.ci/openapi
	npx --yes @redocly/cli@2.73.0 build-docs api/openapi.yaml -o bin/api.html

.PHONY: console browser

console: ## build the console into internal/ui/web/dist
	cd console && npm install --no-save --no-audit --no-fund && npm run build

browser: ## the console in a real browser, at full size
	go test -count=1 -timeout 40m -v -tags browser ./test/browser

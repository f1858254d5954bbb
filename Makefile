# Daily work. ./run and ./test need no make; this is for people who change the code.
GO      ?= go

GOFUMPT     := $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build build-emu test golden race lint fmt etude pictures darwin desktop clients compare-peers pack-demo test-hftokenizers

## build: make bin/clefbar
build:
	$(GO) build -o bin/clefbar ./app

## build-emu: the same program with --device emu: the GPU's kernels on the processor (Linux x86-64, clang)
build-emu:
	$(GO) build -tags emu -o bin/clefbar-emu ./app

## test: everything, as the machines run it
test:
	./test

## golden: the numbers only (engine, model files, head)
golden:
	$(GO) test ./models/... ./engine/...

## race: the race detector over everything that needs no GL
race:
	$(GO) test -race -short ./models/... ./engine/... ./metal/... ./app/endpoint/... ./app/worker/... ./app/measure/... ./app/history/... ./app/instance/...
	$(GO) test -race -short ./ui/...

lint:
	@test -z "$$($(GOFUMPT) -l app assets engine metal models ui house_test.go)" || { $(GOFUMPT) -l app assets engine metal models ui house_test.go; echo "run: make fmt"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...

fmt:
	$(GOFUMPT) -w app assets engine metal models ui house_test.go

## darwin: type-check and link the Mac build from any machine
darwin:
	sh scripts/darwin.sh

## etude: train the practice model again (under an hour on two cores)
etude:
	sh models/etude/train/run.sh
	$(GO) test ./engine/probe -run TestEtudeReferences -update

## pack-demo: a synthetic checkpoint to try the shelf (SIZE=2GB LAYOUT=4-bit OUT=demo, ARGS="-cache -without head")
SIZE ?= 200MB
LAYOUT ?= 4-bit
OUT ?= demo
pack-demo:
	$(GO) run ./scripts/packdemo -size $(SIZE) -layout $(LAYOUT) -out $(OUT) $(ARGS)

## pictures: make the pictures in docs/ again, from the real window
pictures: build
	CLEFBAR_PICTURES=$(CURDIR)/docs sh scripts/desktop.sh
	$(GO) test -count=1 -tags docs -run TestDocs ./ui -docs $(CURDIR)/docs

## desktop: type, click and look at the real program in a virtual display
desktop: build
	sh scripts/desktop.sh

## clients: the official clients and jevcompat against a running endpoint
clients: build
	sh scripts/clients.sh

## compare-peers: PyTorch, llama.cpp and us in turns on one synthetic checkpoint (11 GB in PEERS, minutes to hours)
PEERS ?= build/peers
compare-peers: build
	python3 bench/compare.py setup
	[ -d $(PEERS) ] || python3 bench/compare.py prepare $(PEERS) --size 0.6b
	python3 bench/compare.py run $(PEERS) --lengths 500,2000 --runs 5

## test-hftokenizers: the Rust tokenizer as a second implementation (needs cargo)
test-hftokenizers:
	sh engine/tokenizer/hf/native/build.sh build/native
	CGO_LDFLAGS="-L$(CURDIR)/build/native" $(GO) test -tags hftokenizers ./engine/tokenizer/hf

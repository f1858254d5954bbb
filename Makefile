# Daily work. ./run and ./test need no make; this is for people who change the code.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

GOFUMPT     := $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test golden race lint fmt etude pictures darwin

## build: make bin/clefbar
build:
	$(GO) build -o bin/clefbar ./app

## test: everything, as the machines run it
test:
	./test

## golden: the numbers only (engine, model files, head)
golden:
	$(GO) test ./models/... ./engine/...

## race: the race detector over everything that needs no GL
race:
	$(GO) test -race -short ./models/... ./engine/... ./app/endpoint/... ./app/history/...
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

## etude: train the practice model again (hours)
etude:
	sh models/etude/train/run.sh

## pictures: make the pictures in docs/ from the running program
pictures:
	sh scripts/desktop.sh

# The project's commands. `make` alone lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# One setting for everything that compiles, so that Kubernetes is compiled once and every command shares the cache.
export CGO_ENABLED := 0
export GOTOOLCHAIN ?= local

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
KUBERNETES_VERSION := v1.36.3
# Other minor versions, whose control plane skew-test uses.
KUBERNETES_SKEW ?= v1.35.4 v1.37.2
BIN := bin

# Clients refuse to talk to components that do not name the Kubernetes version they are.
LDFLAGS := -s -w -X main.version=$(VERSION) -X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION)

COMMANDS := koordctl koord-scheduler koord-manager koord-descheduler koord-bridge koord-sandbox koordlet koord-yarn-agent koord-nvml koord-runtime-proxy

.PHONY: help build test test-race fuzz e2e ecosystem engines guest-test skew-test spark-operator kubernetes-skew real-node demo recordings generate generate-proto lint vulncheck bench bench-agent bench-bridge bench-descheduler bench-interference bench-manager bench-nri bench-runtimeproxy bench-scheduler bench-schedulerperf bench-suppression bench-workbench images man clean

help: ## List the commands.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Compile the programs into bin/ (the first time about 12 minutes on 2 cores: it compiles Kubernetes).
	@mkdir -p $(BIN)
	@build/progress.sh go build -v -ldflags '$(LDFLAGS)' -o $(BIN)/ $(addprefix ./cmd/,$(COMMANDS))
	@ln -sf koordctl $(BIN)/kubectl-koord

test: build ## Run all tests: unit, and integration against a real API server in a sandbox.
	cd api && go test ./...
	@build/progress.sh go vet ./...
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go test -timeout 40m ./...

# -short leaves out exhaustive explorations, which run in one goroutine, and in make test.
test-race: ## Run the tests of what runs beside others under the race detector (needs a C compiler; the first time it compiles the scheduler once more).
	cd api && CGO_ENABLED=1 go test -race ./...
	CGO_ENABLED=1 build/progress.sh go test -race -short -timeout 20m $$(build/race-packages.sh)

fuzz: ## Fuzz every target for 10 s, one after the other (FUZZTIME=1m for more, PACKAGES="agent/host/machine" for some; about 15 minutes).
	@BIN=$(BIN) build/fuzz.sh

e2e: build ## Drive the programs end to end: the sandbox, every command, the TUI in a real terminal (needs tmux), and pods on this machine where it can be a node (see real-node).
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go test -timeout 20m -tags e2e ./test/e2e
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 15m -v ./test/realnode

guest-test: ## Test the agent on cgroups version 2, in a guest with a kernel of its own (needs qemu-system-x86; about a minute).
	@BIN=$(BIN) build/guest.sh
	KOORD_GUEST_KERNEL=$(CURDIR)/$(BIN)/guest/vmlinuz go test -count=1 -timeout 10m -v ./test/guest

skew-test: build kubernetes-skew ## Test the system on API servers of other minor versions of Kubernetes (KUBERNETES_SKEW=v1.35.4 for one).
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) KOORD_TEST_SKEW=required go test -count=1 -timeout 20m -v ./test/skew

kubernetes-skew: ## Build kube-apiserver and kube-controller-manager of other minor versions of Kubernetes.
	@BIN=$(BIN) KUBERNETES_SKEW="$(KUBERNETES_SKEW)" build/skew.sh

real-node: build ## Build what sandbox up --real-node runs: containerd, kubelet, network plugins and images (the first time about 5 minutes).
	@BIN=$(BIN) KUBERNETES_VERSION=$(KUBERNETES_VERSION) build/real-node.sh

spark-operator: build ## Build spark-operator, with which the tutorial of Spark submits (the first time about 4 minutes on 2 cores).
	@go build -o $(BIN)/kubectl k8s.io/kubernetes/cmd/kubectl
	@BIN=$(BIN) build/ecosystem.sh spark-operator

ENGINES ?= ./test/engines/...
engines: real-node spark-operator ## Test with real engines: YARN of Hadoop 3.4, Slurm, and as root the tutorials (ENGINES=./test/engines/slurm for one; needs a JDK 17, Maven and faketime; downloads 350 MB once, verified and cached).
	@go build -o $(BIN)/kubectl k8s.io/kubernetes/cmd/kubectl
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) KOORD_TEST_ENGINES=required go test -count=1 -p 1 -timeout 45m $(ENGINES)

ECOSYSTEM ?= metrics-server vpa jobset kueue dask mpi
ecosystem: build ## Test with Kueue, JobSet, the Vertical Pod Autoscaler, metrics-server, and with Dask and MPICH of Debian (ECOSYSTEM="dask jobset mpi" for some; compiles them once, about 30 minutes on 2 cores).
	@go build -o $(BIN)/kubectl k8s.io/kubernetes/cmd/kubectl
	@BIN=$(BIN) build/ecosystem.sh $(ECOSYSTEM)
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) KOORD_TEST_ECOSYSTEM="$(ECOSYSTEM)" go test -count=1 -timeout 15m -v ./test/ecosystem

demo: build ## Start a cluster of 30 simulated nodes, watch co-location work, and ask why.
	@build/demo.sh

recordings: build ## Record what the README and the guide show, from a sandbox, into docs/recordings (about 5 minutes).
	@go build -o $(BIN)/kubectl k8s.io/kubernetes/cmd/kubectl
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./build/recording

generate: ## Regenerate deepcopy functions, custom resource definitions, OpenAPI definitions and the pages of codes, commands and kinds.
	$(MAKE) -C api generate
	go generate ./controllers/...
	go run ./build/codes -out docs
	go run ./build/commands -out docs
	go run ./build/schema -out docs

generate-proto: ## Regenerate the messages of the protocol for hooks (needs protoc: apt-get install protobuf-compiler).
	@build/proto.sh

lint: ## Check formatting, vet and the rules of .golangci.yml (the first time 5 minutes more: it compiles the linters).
	@build/lint.sh

vulncheck: ## Look for known vulnerabilities in packages that the programs import, with govulncheck (VULNDB names another database).
	@build/vulncheck.sh

bench: build ## Measure what docs/performance.md reports.
	@build/bench.sh

bench-bridge: build ## Measure how soon YARN follows 1,000 nodes (about 3 minutes).
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./bench/bridge -koord-bridge $(BIN)/koord-bridge -koord-manager $(BIN)/koord-manager $(BENCH_FLAGS)

bench-manager: build ## Measure koord-manager with 5,000 nodes: convergence, steady state, admission, commands of all nodes (about 30 minutes).
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./bench/manager -koord-manager $(BIN)/koord-manager $(BENCH_FLAGS)

bench-nri: ## Measure what the node agent adds to the start of a container by NRI (in real cgroups as root, in a model of them else; a minute).
	go run ./bench/nri $(BENCH_FLAGS)

bench-runtimeproxy: build ## Measure what koord-runtime-proxy adds to calls of a container runtime (about 7 minutes).
	go run ./bench/runtimeproxy -koord-runtime-proxy $(BIN)/koord-runtime-proxy $(BENCH_FLAGS)

bench-scheduler: build ## Compare koord-scheduler with kube-scheduler, as whole processes (BENCH_FLAGS="-runs 5" for more).
	@build/progress.sh go build -v -ldflags '$(LDFLAGS)' -o $(BIN)/kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./bench/scheduler -kube-scheduler $(BIN)/kube-scheduler -workloads basic,batch,mixed,gang,quota $(BENCH_FLAGS)

bench-schedulerperf: ## Hold the plugins to their thresholds, in process, with Kubernetes' scheduler_perf (BENCH_FLAGS=-short for 2 minutes).
	go test -run '^$$' -bench '^BenchmarkPerfScheduling$$' -benchtime 1ns -timeout 60m $(BENCH_FLAGS) ./bench/schedulerperf -args -data-items-dir $(CURDIR)/$(BIN)/schedulerperf

bench-suppression: ## Measure how soon best-effort pods are held back when a service needs CPU, in real cgroups (root, about 10 minutes).
	go run ./bench/suppression $(BENCH_FLAGS)

bench-workbench: build ## Measure koordctl and its terminal interface with 5,000 nodes and 50,000 pods, beside kubectl (about 12 minutes).
	@go build -o $(BIN)/kubectl k8s.io/kubernetes/cmd/kubectl
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./bench/workbench -koordctl $(BIN)/koordctl -kubectl $(BIN)/kubectl $(BENCH_FLAGS)

bench-agent: real-node ## Measure what the node agent costs, on this machine as a real node with 50 and 107 pods (as root; 8 minutes).
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./bench/footprint $(BENCH_FLAGS)

bench-descheduler: build ## Measure passes of koord-descheduler with 5,000 nodes and 150,000 pods, as a whole process (about 15 minutes).
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./bench/descheduler -koord-descheduler $(BIN)/koord-descheduler $(BENCH_FLAGS)

bench-interference: real-node ## Measure a service beside a batch job, unmanaged and managed, on this machine (as root; 25 minutes).
	KOORD_TEST_BIN=$(CURDIR)/$(BIN) go run ./bench/interference -plot docs/images/interference.svg $(BENCH_FLAGS)

images: build ## Write an OCI image of each component to bin/images, without a container engine.
	cd tools && go tool oci-images -programs koord-manager,koord-scheduler,koord-descheduler,koord-bridge,koord-yarn-agent,koordlet,koordlet-nvml=koordlet+koord-nvml -version $(VERSION) -bin $(CURDIR)/$(BIN) -out $(CURDIR)/$(BIN)/images

man: ## Write the man pages of koordctl to bin/man, from its commands (man -M bin/man koordctl).
	@go run ./build/manpages -version $(VERSION) -date $${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || date +%s)} -out $(BIN)/man

clean: ## Remove what the other commands made in this directory.
	rm -rf $(BIN)

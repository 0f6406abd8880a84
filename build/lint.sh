#!/usr/bin/env bash
# Formatting, modes of scripts, vet and golangci-lint (rules: .golangci.yml). Some rules need the source of everything a package and
# its tests import, so golangci-lint is run on those that do not import Kubernetes' server code, and vet on all.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
if [[ -n $unformatted ]]; then
	echo "error: not formatted, run gofmt -w on:" >&2
	echo "$unformatted" >&2
	exit 1
fi

long=$(git ls-files -co --exclude-standard '*.go' | grep -v '/zz_generated' | xargs wc -l | awk '$2 != "total" && $1 > 500 {print "  " $2 ": " $1 " lines"}')
if [[ -n $long ]]; then
	echo "error: files over 500 lines:" >&2
	echo "$long" >&2
	exit 1
fi

idle=$(git ls-files -s | awk '$1 == "100644" && ($4 ~ /\.sh$/ || $4 == ".ci/run") {print "  " $4}')
if [[ -n $idle ]]; then
	echo "error: scripts that nobody may run, chmod +x and add them:" >&2
	echo "$idle" >&2
	exit 1
fi

build/progress.sh go build -v ./...
build/progress.sh go vet ./...
linter=$(realpath tools/golangci-lint/go.mod)
(cd api && go vet ./... && go tool -modfile="$linter" golangci-lint run --config ../.golangci.yml ./...)
heavy=$(go list -test -f '{{.ImportPath}} {{join .Deps " "}} ' ./... | grep ' k8s.io/kubernetes/' | cut -d' ' -f1 | sed -E 's/(\.test|_test)$//' | sort -u)
go list ./... | grep -vxF "$heavy" | sed 's#^koordinator.sh/koord#.#' |
	xargs go tool -modfile="$linter" golangci-lint run
echo "lint passed"

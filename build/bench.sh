#!/usr/bin/env bash
# Measures what docs/performance.md reports and prints it as Markdown tables.
set -euo pipefail
cd "$(dirname "$0")/.."
export KOORD_TEST_BIN=$PWD/bin
go run ./bench "$@"
go test -run '^$' -bench . -benchtime 1s ./decision/... ./tui ./source/... ./agent/... ./scheduler/explain | grep -E '^(Benchmark|pkg:)'

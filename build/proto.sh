#!/usr/bin/env bash
# Generates the messages of the protocol for hooks. It needs protoc, which is in Debian's package protobuf-compiler; the part that
# writes Go is built in the version that go.mod has.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v protoc >/dev/null || { echo "error: protoc is not installed, hint: apt-get install protobuf-compiler" >&2; exit 1; }
plugin=$(mktemp -d)
trap 'rm -rf "$plugin"' EXIT
go build -o "$plugin/protoc-gen-go" google.golang.org/protobuf/cmd/protoc-gen-go
cd runtimeproxy/hookapi
protoc --plugin="$plugin/protoc-gen-go" --go_out=. --go_opt=paths=source_relative hook.proto
mv hook.pb.go zz_generated.hook.pb.go

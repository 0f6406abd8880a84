#!/usr/bin/env bash
# The product's story in two minutes: a cluster, co-location on it, and the questions it answers.
set -euo pipefail
cd "$(dirname "$0")/.."
koordctl=$PWD/bin/koordctl
name=${DEMO_NAME:-demo}

run() {
	printf '\n$ koordctl %s\n' "$*"
	ask "$@"
}

ask() { "$koordctl" --context "koord-sandbox-$name" "$@"; }

# What the pods use is measured within a minute; before that there is no load to show.
wait_for_load() {
	printf '\nWaiting until the load is measured' >&2
	for _ in {1..45}; do
		if ask top nodes --no-headers | grep Hot >/dev/null; then
			break
		fi
		printf '.' >&2
		sleep 2
	done
	printf '\n' >&2
}

printf '$ koordctl sandbox up --name %s\n' "$name"
"$koordctl" sandbox up --name "$name"
wait_for_load
run top nodes
run explain node sim-0001 batch-cpu
run explain node sim-0007 suppress
run forecast evictions sim-0007
run explain pod -n analytics monthly-report
run explain pod -n shop cache-warmup
cat <<TEXT

The cluster goes on running. Look around in it:
  bin/koordctl --context koord-sandbox-$name tui
  kubectl --context koord-sandbox-$name get pods -A -o wide
Stop it with:
  bin/koordctl sandbox down --name $name
TEXT

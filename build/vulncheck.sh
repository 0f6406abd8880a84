#!/usr/bin/env bash
# Known vulnerabilities in packages that the programs import, by govulncheck. VULNDB names the database, such as
# file:///srv/vulndb; without it, it is the current one on the internet, and where that cannot be reached the version pinned here, made
# from the Go module golang.org/x/vulndb. What is found must be fixed, or be listed in build/vulnerabilities.txt with the reason.
# Those of the standard library are reported and are no failure: they are fixed by the Go that builds.
set -euo pipefail
cd "$(dirname "$0")/.."

pinned=v0.0.0-20261105234957-e22db6528018

# pinned_copy writes the database of the pinned version, once, and prints its URL.
pinned_copy() {
	local target="$PWD/bin/vulndb-$pinned" module
	if [[ ! -e $target/index/db.json ]]; then
		module=$(go mod download -json "golang.org/x/vulndb@$pinned" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
		rm -rf "$target.partial"
		mkdir -p "$target.partial"
		go run "golang.org/x/vulndb/cmd/indexdb@$pinned" -vulns "$module/data/osv" -out "$target.partial" >&2
		mv "$target.partial" "$target"
	fi
	echo "file://$target"
}

database=${VULNDB:-https://vuln.go.dev}
if [[ -z ${VULNDB:-} ]] && ! curl -fsS -m 20 -o /dev/null "$database/index/db.json" 2>/dev/null; then
	database=$(pinned_copy)
	echo "vulncheck: https://vuln.go.dev cannot be reached; checking against the pinned database of ${pinned:7:4}-${pinned:11:2}-${pinned:13:2}"
fi
# The packages are compared, not the functions that are called: a call graph of Kubernetes takes more than 15 GiB.
go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -format json -scan package -db "$database" "${@:-./...}" |
	go run ./build/vulnerabilities -accepted build/vulnerabilities.txt

#!/usr/bin/env bash
# Known vulnerabilities in code that the programs call, by govulncheck. Without its database, which is on the internet, nothing is checked,
# and that is said: VULNDB names another one, such as file:///srv/vulndb.
set -euo pipefail
cd "$(dirname "$0")/.."

database=${VULNDB:-https://vuln.go.dev}
if [[ $database != file://* ]] && ! curl -fsS -m 20 -o /dev/null "$database/index/db.json" 2>/dev/null; then
	echo "vulncheck: $database cannot be reached, and nothing was checked"
	exit 0
fi
go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db "$database" "${@:-./...}"

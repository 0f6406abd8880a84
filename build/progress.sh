#!/usr/bin/env bash
# Runs a go command and shows how far it is: `go build -v` names every package as it is compiled, and the first build
# compiles about two thousand.
set -uo pipefail
start=$SECONDS
count=0
"$@" 2> >(
	while IFS= read -r line; do
		if [[ $line =~ ^[a-zA-Z0-9_./~-]+$ && $line != *' '* && ( $line == */* || $line =~ ^[a-z0-9]+$ ) ]]; then
			count=$((count + 1))
			if ((count % 100 == 0)); then
				echo "  compiled $count packages, $((SECONDS - start)) s" >&2
			fi
		else
			printf '%s\n' "$line" >&2
		fi
	done
)
status=$?
wait
exit "$status"

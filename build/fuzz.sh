#!/usr/bin/env bash
# Fuzzes every target of the repository for FUZZTIME each (10s unless it is set), one after the other, and fails when one fails. What
# made it fail lies in testdata/fuzz beside its test, and `go test` has it from then on. PACKAGES restricts it to some folders.
set -uo pipefail
cd "$(dirname "$0")/.."

root=$PWD
fuzztime=${FUZZTIME:-10s}
bin=${BIN:-bin}/fuzz
cache=$(go env GOCACHE)/fuzz
mkdir -p "$bin"
failed=()
count=0

# fuzz TARGET of the package in this folder. Where one input takes long, the end of the time comes in the middle of it, which Go reports
# as a failure without an input.
fuzz() {
	output=$("$binary" -test.run '^$' -test.fuzz "^$1\$" -test.fuzztime "$fuzztime" -test.fuzzcachedir "$cache/$folder" 2>&1) ||
		[[ $output == *'context deadline exceeded'* && $output != *'Failing input written'* && $output != *'failure while testing seed corpus'* ]]
}

folders=${PACKAGES:-$(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u)}
for folder in $folders; do
	binary=$root/$bin/${folder//\//.}.test
	# One program for all targets of a package, with what guides fuzzing compiled in.
	if ! build/progress.sh go -C "$folder" test -c -v -vet=off -fuzz=Fuzz -o "$binary" .; then
		failed+=("$folder, which does not compile")
		continue
	fi
	for target in $(cd "$folder" && "$binary" -test.list '^Fuzz'); do
		count=$((count + 1))
		start=$SECONDS
		cd "$folder"
		fuzz "$target"
		status=$?
		cd "$root"
		if ((status == 0)); then
			printf '%3d  ok    %s %s, %d s\n' "$count" "$folder" "$target" $((SECONDS - start))
		else
			failed+=("$folder $target")
			printf '%3d  FAIL  %s %s, %d s\n%s\n' "$count" "$folder" "$target" $((SECONDS - start)) "$output"
		fi
	done
	rm -f "$binary"
done

if ((${#failed[@]})); then
	printf 'error: %d of %d targets failed:\n' ${#failed[@]} "$count" >&2
	printf '  %s\n' "${failed[@]}" >&2
	exit 1
fi
if ((count == 0)); then
	echo "error: there is no fuzz target in $folders" >&2
	exit 1
fi
echo "$count targets were fuzzed in $SECONDS s"

#!/usr/bin/env bash
# Builds the controllers that test/ecosystem runs beside the system into bin/ecosystem, each with the manifests of its module. What is
# there in the pinned version is not built again.
set -euo pipefail
cd "$(dirname "$0")/.."

kueue=v0.19.2
jobset=v0.12.0

bin=$PWD/${BIN:-bin}
out=$bin/ecosystem
progress=$PWD/build/progress.sh

# controller NAME VERSION MODULE PACKAGE puts the program into NAME/manager, and what `kubectl apply -k config/default` would create into
# NAME/manifests.yaml. It is built in the folder of its module, with the versions and checksums of its own dependencies.
controller() {
	local name=$1 version=$2 module=$3 package=$4 start=$SECONDS source
	if [[ $(cat "$out/$name/version" 2>/dev/null) == "$version" ]]; then
		return
	fi
	echo "ecosystem: build $name $version" >&2
	rm -rf "${out:?}/$name"
	mkdir -p "$out/$name"
	source=$(cd / && GOFLAGS= go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
	if [[ ! -d $source/config/default ]]; then
		echo "ecosystem: error: module $module@$version has no folder config/default" >&2
		return 1
	fi
	"$bin/kubectl" kustomize "$source/config/default" >"$out/$name/manifests.yaml"
	(cd "$source" && GOFLAGS=-buildvcs=false "$progress" go build -v -ldflags '-s -w' -o "$out/$name/manager" "$package")
	echo "$version" >"$out/$name/version"
	echo "ecosystem: built $name $version in $((SECONDS - start)) s" >&2
}

controller jobset "$jobset" sigs.k8s.io/jobset .
controller kueue "$kueue" sigs.k8s.io/kueue ./cmd/kueue
echo "ecosystem: all in ${out#"$PWD/"}" >&2

#!/usr/bin/env bash
# Builds the API server and the controller manager of other minor versions of Kubernetes into bin/kubernetes/VERSION, for
# `koordctl sandbox up --kubernetes-bin` and test/skew. What is there is not built again.
set -euo pipefail
cd "$(dirname "$0")/.."

versions=${KUBERNETES_SKEW:?run it with: make kubernetes-skew}
programs=${KUBERNETES_SKEW_PROGRAMS:-kube-apiserver kube-controller-manager}
root=$PWD/${BIN:-bin}/kubernetes
progress=$PWD/build/progress.sh

# module VERSION makes the module that builds this version. `go install PATH@VERSION` does not: Kubernetes replaces its staging modules
# by directories that its published module lacks. Here they are replaced by their published versions.
module() {
	local version=$1 definition name
	definition=$(cd / && GOFLAGS= go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"GoMod": "\(.*\)",\{0,1\}$/\1/p')
	if [[ ! -s $definition ]]; then
		echo "kubernetes-skew: error: module k8s.io/kubernetes@$version has no go.mod" >&2
		return 1
	fi
	printf 'module skew\n\n'
	grep -E '^(go|godebug) ' "$definition"
	printf '\nrequire k8s.io/kubernetes %s\n\nreplace (\n' "$version"
	for name in $(awk '$2 == "=>" && $3 ~ /^\.\/staging\// {print $1}' "$definition"); do
		printf '\t%s => %s v0.%s\n' "$name" "$name" "${version#v1.}"
	done
	printf ')\n'
}

# build VERSION PROGRAM puts the program into its directory when it is complete.
build() {
	local version=$1 program=$2 out=$root/$1 start=$SECONDS
	if [[ -s $out/$program ]]; then
		return
	fi
	echo "kubernetes-skew: build $program $version" >&2
	mkdir -p "$out/src"
	module "$version" >"$out/src/go.mod"
	(cd "$out/src" && GOFLAGS= "$progress" go build -v -mod=mod -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" \
		-o "$out/src/$program" "k8s.io/kubernetes/cmd/$program")
	mv "$out/src/$program" "$out/$program"
	echo "kubernetes-skew: built $program $version in $((SECONDS - start)) s" >&2
}

for program in $programs; do
	for version in $versions; do
		build "$version" "$program"
	done
done
echo "kubernetes-skew: all in ${root#"$PWD/"}" >&2

#!/usr/bin/env bash
# Builds the controllers that test/ecosystem and the tutorial of Spark run beside the system into bin/ecosystem, each with the manifests
# of its module: those that are named, or all. What is there in the pinned version is not built again.
set -euo pipefail
cd "$(dirname "$0")/.."

kueue=v0.19.2
jobset=v0.12.0
vpa=v1.8.1
metrics_server=v0.9.0
spark_operator=v2.5.2

bin=$PWD/${BIN:-bin}
out=$bin/ecosystem
wanted=" $* "
progress=$PWD/build/progress.sh

# controller NAME VERSION MODULE MANIFESTS PROGRAM=PACKAGE... puts programs into NAME/, and what `kubectl apply -k MANIFESTS` would create into
# NAME/manifests.yaml. They are built in the folder of their module, with the versions and checksums of its own dependencies.
controller() {
	local name=$1 version=$2 module=$3 manifests=$4 start=$SECONDS source program
	shift 4
	if [[ $wanted != "  " && $wanted != *" $name "* ]]; then
		return
	fi
	if [[ $(cat "$out/$name/version" 2>/dev/null) == "$version" ]]; then
		return
	fi
	echo "ecosystem: build $name $version" >&2
	rm -rf "${out:?}/$name"
	mkdir -p "$out/$name"
	source=$(cd / && GOFLAGS= go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
	if [[ ! -d $source/$manifests ]]; then
		echo "ecosystem: error: module $module@$version has no folder $manifests" >&2
		return 1
	fi
	"$bin/kubectl" kustomize "$source/$manifests" >"$out/$name/manifests.yaml"
	for program in "$@"; do
		(cd "$source" && GOFLAGS=-buildvcs=false "$progress" go build -v -ldflags '-s -w' -o "$out/$name/${program%%=*}" "${program#*=}")
	done
	echo "$version" >"$out/$name/version"
	echo "ecosystem: built $name $version in $((SECONDS - start)) s" >&2
}

controller metrics-server "$metrics_server" sigs.k8s.io/metrics-server manifests/overlays/release manager=./cmd/metrics-server
controller vpa "$vpa" k8s.io/autoscaler/vertical-pod-autoscaler deploy recommender=./pkg/recommender updater=./pkg/updater
controller jobset "$jobset" sigs.k8s.io/jobset config/default manager=.
controller kueue "$kueue" sigs.k8s.io/kueue config/default manager=./cmd/kueue
controller spark-operator "$spark_operator" github.com/kubeflow/spark-operator/v2 config/default manager=./cmd/operator
echo "ecosystem: all in ${out#"$PWD/"}" >&2

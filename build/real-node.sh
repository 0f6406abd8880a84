#!/usr/bin/env bash
# Builds what `koordctl sandbox up --real-node` runs into bin/real-node. What is there in the pinned version is not built again.
set -euo pipefail
cd "$(dirname "$0")/.."

containerd=v2.4.2
plugins=v1.9.1
kubernetes=${KUBERNETES_VERSION:?run it with: make real-node}
images=v1

out=$PWD/${BIN:-bin}/real-node
bin=$PWD/${BIN:-bin}
progress=$PWD/build/progress.sh
stamps=$out/.versions
mkdir -p "$out/cni" "$out/images" "$stamps"

# once NAME VERSION FILE... runs build_NAME unless it made the files in that version.
once() {
	local name=$1 version=$2 file missing=
	shift 2
	for file in "$@"; do
		[[ -s $out/$file ]] || missing=yes
	done
	if [[ -z $missing && $(cat "$stamps/$name" 2>/dev/null) == "$version" ]]; then
		return
	fi
	echo "real-node: build $name $version" >&2
	rm -f "$stamps/$name"
	"build_$name"
	echo "$version" >"$stamps/$name"
}

# Programs of other modules are built outside of this one, with the versions of their own dependencies.
elsewhere() {
	local bin=$1
	shift
	(cd / && GOBIN=$bin GOFLAGS= "$progress" go install -v "$@")
}

build_containerd() {
	local module=github.com/containerd/containerd/v2
	elsewhere "$out" -tags no_btrfs,no_devmapper,no_zfs -ldflags "-s -w -X $module/version.Version=$containerd" \
		$module/cmd/containerd@$containerd $module/cmd/containerd-shim-runc-v2@$containerd $module/cmd/ctr@$containerd
}

build_plugins() {
	local module=github.com/containernetworking/plugins/plugins
	elsewhere "$out/cni" -ldflags '-s -w' $module/main/bridge@$plugins $module/ipam/host-local@$plugins
}

build_kubelet() {
	"$progress" go build -v -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes" \
		-o "$out/kubelet" k8s.io/kubernetes/cmd/kubelet
}

build_images() {
	local programs=$out/images/programs
	mkdir -p "$programs"
	go build -ldflags '-s -w' -o "$programs/" ./sandbox/workload/pause ./sandbox/workload/burn
	(cd tools && go tool oci-images -registry koordinator.sh/sandbox/ -version "$images" -programs pause,burn \
		-bin "$programs" -out "$out/images")
}

# The system's own, packed again when its programs are others.
build_system() {
	(cd tools && go tool oci-images -registry koordinator.sh/sandbox/ -version current -programs koord-manager,koord-scheduler,koord-descheduler,koord-bridge,koordlet,koord-yarn-agent \
		-bin "$bin" -out "$out/images")
}

once containerd "$containerd" containerd containerd-shim-runc-v2 ctr
once plugins "$plugins" cni/bridge cni/host-local
once kubelet "$kubernetes" kubelet
once images "$images $(cat sandbox/workload/*.go sandbox/workload/*/*.go tools/cmd/oci-images/*.go | sha256sum)" images/pause.tar images/burn.tar
once system "$(cd "$bin" && sha256sum koord-manager koord-scheduler koord-descheduler koord-bridge koordlet koord-yarn-agent | sha256sum)" images/{koord-manager,koord-scheduler,koord-descheduler,koord-bridge,koordlet,koord-yarn-agent}.tar
echo "real-node: all in ${out#"$PWD/"}" >&2

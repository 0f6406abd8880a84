package cgroup

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/agent/host/files"
)

// Probe finds out the layout of a machine from the tree at /sys/fs/cgroup: version 2 has its own file there, and the driver is
// the one by which kubelet has named the cgroup of all pods, below its --cgroup-root. It fails while kubelet has made none.
func Probe(tree files.FS, parent string) (Layout, error) {
	layout := Layout{Version: V1, Parent: strings.Trim(parent, "/")}
	if tree.Exists("cgroup.controllers") {
		layout.Version = V2
	}
	for _, layout.Driver = range []Driver{Systemd, Cgroupfs} {
		if tree.Exists(layout.Directory(CPUUsage, layout.Kubepods())) {
			return layout, nil
		}
	}
	return layout, fmt.Errorf("find kubelet's cgroups: there is neither kubepods.slice nor kubepods below %q", "/"+layout.Parent)
}

// Supports reports whether the kernel has a setting, by a cgroup that is not the root.
func (l Layout) Supports(tree files.FS, s Setting, cgroup string) bool {
	path, has := l.Path(s, cgroup)
	return has && tree.Exists(path)
}

package process

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// PodOf finds the pod that a process belongs to by its cgroups; false of one that is in no pod, and of one that has ended.
func PodOf(proc files.FS, layout cgroup.Layout, pid int) (types.UID, bool) {
	paths, err := Cgroups(proc, pid)
	if err != nil {
		return "", false
	}
	for _, path := range paths {
		for name := range strings.SplitSeq(path, "/") {
			if uid, isPod := layout.PodOf(name); isPod {
				return uid, true
			}
		}
	}
	return "", false
}

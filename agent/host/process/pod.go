package process

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// PodOf finds the pod that a process belongs to by its cgroups; false of one that is in no pod, and of one that has ended.
func PodOf(proc files.FS, layout cgroup.Layout, pid int) (types.UID, bool) {
	content, err := proc.Read(strconv.Itoa(pid)+"/cgroup", nil)
	if err != nil {
		return "", false
	}
	for name := range strings.FieldsFuncSeq(string(content), func(r rune) bool { return r == '/' || r == '\n' }) {
		if uid, isPod := layout.PodOf(name); isPod {
			return uid, true
		}
	}
	return "", false
}

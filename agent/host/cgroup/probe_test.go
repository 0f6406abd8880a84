package cgroup_test

import (
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

func TestTheLayoutIsFoundByWhatKubeletMade(t *testing.T) {
	for _, want := range []cgroup.Layout{
		{Version: cgroup.V1, Driver: cgroup.Cgroupfs}, {Version: cgroup.V2, Driver: cgroup.Cgroupfs}, {Version: cgroup.V1, Driver: cgroup.Systemd},
		{Version: cgroup.V2, Driver: cgroup.Systemd, Parent: "k.slice"},
	} {
		tree := kernelfs.New(want.Version, cpuset.Of(0))
		if layout, err := cgroup.Probe(tree, "/"+want.Parent); err == nil {
			t.Errorf("found %+v before kubelet made anything", layout)
		}
		tree.Make(want.Kubepods())
		if layout, err := cgroup.Probe(tree, "/"+want.Parent); err != nil || layout != want {
			t.Errorf("found %+v, %v, want %+v", layout, err, want)
		}
		if !want.Supports(tree, cgroup.CPUQuota, want.Kubepods()) || want.Supports(tree, cgroup.CPUBvt, want.Kubepods()) {
			t.Errorf("%+v: the kernel lacks what it has, or has what it lacks", want)
		}
	}
}

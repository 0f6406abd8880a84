package qos

import (
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestApplicationsOutsideOfKubernetesAreRanked(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := newNode(t, version, []Feature{GroupIdentity{}})
		for _, at := range []string{"host-latency-sensitive/nginx", "kubepods/besteffort/host-best-effort/batch", "other/backup"} {
			n.kernel.Make(at)
		}
		n.in.SLO.ResourceQOSStrategy = strategy()
		n.in.SLO.HostApplications = []slov1alpha1.HostApplicationSpec{
			{Name: "nginx", QoS: extension.QoSLS}, {Name: "batch", QoS: extension.QoSBE}, {Name: "gone", QoS: extension.QoSBE},
			{Name: "backup", QoS: extension.QoSBE, CgroupPath: &slov1alpha1.CgroupPath{Base: slov1alpha1.CgroupBaseTypeRoot, ParentDir: "other/", RelativePath: "backup/"}},
			{Name: "escape", QoS: extension.QoSBE, CgroupPath: &slov1alpha1.CgroupPath{Base: slov1alpha1.CgroupBaseTypeKubepods, RelativePath: "../../etc"}},
			{Name: "nowhere", QoS: extension.QoSBE, CgroupPath: &slov1alpha1.CgroupPath{Base: "Elsewhere", RelativePath: "a"}},
		}
		n.begin()
		n.round()
		shown, batch, backup := map[cgroup.Version][2]string{cgroup.V1: {"cpu.shares", "3"}, cgroup.V2: {"cpu.weight", "0"}}[version], "kubepods/besteffort/host-best-effort/batch/", "other/backup/"
		n.wantChanged(map[string]string{batch + "cpu.idle": "1", batch + shown[0]: shown[1], backup + "cpu.idle": "1", backup + shown[0]: shown[1]})
		n.wantSteady()
		n.wantRestored(nil)
	})
}

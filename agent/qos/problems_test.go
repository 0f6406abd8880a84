package qos

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestWhatIsConfiguredInVainIsTold(t *testing.T) {
	strategyOf := func(qos slov1alpha1.ResourceQOSStrategy) slov1alpha1.NodeSLOSpec {
		return slov1alpha1.NodeSLOSpec{ResourceQOSStrategy: &qos}
	}
	network := func(qos slov1alpha1.NetworkQOS) *slov1alpha1.ResourceQOS {
		return &slov1alpha1.ResourceQOS{NetworkQOS: &slov1alpha1.NetworkQOSCfg{Enable: new(true), NetworkQOS: qos}}
	}
	resctrl := &slov1alpha1.ResourceQOS{ResctrlQOS: &slov1alpha1.ResctrlQOSCfg{Enable: new(true)}}
	memory := &slov1alpha1.ResourceQOS{MemoryQOS: &slov1alpha1.MemoryQOSCfg{Enable: new(true), MemoryQOS: slov1alpha1.MemoryQOS{
		WmarkRatio: new(int64(95)), WmarkMinAdj: new(int64(-25)), MinLimitPercent: new(int64(100)), Priority: new(int64(0)), PageCacheEnable: new(int64(1)),
	}}}
	idle := &slov1alpha1.ResourceQOS{CPUQOS: &slov1alpha1.CPUQOSCfg{Enable: new(true), CPUQOS: slov1alpha1.CPUQOS{SchedIdle: new(int64(1))}}}
	terway := &slov1alpha1.ResourceQOSPolicies{NETQOSPolicy: new(slov1alpha1.NETQOSPolicyTerwayQos)}
	tests := map[string]struct {
		slo  slov1alpha1.NodeSLOSpec
		pod  *corev1.Pod
		want map[string]string
	}{
		"nothing is configured": {},
		"what is built in":      {slo: strategyOf(*configuration.DefaultResourceQOSStrategy())},
		"the cache of those that have everything": {
			slo:  strategyOf(slov1alpha1.ResourceQOSStrategy{SystemClass: resctrl, CgroupRoot: resctrl, BEClass: resctrl}),
			want: map[string]string{"RdtResctrl": "systemClass.resctrlQOS|cgroupRoot.resctrlQOS"},
		},
		"the root has neither identity nor protection": {
			slo:  strategyOf(slov1alpha1.ResourceQOSStrategy{CgroupRoot: &slov1alpha1.ResourceQOS{CPUQOS: idle.CPUQOS, MemoryQOS: memory.MemoryQOS}}),
			want: map[string]string{"GroupIdentity": "cgroupRoot.cpuQOS", "CgroupReconcile": "cgroupRoot.memoryQOS"},
		},
		"memory that this kernel does not know": {
			slo:  strategyOf(slov1alpha1.ResourceQOSStrategy{LSClass: memory, BEClass: memory}),
			want: map[string]string{"CgroupReconcile": "wmarkMinAdj: this kernel has no memory.wmark_min_adj|pageCacheEnable: this kernel has no memory.pagecache_limit.enable"},
		},
		"idle pods without core scheduling": {
			slo: strategyOf(slov1alpha1.ResourceQOSStrategy{BEClass: idle}), want: map[string]string{"GroupIdentity": "beClass.cpuQOS.schedIdle has no effect"},
		},
		"idle pods with it": {
			slo: strategyOf(slov1alpha1.ResourceQOSStrategy{BEClass: idle, Policies: &slov1alpha1.ResourceQOSPolicies{CPUPolicy: new(slov1alpha1.CPUQOSPolicyCoreSched)}}),
		},
		"what pods receive": {
			slo: strategyOf(slov1alpha1.ResourceQOSStrategy{
				BEClass: network(slov1alpha1.NetworkQOS{IngressLimit: new(intstr.FromString("5M")), EgressLimit: new(intstr.FromInt32(10))}),
				LSClass: network(slov1alpha1.NetworkQOS{IngressRequest: new(intstr.FromInt32(0)), IngressLimit: new(intstr.FromInt32(100))}),
			}),
			want: map[string]string{"TCNetworkQoS": "beClass.networkQOS.ingress* is not supported"},
		},
		"bandwidth of those that have none of their own": {
			slo:  strategyOf(slov1alpha1.ResourceQOSStrategy{LSRClass: network(slov1alpha1.NetworkQOS{}), CgroupRoot: network(slov1alpha1.NetworkQOS{})}),
			want: map[string]string{"TCNetworkQoS": "lsrClass.networkQOS|cgroupRoot.networkQOS"},
		},
		"Terway has two levels, and wants to know the whole": {
			slo:  strategyOf(slov1alpha1.ResourceQOSStrategy{SystemClass: network(slov1alpha1.NetworkQOS{}), Policies: terway}),
			pod:  running("p", corev1.PodQOSBurstable, nil, map[string]string{extension.AnnotationNetworkQOS: `{"egressLimit":"fast"}`}, nil),
			want: map[string]string{"TerwayQoS": `systemClass.networkQOS|bandwidth of the node is not known|pod ns/p`},
		},
		"a pod's bandwidth without Terway": {
			pod:  running("p", corev1.PodQOSBurstable, nil, map[string]string{extension.AnnotationNetworkQOS: `{"egressLimit":"5M"}`}, nil),
			want: map[string]string{"TCNetworkQoS": "pod ns/p: annotation koordinator.sh/networkQOS is not supported"},
		},
		"bounds of the root, latencies of a class, and no type": {
			slo: strategyOf(slov1alpha1.ResourceQOSStrategy{
				CgroupRoot: blocks(device("/dev/a", slov1alpha1.IOCfg{ReadBPS: new(int64(1)), WriteLatency: new(int64(1))}), &slov1alpha1.BlockCfg{Name: "v", BlockType: slov1alpha1.BlockTypePodVolume}),
				BEClass:    blocks(device("/dev/b", slov1alpha1.IOCfg{ReadBPS: new(int64(1)), WriteLatency: new(int64(1)), ReadLatency: new(int64(1))}), &slov1alpha1.BlockCfg{Name: "c", BlockType: "disk"}, nil),
			}),
			want: map[string]string{"BlkIOReconcile": `beClass.blkioQOS "/dev/b": readLatency, writeLatency is not supported|"c" is not supported: unknown block type "disk"|` +
				`cgroupRoot.blkioQOS "/dev/a": readBPS is not supported|"v" is not supported: a podvolume`},
		},
		"choices that there are not": {
			slo: slov1alpha1.NodeSLOSpec{
				CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: "always"}},
				ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{
					Policies: &slov1alpha1.ResourceQOSPolicies{NETQOSPolicy: new(slov1alpha1.NETQOSPolicy("ebpf")), CPUPolicy: new(slov1alpha1.CPUQOSPolicy("fair"))},
				},
			},
			want: map[string]string{"CPUBurst": `"always"`, "TCNetworkQoS": `"ebpf"`, "GroupIdentity": `"fair"`},
		},
		"parameters that make no sense, or that this kernel does not have": {
			slo: slov1alpha1.NodeSLOSpec{SystemStrategy: &slov1alpha1.SystemStrategy{
				MinFreeKbytesFactor: new(int64(0)), WatermarkScaleFactor: new(int64(10)), SchedIdleSaverWmark: new(int64(5)), SchedFeatures: map[string]bool{"NEXT_BUDDY": true, "ID_X": false},
			}},
			want: map[string]string{"SystemConfig": "vm.min_free_kbytes: a factor of 0|sched_idle_saver_wmark: this kernel has no such parameter|sched_features: this kernel has no scheduler feature for NO_ID_X"},
		},
		"applications that are nowhere": {
			slo:  slov1alpha1.NodeSLOSpec{HostApplications: []slov1alpha1.HostApplicationSpec{{Name: "nginx", CgroupPath: &slov1alpha1.CgroupPath{Base: "Elsewhere", RelativePath: "a"}}}},
			want: map[string]string{"GroupIdentity": `"nginx"`},
		},
		"annotations that cannot be read": {
			slo: strategyOf(*strategy()),
			pod: running("p", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LS"}, map[string]string{
				extension.AnnotationPodCPUBurst: "{", extension.AnnotationPodMemoryQOS: "{", extension.AnnotationPodCPUQOS: "{", extension.AnnotationOOMScoreAdj: "many",
				extension.AnnotationResourceStatus: "{",
			}, nil),
			want: map[string]string{"CPUBurst": "pod ns/p", "CgroupReconcile": "pod ns/p", "GroupIdentity": "pod ns/p", "OOMScoreAdj": "pod ns/p", "CPUSetAllocator": "pod ns/p"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var pods []*corev1.Pod
			if tc.pod != nil {
				pods = append(pods, tc.pod)
			}
			n := newNode(t, cgroup.V2, nil, pods...)
			n.proc.Number("sys/vm/watermark_scale_factor", 10, 1, 3000)
			n.sys.Features("kernel/debug/sched/features", "NO_NEXT_BUDDY")
			n.in.SLO = &tc.slo
			got := Problems(n.in)
			for feature, want := range tc.want {
				parts := strings.Split(want, "|")
				if len(got[feature]) != len(parts) {
					t.Errorf("%s: %q, want %d problems", feature, got[feature], len(parts))
					continue
				}
				for i, part := range parts {
					if !strings.Contains(got[feature][i], part) {
						t.Errorf("%s: %q does not contain %q", feature, got[feature][i], part)
					}
				}
				delete(got, feature)
			}
			if diff := cmp.Diff(map[string][]string{}, got); diff != "" {
				t.Errorf("further problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProblemsAreBounded: a node may have very many pods with the same mistake.
func TestProblemsAreBounded(t *testing.T) {
	p := problems{}
	for i := range 3 * maxProblems {
		p.add("feature", "problem %d", i/2)
	}
	if got := len(p["feature"]); got != maxProblems {
		t.Errorf("%d problems are told, want %d", got, maxProblems)
	}
}

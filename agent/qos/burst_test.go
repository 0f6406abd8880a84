package qos

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/burst"
)

// burstNode has a service limited to two CPUs, as kubelet has set it, and a best-effort pod.
func burstNode(t *testing.T, version cgroup.Version, config slov1alpha1.CPUBurstConfig) *node {
	n := newNode(t, version, []Feature{&CPUBurst{Fill: func() float64 { return 0.001 }}}, servicePod, batchPod)
	n.setQuota("kubepods/burstable/podservice", "200000")
	n.setQuota("kubepods/burstable/podservice/"+id, "200000")
	n.in.SLO.CPUBurstStrategy = &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: config}
	n.usedNode, n.used["service"], n.used[id] = 3000, 1900, 1900
	n.begin()
	return n
}

func (n *node) setQuota(at, value string) {
	n.Helper()
	path, _ := n.in.Layout.Path(cgroup.CPUQuota, at)
	if err := n.kernel.Write(path, value); err != nil {
		n.Fatal(err)
	}
}

// wantQuota of the service's pod and container.
func (n *node) wantQuota(wantPod, wantContainer string) {
	n.Helper()
	for at, want := range map[string]string{"kubepods/burstable/podservice": wantPod, "kubepods/burstable/podservice/" + id: wantContainer} {
		if got, _ := n.in.read(cgroup.CPUQuota, at); got != want {
			n.Errorf("quota of %s is %s, want %s", at, got, want)
		}
	}
}

func TestUnusedTimeIsSavedUp(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := burstNode(t, version, slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstOnly})
		n.throttled[id] = true
		n.round()
		at, file := "kubepods/burstable/podservice/", map[cgroup.Version]string{cgroup.V1: "cpu.cfs_burst_us", cgroup.V2: "cpu.max.burst"}[version]
		n.wantChanged(map[string]string{at + file: "200000", at + id + "/" + file: "200000"}) // the kernel takes no more than the quota
		n.wantSteady()
		n.wantRestored(nil)
	})
}

func TestTheQuotaOfAThrottledContainerGrowsAndShrinks(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := burstNode(t, version, slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CFSQuotaBurstOnly})
		n.wantSteady() // no pod was throttled
		n.throttled[id] = true
		for _, want := range []string{"240000", "288000", "345600", "414720", "497664", "597196", "600000", "600000"} {
			n.round()
			n.wantQuota(want, want)
		}
		n.throttled[id] = false
		n.wantSteady()
		n.usedNode, n.in.Now = 9000, n.in.Now.Add(time.Minute) // the shared CPUs are overloaded
		for _, want := range []string{"480000", "384000", "307200", "245760", "200000", "200000"} {
			n.round()
			n.wantQuota(want, want)
		}
		n.wantChanged(nil)
		n.wantRestored(nil)
	})
}

func TestNoContainerEverHasMoreThanItsPod(t *testing.T) {
	n := burstNode(t, cgroup.V1, slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto})
	n.throttled[id] = true
	n.round() // version 1 refuses a container that has more than its pod, so that any other order fails
	var order []string
	for _, entry := range n.log.After(0, 100) {
		if strings.HasSuffix(entry.Object, "quota_us") {
			order = append(order, entry.Object)
		}
	}
	n.usedNode, n.in.Now = 9999, n.in.Now.Add(time.Minute)
	n.round()
	for _, entry := range n.log.After(0, 100)[len(order)+2:] {
		order = append(order, entry.Object)
	}
	pod, container := "cpu/kubepods/burstable/podservice/cpu.cfs_quota_us", "cpu/kubepods/burstable/podservice/"+id+"/cpu.cfs_quota_us"
	if want := []string{pod, container, container, pod}; strings.Join(order, " ") != strings.Join(want, " ") {
		t.Errorf("written were %q, want %q", order, want)
	}
	n.wantRestored(nil)
}

func TestTokensEndABurst(t *testing.T) {
	n := burstNode(t, cgroup.V2, slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CFSQuotaBurstOnly, CFSQuotaBurstPeriodSeconds: new(int64(60))})
	n.throttled[id], n.used[id] = true, 2200 // ten percent above the limit
	n.round()
	n.wantQuota("240000", "240000")
	n.round() // a thousandth of the bucket is twelve percent of a second
	n.wantQuota("288000", "288000")
	n.round()
	n.wantQuota("230400", "230400")
	n.round()
	n.wantQuota("200000", "200000")
	decided := n.features[0].(*CPUBurst).Decided()["service"]
	if got := decided.Containers[0].Operation; got != burst.Shrink {
		t.Errorf("operation %s, want %s", got, burst.Shrink)
	}
}

func TestWhoMayNotBurst(t *testing.T) {
	throttled := func(n *node) { n.throttled[id] = true }
	tests := []struct {
		name    string
		pod     *corev1.Pod
		arrange func(n *node)
	}{
		{name: "the policy is none", arrange: func(n *node) { n.in.SLO.CPUBurstStrategy.Policy = slov1alpha1.CPUBurstNone }},
		{name: "the node has no strategy", arrange: func(n *node) { n.in.SLO.CPUBurstStrategy = nil }},
		{name: "nobody measured the node", arrange: func(n *node) { n.usedNode = 0 }},
		{name: "the shared CPUs are overloaded", arrange: func(n *node) { n.usedNode = 9000 }},
		{
			name: "the pod refuses",
			pod: running("service", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LS"},
				map[string]string{extension.AnnotationPodCPUBurst: `{"policy":"none"}`}, list("cpu", "2")),
		},
		{name: "the pod has CPUs of its own", pod: running("service", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LSR"}, nil, list("cpu", "2"))},
		{name: "the pod is best effort", pod: running("service", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "BE"}, nil, list("cpu", "2"))},
		{name: "the container has no limit", pod: running("service", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LS"}, nil, nil)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := test.pod
			if pod == nil {
				pod = servicePod
			}
			n := newNode(t, cgroup.V2, []Feature{NewCPUBurst()}, pod)
			n.setQuota("kubepods/burstable/podservice", "200000")
			n.setQuota("kubepods/burstable/podservice/"+id, "200000")
			n.in.SLO.CPUBurstStrategy = &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CFSQuotaBurstOnly}}
			n.usedNode = 1000
			throttled(n)
			if test.arrange != nil {
				test.arrange(n)
			}
			n.begin()
			n.round()
			n.round()
			n.wantChanged(nil)
		})
	}
}

func TestWhatBestEffortPodsUseLeavesRoom(t *testing.T) {
	n := burstNode(t, cgroup.V2, slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CFSQuotaBurstOnly})
	n.throttled[id], n.usedNode, n.used["batch"] = true, 9000, 7000
	n.round()
	n.wantQuota("240000", "240000")
}

func TestAPodsOwnAnnotationLetsItBurst(t *testing.T) {
	pod := servicePod.DeepCopy()
	pod.Annotations = map[string]string{extension.AnnotationPodCPUBurst: `{"policy":"cfsQuotaBurstOnly","cfsQuotaBurstPercent":110}`}
	n := newNode(t, cgroup.V1, []Feature{NewCPUBurst()}, pod)
	n.setQuota("kubepods/burstable/podservice", "200000")
	n.setQuota("kubepods/burstable/podservice/"+id, "200000")
	n.begin()
	n.usedNode, n.throttled[id] = 1000, true
	n.round()
	n.wantQuota("220000", "220000")
}

func TestAnAnolisKernelSavesMoreThanTheQuota(t *testing.T) {
	n := newNode(t, cgroup.V1, []Feature{NewCPUBurst()}, servicePod)
	n.kernel.Anolis()
	n.in.SLO.CPUBurstStrategy = &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstOnly}}
	values := n.features[0].DesiredValues(n.in)
	if len(values) != 2 || values[0].Value != "2000000" {
		t.Errorf("desired values %+v, want ten times two CPUs", values)
	}
}

func TestAQuotaThatSomebodyLiftedIsLeftAlone(t *testing.T) {
	n := burstNode(t, cgroup.V2, slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CFSQuotaBurstOnly})
	n.setQuota("kubepods/burstable/podservice", "max")
	n.setQuota("kubepods/burstable/podservice/"+id, "max")
	n.begin()
	n.throttled[id] = true
	n.round()
	n.wantChanged(nil)
}

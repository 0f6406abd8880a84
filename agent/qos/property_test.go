package qos

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// TestFeaturesSettleAndGiveEverythingBack has random strategies follow one another on a node with all features on. While nothing
// changes nothing is written, and in the end all is as it was.
func TestFeaturesSettleAndGiveEverythingBack(t *testing.T) {
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		t.Run(fmt.Sprintf("version %d", version), rapid.MakeCheck(func(r *rapid.T) {
			features := []Feature{
				CPUSetAllocator{}, GroupIdentity{}, BatchResource{}, &CPUBurst{Fill: func() float64 { return 0.3 }}, CPUNormalization{}, MemoryQoS{},
				&BlkIOReconcile{}, SystemConfig{}, &OOMScoreAdj{},
			}
			n := propertyNode(t, version, features, rapid.Bool().Draw(r, "Anolis' kernel"))
			for round := range rapid.IntRange(1, 4).Draw(r, "strategies") {
				n.draw(r, round)
				for range 12 { // the quota of a burst takes a while to grow or shrink to where it ends
					n.round()
				}
				n.wantSteady()
			}
			n.wantRestored(nil)
			if t.Failed() {
				r.FailNow()
			}
		}))
	}
}

// propertyNode has one pod of each kind, as kubelet has set it up.
func propertyNode(t *testing.T, version cgroup.Version, features []Feature, anolis bool) *node {
	annotated := running("annotated", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LS"}, map[string]string{
		extension.AnnotationOOMScoreAdj: "-5", extension.AnnotationPodBlkioQOS: `{"blocks":[{"name":"pvc-1","type":"podvolume","ioCfg":{"readIOPS":50}}]}`,
	}, list("cpu", "1", "memory", "1Gi"))
	n := newNode(t, version, features, servicePod, boundPod, batchPod, annotated)
	n.kernel.Attach("8:16")
	n.proc.Show("partitions", "254 0 100 vda\n8 16 100 sdb")
	n.proc.Show("1/mountinfo", "40 27 8:16 / /var/lib/kubelet/pods/annotated/volumes/csi/pvc-1/mount rw - ext4 /dev/sdb rw")
	n.proc.Number("sys/vm/min_free_kbytes", 67584, 0, 1<<31-1)
	n.proc.Number("sys/vm/watermark_scale_factor", 10, 1, 3000)
	n.sys.Features("kernel/debug/sched/features", "PLACE_LAG NO_NEXT_BUDDY")
	n.kernel.Show("kubepods/burstable/podannotated/"+id, "cgroup.procs", "11")
	n.proc.Start(11, 100, "kubepods/burstable/podannotated/"+id, 900)
	for _, at := range []struct{ group, quota string }{{"kubepods/burstable/podservice", "200000"}, {"kubepods/burstable/podannotated", "100000"}, {"kubepods/podbound", "200000"}} {
		n.setQuota(at.group, at.quota)
		n.setQuota(at.group+"/"+id, at.quota)
	}
	if anolis {
		n.kernel.Anolis()
	}
	n.begin()
	return n
}

// draw changes what is wanted, and what is measured.
func (n *node) draw(r *rapid.T, round int) {
	maybe := func(name string, least, most int64) *int64 {
		if !rapid.Bool().Draw(r, fmt.Sprintf("has %s in round %d", name, round)) {
			return nil
		}
		return new(rapid.Int64Range(least, most).Draw(r, fmt.Sprintf("%s in round %d", name, round)))
	}
	io := func(class string) slov1alpha1.IOCfg {
		return slov1alpha1.IOCfg{
			ReadBPS: maybe(class+" readBPS", 0, 1<<40), WriteIOPS: maybe(class+" writeIOPS", 0, 1<<34), IOWeightPercent: maybe(class+" weight", 1, 100),
			ReadLatency: maybe(class+" latency", 1, 1<<20),
		}
	}
	qos := strategy()
	qos.LSClass.BlkIOQOS = blocks(device("/dev/vda", io("LS"))).BlkIOQOS
	qos.BEClass.BlkIOQOS = blocks(device("/dev/sdb", io("BE"))).BlkIOQOS
	policies := []slov1alpha1.CPUBurstPolicy{slov1alpha1.CPUBurstNone, slov1alpha1.CPUBurstOnly, slov1alpha1.CFSQuotaBurstOnly, slov1alpha1.CPUBurstAuto}
	n.in.SLO = &slov1alpha1.NodeSLOSpec{
		ResourceQOSStrategy: qos,
		SystemStrategy:      &slov1alpha1.SystemStrategy{MinFreeKbytesFactor: maybe("factor", 1, 1000), WatermarkScaleFactor: maybe("watermark", 1, 1000)},
		CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{
			Policy:               rapid.SampledFrom(policies).Draw(r, fmt.Sprintf("policy in round %d", round)),
			CFSQuotaBurstPercent: maybe("quota burst", 100, 400), CPUBurstPercent: maybe("burst", 0, 1000),
		}},
	}
	n.in.Node = nil
	if n.in.QuotaNormalized = true; rapid.Bool().Draw(r, fmt.Sprintf("faster CPUs in round %d", round)) {
		n.in.Node = worth("1.3")
	}
	n.usedNode = rapid.Int64Range(1, 10000).Draw(r, fmt.Sprintf("used in round %d", round))
	n.throttled[id] = rapid.Bool().Draw(r, fmt.Sprintf("throttled in round %d", round))
	n.in.Now = n.in.Now.Add(time.Minute)
	all := len(n.in.Pods)
	if rapid.Bool().Draw(r, fmt.Sprintf("a pod ends in round %d", round)) && all > 1 {
		n.in.Pods = append([]*state.Pod{}, n.in.Pods[:all-1]...)
	}
}

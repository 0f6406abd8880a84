package qos

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/blkio"
)

// root says when devices count as saturated, and how fast they are. Where the kernel does not govern devices by cost, services
// are protected by the same latency instead.
func (b *BlkIOReconcile) root(in NodeSnapshot, strategy *slov1alpha1.ResourceQOSStrategy, disks blkio.Disks) []executor.DesiredValue {
	config := switchedOn(strategy.CgroupRoot)
	if config == nil {
		return nil
	}
	costs := b.take(blkio.OfRoot(config, disks)).Costs
	if !in.Layout.Supports(in.Tree, cgroup.IOCost, "") {
		return latencies(in, costs)
	}
	var values []executor.DesiredValue
	for _, cost := range costs {
		value := fmt.Sprintf("enable=1 ctrl=user rpct=%d rlat=%d wpct=%d wlat=%d", cost.ReadPercentile, cost.ReadLatency, cost.WritePercentile, cost.WriteLatency)
		values = append(values, deviceWish(cgroup.IOCost, cost.Device, "", value, "by the strategy of the root"))
		if cost.UserModel {
			values = append(values, deviceWish(cgroup.IOModel, cost.Device, "", model(cost), "the model of the strategy"))
		}
	}
	return values
}

func model(cost blkio.Cost) string {
	return fmt.Sprintf("ctrl=user model=linear rbps=%d rseqiops=%d rrandiops=%d wbps=%d wseqiops=%d wrandiops=%d",
		cost.ModelReadBPS, cost.ModelReadSeqIOPS, cost.ModelReadRandIOPS, cost.ModelWriteBPS, cost.ModelWriteSeqIOPS, cost.ModelWriteRandIOPS)
}

// latencies are the targets of services: of the cgroup above burstable pods, and of each guaranteed one beside it, which the
// kernel would hold back otherwise. Best-effort pods have none and are held back.
func latencies(in NodeSnapshot, costs []blkio.Cost) []executor.DesiredValue {
	if !in.supports(cgroup.IOLatency) {
		return nil
	}
	protected := []string{in.Layout.QoS(corev1.PodQOSBurstable)}
	for _, pod := range in.Pods {
		if pod.Running() && pod.Class() == corev1.PodQOSGuaranteed {
			protected = append(protected, in.Layout.Pod(pod.Class(), pod.UID))
		}
	}
	var values []executor.DesiredValue
	for _, cost := range costs {
		target := strconv.FormatInt(min(cost.ReadLatency, cost.WriteLatency), 10)
		for _, at := range protected {
			values = append(values, deviceWish(cgroup.IOLatency, cost.Device, at, target, "the kernel does not govern devices by cost"))
		}
	}
	return values
}

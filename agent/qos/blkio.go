package qos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/blockdevice"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/blkio"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// deviceListInterval is how often block devices and mounts are looked for.
const deviceListInterval = 30 * time.Second

// BlkIOReconcile bounds and weighs what pods read from and write to block devices.
type BlkIOReconcile struct {
	devices blockdevice.Devices
	volumes map[types.UID]map[string]string
	found   time.Time
	// missing says why devices or mounts could not be found when they were looked for last.
	missing []string
	// claims are volumes of pods by the names that pods have for them.
	claims map[types.UID]*claims
	// governed is what the kernel says of devices that are governed by cost, or were once.
	governed string
	// problems of the latest round.
	problems []string
}

// Name implements Feature.
func (*BlkIOReconcile) Name() string { return nodefeature.BlkIOReconcile.Name }

// Problems returns what of the strategy could not be followed in the latest round, and why.
func (b *BlkIOReconcile) Problems() []string { return b.problems }

// DesiredValues implements Feature. Classes that are switched off, and devices that no class names, keep what they had.
func (b *BlkIOReconcile) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	b.problems = nil
	before := b.claims
	b.claims = map[types.UID]*claims{}
	strategy := in.SLO.ResourceQOSStrategy
	if strategy == nil {
		strategy = &slov1alpha1.ResourceQOSStrategy{}
	}
	if !b.wanted(strategy, in.Pods) {
		return nil
	}
	b.find(in)
	b.setProblems(b.missing...)
	b.probeCostModel(in)
	disks := blkio.Disks{Devices: b.devices.Names, VolumeGroups: b.devices.Groups}
	values := b.root(in, strategy, disks)
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		if config := blockConfig(strategy, extension.QoSClassOfKubeQOS(class)); config != nil {
			values = append(values, b.bounds(in, in.Layout.QoS(class), b.take(blkio.OfClass(config, disks)), fmt.Sprintf("all pods of class %s", class))...)
		}
	}
	for _, pod := range in.Pods {
		if pod.Running() {
			values = append(values, b.pod(in, strategy, pod, disks, before[pod.UID])...)
		}
	}
	return values
}

// setProblems keeps what could not be followed, each thing once.
func (b *BlkIOReconcile) setProblems(problems ...string) {
	for _, problem := range problems {
		if len(b.problems) < maxProblems && !slices.Contains(b.problems, problem) {
			b.problems = append(b.problems, problem)
		}
	}
}

// wanted is false while nothing is asked for, so that nothing is looked for.
func (b *BlkIOReconcile) wanted(strategy *slov1alpha1.ResourceQOSStrategy, pods []*state.Pod) bool {
	for _, class := range []*slov1alpha1.ResourceQOS{strategy.LSRClass, strategy.LSClass, strategy.BEClass, strategy.SystemClass, strategy.CgroupRoot} {
		if switchedOn(class) != nil {
			return true
		}
	}
	for _, pod := range pods {
		if pod.Object.Annotations[extension.AnnotationPodBlkioQOS] != "" {
			return true
		}
	}
	return false
}

// blockConfig is that of a class; nil while it is switched off.
func blockConfig(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass) *slov1alpha1.BlkIOQOSCfg {
	return switchedOn(strategy.OfClass(class))
}

func switchedOn(class *slov1alpha1.ResourceQOS) *slov1alpha1.BlkIOQOSCfg {
	if !blkio.SwitchedOn(class) {
		return nil
	}
	return class.BlkIOQOS
}

// find looks for devices from time to time.
func (b *BlkIOReconcile) find(in NodeSnapshot) {
	if !b.found.IsZero() && in.Now.Sub(b.found) < deviceListInterval && !in.Now.Before(b.found) {
		return
	}
	b.found, b.missing = in.Now, nil
	devices, err := blockdevice.Find(in.Proc, in.Sys)
	if err != nil {
		b.missing = append(b.missing, err.Error())
		return // those that were found before are most likely still there
	}
	b.devices = devices
	if volumes, err := devices.Volumes(in.Proc); err == nil {
		b.volumes = volumes
	} else {
		b.missing = append(b.missing, err.Error())
	}
}

// take keeps what could not be followed.
func (b *BlkIOReconcile) take(result blkio.Result) blkio.Result {
	b.setProblems(result.Problems...)
	return result
}

// pod returns the pod's own bounds, and those of its class where no cgroup holds exactly the pods of its class. In version 1 a cgroup's
// bounds do not apply to those below it, so that each container gets the bounds of the pod and of its class.
func (b *BlkIOReconcile) pod(in NodeSnapshot, strategy *slov1alpha1.ResourceQOSStrategy, pod *state.Pod, disks blkio.Disks, known *claims) []executor.DesiredValue {
	class := blockConfig(strategy, pod.QoS())
	annotation, err := slov1alpha1.PodBlkIOQOS(pod.Object.Annotations)
	if err != nil {
		b.setProblems(fmt.Sprintf("pod %s/%s: %v", pod.Object.Namespace, pod.Object.Name, err))
		annotation = nil
	}
	var own blkio.Result
	if class != nil || annotation != nil {
		if blkio.NamesVolumes(class, annotation) {
			disks.PodVolumes = b.volumesOf(in, pod, known)
		}
		own = b.take(blkio.OfPod(class, annotation, disks))
	}
	if class != nil && (in.Layout.Version == cgroup.V1 || pod.Class() == corev1.PodQOSGuaranteed || extension.QoSClassOfKubeQOS(pod.Class()) != pod.QoS()) {
		own = blkio.Tighter(own, b.take(blkio.OfClass(class, disks)))
	}
	if len(own.Throttles) == 0 {
		return nil
	}
	why := fmt.Sprintf("pod %s/%s", pod.Object.Namespace, pod.Object.Name)
	values := b.bounds(in, in.Layout.Pod(pod.Class(), pod.UID), own, why)
	if in.Layout.Version == cgroup.V1 {
		for _, container := range in.Containers.Of(pod, in.Now) {
			values = append(values, b.bounds(in, container.Cgroup, own, why)...)
		}
	}
	return values
}

// bounds of one cgroup. What is not bounded is left alone, and so are weights that are as from the beginning.
func (b *BlkIOReconcile) bounds(in NodeSnapshot, at string, result blkio.Result, why string) []executor.DesiredValue {
	var values []executor.DesiredValue
	for _, throttle := range result.Throttles {
		for _, bound := range []struct {
			setting cgroup.Setting
			value   int64
		}{
			{cgroup.IOReadBPS, throttle.ReadBPS}, {cgroup.IOWriteBPS, throttle.WriteBPS}, {cgroup.IOReadIOPS, throttle.ReadIOPS}, {cgroup.IOWriteIOPS, throttle.WriteIOPS},
		} {
			if bound.value > 0 && in.supports(bound.setting) {
				values = append(values, deviceWish(bound.setting, throttle.Device, at, strconv.FormatInt(bound.value, 10), why))
			}
		}
		if throttle.Weight == blkio.DefaultWeight {
			continue
		}
		weight := strconv.FormatInt(throttle.Weight, 10)
		byCost := in.supports(cgroup.IOWeight) && strings.Contains("\n"+b.governed, "\n"+throttle.Device+" ")
		byBFQ := in.supports(cgroup.IOBFQWeight) && b.devices.WeighsByBFQ(in.Sys, throttle.Device)
		if byCost {
			values = append(values, deviceWish(cgroup.IOWeight, throttle.Device, at, weight, why))
		}
		if byBFQ {
			values = append(values, deviceWish(cgroup.IOBFQWeight, throttle.Device, at, weight, why))
		}
		if !byCost && !byBFQ {
			b.setProblems(fmt.Sprintf("device %s: weights have no effect, because it is neither governed by cost nor has the scheduler BFQ", throttle.Device))
		}
	}
	return values
}

// probeCostModel reads which devices the kernel governs by cost: it takes weights of no others.
func (b *BlkIOReconcile) probeCostModel(in NodeSnapshot) {
	b.governed = ""
	path, has := in.Layout.Path(cgroup.IOCost, "")
	if !has {
		return
	}
	if content, err := in.Tree.Read(path, nil); err == nil {
		b.governed = string(content)
	}
}

func deviceWish(setting cgroup.Setting, device, at, value, why string) executor.DesiredValue {
	return executor.DesiredValue{Setting: setting.On(device), Cgroup: at, Value: value, Why: why}
}

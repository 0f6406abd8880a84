package qos

import (
	"fmt"
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
	"koordinator.sh/koord/decision/blkio"
)

// devicesEvery is how often block devices and mounts are looked for.
const devicesEvery = 30 * time.Second

// BlkIOReconcile bounds and weighs what pods read from and write to block devices.
type BlkIOReconcile struct {
	devices blockdevice.Devices
	volumes map[types.UID]map[string]string
	found   time.Time
	// governed is what the kernel says of devices that are governed by cost, or were once.
	governed string
	// problems of the latest round.
	problems []string
}

// Name implements Feature.
func (*BlkIOReconcile) Name() string { return "BlkIOReconcile" }

// Problems returns what of the strategy could not be followed in the latest round, and why.
func (b *BlkIOReconcile) Problems() []string { return b.problems }

// Wishes implements Feature. Classes that are switched off, and devices that nobody names, have what they had.
func (b *BlkIOReconcile) Wishes(in Situation) []executor.Wish {
	b.problems = nil
	strategy := in.SLO.ResourceQOSStrategy
	if strategy == nil {
		strategy = &slov1alpha1.ResourceQOSStrategy{}
	}
	if !b.wanted(strategy, in.Pods) {
		return nil
	}
	b.find(in)
	b.lookAtCost(in)
	disks := blkio.Disks{Devices: b.devices.Names, VolumeGroups: b.devices.Groups}
	wishes := b.root(in, strategy, disks)
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		if config := blockConfig(strategy, extension.QoSClassOfKubeQOS(class)); config != nil {
			wishes = append(wishes, b.bounds(in, in.Layout.QoS(class), b.take(blkio.OfClass(config, disks)), fmt.Sprintf("all pods of class %s", class))...)
		}
	}
	for _, pod := range in.Pods {
		if pod.Running() {
			wishes = append(wishes, b.pod(in, strategy, pod, disks)...)
		}
	}
	return wishes
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
	if class == nil || class.BlkIOQOS == nil || class.BlkIOQOS.Enable == nil || !*class.BlkIOQOS.Enable {
		return nil
	}
	return class.BlkIOQOS
}

// find looks for devices from time to time.
func (b *BlkIOReconcile) find(in Situation) {
	if !b.found.IsZero() && in.Now.Sub(b.found) < devicesEvery && !in.Now.Before(b.found) {
		return
	}
	b.found = in.Now
	devices, err := blockdevice.Find(in.Proc, in.Sys)
	if err != nil {
		b.problems = append(b.problems, err.Error())
		return // those that were found before are most likely still there
	}
	b.devices = devices
	if volumes, err := devices.Volumes(in.Proc); err == nil {
		b.volumes = volumes
	} else {
		b.problems = append(b.problems, err.Error())
	}
}

// take keeps what could not be followed.
func (b *BlkIOReconcile) take(result blkio.Result) blkio.Result {
	b.problems = append(b.problems, result.Problems...)
	return result
}

// pod has bounds of its own, and those of its class where no cgroup has all pods of the class. In version 1 a cgroup is bounded
// without those below it, so that each container gets the bounds of the pod and of its class.
func (b *BlkIOReconcile) pod(in Situation, strategy *slov1alpha1.ResourceQOSStrategy, pod *state.Pod, disks blkio.Disks) []executor.Wish {
	class := blockConfig(strategy, pod.QoS())
	annotation, err := slov1alpha1.PodBlkIOQOS(pod.Object.Annotations)
	if err != nil {
		b.problems = append(b.problems, err.Error())
		annotation = nil
	}
	disks.PodVolumes = b.volumes[pod.UID]
	var own blkio.Result
	if class != nil || annotation != nil {
		own = b.take(blkio.OfPod(class, annotation, disks))
	}
	apart := class != nil && (pod.Class() == corev1.PodQOSGuaranteed || in.Layout.Version == cgroup.V1)
	if apart {
		own = blkio.Tighter(own, blkio.OfClass(class, disks))
	}
	if len(own.Throttles) == 0 {
		return nil
	}
	why := fmt.Sprintf("pod %s/%s", pod.Object.Namespace, pod.Object.Name)
	wishes := b.bounds(in, in.Layout.Pod(pod.Class(), pod.UID), own, why)
	if in.Layout.Version == cgroup.V1 {
		for _, container := range in.Containers.Of(pod, in.Now) {
			wishes = append(wishes, b.bounds(in, container.Cgroup, own, why)...)
		}
	}
	return wishes
}

// bounds of one cgroup. What is not bounded is left alone, and so are weights that are as from the beginning.
func (b *BlkIOReconcile) bounds(in Situation, at string, result blkio.Result, why string) []executor.Wish {
	var wishes []executor.Wish
	for _, throttle := range result.Throttles {
		for _, bound := range []struct {
			setting cgroup.Setting
			value   int64
		}{
			{cgroup.IOReadBPS, throttle.ReadBPS}, {cgroup.IOWriteBPS, throttle.WriteBPS}, {cgroup.IOReadIOPS, throttle.ReadIOPS}, {cgroup.IOWriteIOPS, throttle.WriteIOPS},
		} {
			if bound.value > 0 && in.supports(bound.setting) {
				wishes = append(wishes, deviceWish(bound.setting, throttle.Device, at, strconv.FormatInt(bound.value, 10), why))
			}
		}
		if throttle.Weight == blkio.DefaultWeight {
			continue
		}
		weight := strconv.FormatInt(throttle.Weight, 10)
		if in.supports(cgroup.IOWeight) && strings.Contains("\n"+b.governed, "\n"+throttle.Device+" ") {
			wishes = append(wishes, deviceWish(cgroup.IOWeight, throttle.Device, at, weight, why))
		}
		if in.supports(cgroup.IOBFQWeight) && b.devices.WeighsByBFQ(in.Sys, throttle.Device) {
			wishes = append(wishes, deviceWish(cgroup.IOBFQWeight, throttle.Device, at, weight, why))
		}
	}
	return wishes
}

// lookAtCost reads which devices the kernel governs by cost: it takes weights of no others.
func (b *BlkIOReconcile) lookAtCost(in Situation) {
	b.governed = ""
	path, has := in.Layout.Path(cgroup.IOCost, "")
	if !has {
		return
	}
	if content, err := in.Tree.Read(path, nil); err == nil {
		b.governed = string(content)
	}
}

func deviceWish(setting cgroup.Setting, device, at, value, why string) executor.Wish {
	return executor.Wish{Setting: setting.On(device), Cgroup: at, Value: value, Why: why}
}

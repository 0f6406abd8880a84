package blkio

import (
	"cmp"
	"fmt"
	"slices"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Defaults of what is not set.
const (
	DefaultWeight = 100
	// DefaultLatencyMicros above which a disk counts as saturated, and DefaultPercentile of the latencies that is compared.
	DefaultLatencyMicros = 3000
	DefaultPercentile    = 95
)

// Disks are the devices of one node as major:minor.
type Disks struct {
	// Devices by name, such as /dev/vdb, and VolumeGroups by name.
	Devices      map[string]string
	VolumeGroups map[string]string
	// PodVolumes of one pod by the names of its volumes; only for pods.
	PodVolumes map[string]string
}

// Throttle bounds one device; 0 is no bound. Rates are per second, in operations and bytes.
type Throttle struct {
	Device    string `json:"device"`
	ReadIOPS  int64  `json:"readIOPS"`
	WriteIOPS int64  `json:"writeIOPS"`
	ReadBPS   int64  `json:"readBPS"`
	WriteBPS  int64  `json:"writeBPS"`
	// Weight among siblings, 1 to 100.
	Weight int64 `json:"weight"`
}

// Cost is when a device counts as saturated, and how fast it is.
type Cost struct {
	Device string `json:"device"`
	// Enable the control by cost. Latencies in microseconds, with the percentile compared with each.
	Enable            bool  `json:"enable"`
	ReadLatency       int64 `json:"readLatency"`
	ReadPercentile    int64 `json:"readPercentile"`
	WriteLatency      int64 `json:"writeLatency"`
	WritePercentile   int64 `json:"writePercentile"`
	UserModel         bool  `json:"userModel"`
	ModelReadBPS      int64 `json:"modelReadBPS,omitempty"`
	ModelReadSeqIOPS  int64 `json:"modelReadSeqIOPS,omitempty"`
	ModelReadRandIOPS int64 `json:"modelReadRandIOPS,omitempty"`
	ModelWriteBPS     int64 `json:"modelWriteBPS,omitempty"`
	ModelWriteSeqIOPS int64 `json:"modelWriteSeqIOPS,omitempty"`
	// ModelWriteRandIOPS completes the model of six figures.
	ModelWriteRandIOPS int64 `json:"modelWriteRandIOPS,omitempty"`
}

// Result is what is written, ordered by device. Each device comes once; of several blocks that name one the first counts.
type Result struct {
	Throttles []Throttle `json:"throttles,omitempty"`
	Costs     []Cost     `json:"costs,omitempty"`
	// Problems say which blocks were left out, and why.
	Problems []string `json:"problems,omitempty"`
}

// OfRoot is the costs of devices and volume groups, by the settings of the root cgroup.
func OfRoot(config *slov1alpha1.BlkIOQOSCfg, disks Disks) Result {
	var out Result
	on := enabled(config)
	out.each(config, disks, []slov1alpha1.BlockType{slov1alpha1.BlockTypeDevice, slov1alpha1.BlockTypeVolumeGroup}, func(device string, io slov1alpha1.IOCfg) {
		cost, problem := costOf(device, io, on)
		if problem != "" {
			out.Problems = append(out.Problems, problem)
		}
		out.Costs = append(out.Costs, cost)
	})
	slices.SortFunc(out.Costs, func(a, b Cost) int { return cmp.Compare(a.Device, b.Device) })
	return out
}

// OfClass is the bounds of devices and volume groups for all pods of a class together.
func OfClass(config *slov1alpha1.BlkIOQOSCfg, disks Disks) Result {
	return throttles(config, disks, slov1alpha1.BlockTypeDevice, slov1alpha1.BlockTypeVolumeGroup)
}

// OfPod is the bounds of one pod: by its annotation where it has one, which may name all that there is, else those of its class for
// volumes of the pod. Either may be nil. A volume that the class names is one that some of its pods have, and no problem of others.
func OfPod(class *slov1alpha1.BlkIOQOSCfg, annotation *slov1alpha1.BlkIOQOS, disks Disks) Result {
	if annotation != nil {
		own := &slov1alpha1.BlkIOQOSCfg{Enable: new(true), BlkIOQOS: *annotation}
		return throttles(own, disks, slov1alpha1.BlockTypePodVolume, slov1alpha1.BlockTypeVolumeGroup, slov1alpha1.BlockTypeDevice)
	}
	if class == nil {
		return Result{}
	}
	has := *class
	has.Blocks = slices.DeleteFunc(slices.Clone(class.Blocks), func(block *slov1alpha1.BlockCfg) bool {
		return block == nil || block.BlockType == slov1alpha1.BlockTypePodVolume && disks.PodVolumes[block.Name] == ""
	})
	return throttles(&has, disks, slov1alpha1.BlockTypePodVolume)
}

// NamesVolumes reports whether the bounds of a pod are for its volumes, whose devices must then be looked up.
func NamesVolumes(class *slov1alpha1.BlkIOQOSCfg, annotation *slov1alpha1.BlkIOQOS) bool {
	var blocks []*slov1alpha1.BlockCfg
	switch {
	case annotation != nil:
		blocks = annotation.Blocks
	case class != nil:
		blocks = class.Blocks
	}
	return slices.ContainsFunc(blocks, func(block *slov1alpha1.BlockCfg) bool {
		return block != nil && block.BlockType == slov1alpha1.BlockTypePodVolume
	})
}

// SwitchedOn says whether a class, or the root, has block devices divided.
func SwitchedOn(class *slov1alpha1.ResourceQOS) bool { return class != nil && enabled(class.BlkIOQOS) }

func enabled(config *slov1alpha1.BlkIOQOSCfg) bool {
	return config != nil && config.Enable != nil && *config.Enable
}

func throttles(config *slov1alpha1.BlkIOQOSCfg, disks Disks, types ...slov1alpha1.BlockType) Result {
	var out Result
	on := enabled(config)
	out.each(config, disks, types, func(device string, io slov1alpha1.IOCfg) {
		if !on {
			io = slov1alpha1.IOCfg{}
		}
		throttle, problem := throttleOf(device, io)
		if problem != "" {
			out.Problems = append(out.Problems, problem)
		}
		out.Throttles = append(out.Throttles, throttle)
	})
	slices.SortFunc(out.Throttles, func(a, b Throttle) int { return cmp.Compare(a.Device, b.Device) })
	return out
}

// each calls a function for every device that a block of the given types names. Blocks of other types are meant for others.
func (r *Result) each(config *slov1alpha1.BlkIOQOSCfg, disks Disks, types []slov1alpha1.BlockType, do func(string, slov1alpha1.IOCfg)) {
	if config == nil {
		return
	}
	seen := map[string]bool{}
	for _, block := range config.Blocks {
		if block == nil || !slices.Contains(types, block.BlockType) {
			continue
		}
		names := map[slov1alpha1.BlockType]map[string]string{
			slov1alpha1.BlockTypeDevice: disks.Devices, slov1alpha1.BlockTypeVolumeGroup: disks.VolumeGroups, slov1alpha1.BlockTypePodVolume: disks.PodVolumes,
		}[block.BlockType]
		device, known := names[block.Name]
		switch {
		case !known:
			r.Problems = append(r.Problems, fmt.Sprintf("%s %.80q is not known", block.BlockType, block.Name))
		case seen[device]:
			r.Problems = append(r.Problems, fmt.Sprintf("%s %.80q is device %s, which another block names", block.BlockType, block.Name, device))
		default:
			seen[device] = true
			do(device, block.IOCfg)
		}
	}
}

// throttleOf reads the bounds of a device. Values that cannot be count as not set.
func throttleOf(device string, io slov1alpha1.IOCfg) (Throttle, string) {
	r := reader{device: device}
	return Throttle{
		Device: device, Weight: r.within("ioWeightPercent", io.IOWeightPercent, DefaultWeight, 1, 100),
		ReadIOPS: r.atLeast("readIOPS", io.ReadIOPS, 0, 0), WriteIOPS: r.atLeast("writeIOPS", io.WriteIOPS, 0, 0),
		ReadBPS: r.atLeast("readBPS", io.ReadBPS, 0, 0), WriteBPS: r.atLeast("writeBPS", io.WriteBPS, 0, 0),
	}, r.problem
}

// costOf reads the cost of a device. A model without all six figures is ignored, because the kernel requires them.
func costOf(device string, io slov1alpha1.IOCfg, on bool) (Cost, string) {
	if !on {
		io = slov1alpha1.IOCfg{}
	}
	r := reader{device: device}
	out := Cost{
		Device: device, Enable: on,
		ReadLatency: r.atLeast("readLatency", io.ReadLatency, DefaultLatencyMicros, 1), WriteLatency: r.atLeast("writeLatency", io.WriteLatency, DefaultLatencyMicros, 1),
		ReadPercentile:  r.within("readLatencyPercent", io.ReadLatencyPercent, DefaultPercentile, 0, 100),
		WritePercentile: r.within("writeLatencyPercent", io.WriteLatencyPercent, DefaultPercentile, 0, 100),
	}
	if io.EnableUserModel == nil || !*io.EnableUserModel {
		return out, r.problem
	}
	for _, figure := range []*int64{io.ModelReadBPS, io.ModelReadSeqIOPS, io.ModelReadRandIOPS, io.ModelWriteBPS, io.ModelWriteSeqIOPS, io.ModelWriteRandIOPS} {
		if figure == nil || *figure < 1 {
			return out, fmt.Sprintf("device %s: the user model does not have six figures of at least 1", device)
		}
	}
	out.UserModel = true
	out.ModelReadBPS, out.ModelReadSeqIOPS, out.ModelReadRandIOPS = *io.ModelReadBPS, *io.ModelReadSeqIOPS, *io.ModelReadRandIOPS
	out.ModelWriteBPS, out.ModelWriteSeqIOPS, out.ModelWriteRandIOPS = *io.ModelWriteBPS, *io.ModelWriteSeqIOPS, *io.ModelWriteRandIOPS
	return out, r.problem
}

// reader reads settings of one device and keeps the first problem.
type reader struct{ device, problem string }

func (r *reader) atLeast(name string, value *int64, fallback, least int64) int64 {
	return r.within(name, value, fallback, least, 1<<62)
}

func (r *reader) within(name string, value *int64, fallback, least, most int64) int64 {
	if value == nil {
		return fallback
	}
	if *value < least || *value > most {
		if r.problem == "" {
			r.problem = fmt.Sprintf("device %s: %s %d is out of range", r.device, name, *value)
		}
		return fallback
	}
	return *value
}

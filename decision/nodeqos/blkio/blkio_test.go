package blkio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var disks = Disks{
	Devices: map[string]string{"/dev/vdb": "253:16", "/dev/vda": "253:0"}, VolumeGroups: map[string]string{"pool": "252:3"},
	PodVolumes: map[string]string{"data": "252:9"},
}

func config(enable bool, blocks ...*slov1alpha1.BlockCfg) *slov1alpha1.BlkIOQOSCfg {
	return &slov1alpha1.BlkIOQOSCfg{Enable: &enable, BlkIOQOS: slov1alpha1.BlkIOQOS{Blocks: blocks}}
}

func block(kind slov1alpha1.BlockType, name string, io slov1alpha1.IOCfg) *slov1alpha1.BlockCfg {
	return &slov1alpha1.BlockCfg{Name: name, BlockType: kind, IOCfg: io}
}

func value(v int64) *int64 { return &v }

const (
	device = slov1alpha1.BlockTypeDevice
	group  = slov1alpha1.BlockTypeVolumeGroup
	volume = slov1alpha1.BlockTypePodVolume
)

func TestThrottles(t *testing.T) {
	bounded := slov1alpha1.IOCfg{ReadIOPS: value(1000), WriteBPS: value(5 << 20), IOWeightPercent: value(40)}
	tests := map[string]struct {
		got          Result
		want         []Throttle
		wantProblems int
	}{
		"a class, ordered by device": {
			OfClass(config(true, block(device, "/dev/vdb", bounded), block(device, "/dev/vda", slov1alpha1.IOCfg{}), block(group, "pool", slov1alpha1.IOCfg{ReadBPS: value(7)})), disks),
			[]Throttle{{Device: "252:3", ReadBPS: 7, Weight: 100}, {Device: "253:0", Weight: 100}, {Device: "253:16", ReadIOPS: 1000, WriteBPS: 5 << 20, Weight: 40}}, 0,
		},
		"a class that is off is reset":               {OfClass(config(false, block(device, "/dev/vdb", bounded)), disks), []Throttle{{Device: "253:16", Weight: 100}}, 0},
		"volumes of pods are not the class's affair": {OfClass(config(true, block(volume, "data", bounded)), disks), nil, 0},
		"a pod by its class":                         {OfPod(config(true, block(volume, "data", bounded), block(device, "/dev/vdb", bounded)), nil, disks), []Throttle{{Device: "252:9", ReadIOPS: 1000, WriteBPS: 5 << 20, Weight: 40}}, 0},
		"a pod by its annotation": {
			OfPod(config(true, block(volume, "data", bounded)), &slov1alpha1.BlkIOQOS{Blocks: []*slov1alpha1.BlockCfg{block(volume, "data", slov1alpha1.IOCfg{ReadIOPS: value(5)}), nil}}, disks),
			[]Throttle{{Device: "252:9", ReadIOPS: 5, Weight: 100}}, 0,
		},
		"a volume of the class that the pod does not have": {OfPod(config(true, block(volume, "other", bounded)), nil, disks), nil, 0},
		"a volume that the annotation names in vain":       {OfPod(nil, &slov1alpha1.BlkIOQOS{Blocks: []*slov1alpha1.BlockCfg{block(volume, "other", bounded)}}, disks), nil, 1},
		"a device by the annotation": {
			OfPod(nil, &slov1alpha1.BlkIOQOS{Blocks: []*slov1alpha1.BlockCfg{block(device, "/dev/vdb", slov1alpha1.IOCfg{ReadIOPS: value(5)})}}, disks),
			[]Throttle{{Device: "253:16", ReadIOPS: 5, Weight: 100}}, 0,
		},
		"a pod of no class":          {OfPod(nil, nil, disks), nil, 0},
		"a device that is not known": {OfClass(config(true, block(device, "/dev/nope", bounded)), disks), nil, 1},
		"a device named twice": {
			OfClass(config(true, block(device, "/dev/vdb", slov1alpha1.IOCfg{ReadIOPS: value(1)}), block(device, "/dev/vdb", bounded)), disks), []Throttle{{Device: "253:16", ReadIOPS: 1, Weight: 100}}, 1,
		},
		"values out of range count as not set": {
			OfClass(config(true, block(device, "/dev/vdb", slov1alpha1.IOCfg{ReadIOPS: value(-1), IOWeightPercent: value(101)})), disks), []Throttle{{Device: "253:16", Weight: 100}}, 1,
		},
		"nothing is set": {OfClass(nil, disks), nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got.Throttles); diff != "" || len(tc.got.Problems) != tc.wantProblems {
				t.Errorf("problems %q, throttles (-want +got):\n%s", tc.got.Problems, diff)
			}
		})
	}
}

func TestVolumesAreLookedForWhenTheyAreNamed(t *testing.T) {
	named, other := block(volume, "data", slov1alpha1.IOCfg{}), block(device, "/dev/vdb", slov1alpha1.IOCfg{})
	annotation := func(blocks ...*slov1alpha1.BlockCfg) *slov1alpha1.BlkIOQOS {
		return &slov1alpha1.BlkIOQOS{Blocks: blocks}
	}
	for name, tc := range map[string]struct{ got, want bool }{
		"by the annotation":                   {NamesVolumes(nil, annotation(nil, other, named)), true},
		"by the class":                        {NamesVolumes(config(true, named), nil), true},
		"by the class, which does not count":  {NamesVolumes(config(true, named), annotation(other)), false},
		"devices alone":                       {NamesVolumes(config(true, other), nil), false},
		"neither class nor annotation is set": {NamesVolumes(nil, nil), false},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %t", name, tc.got)
		}
	}
}

func TestCosts(t *testing.T) {
	model := slov1alpha1.IOCfg{
		EnableUserModel: new(true), ModelReadBPS: value(1), ModelReadSeqIOPS: value(2), ModelReadRandIOPS: value(3),
		ModelWriteBPS: value(4), ModelWriteSeqIOPS: value(5), ModelWriteRandIOPS: value(6), ReadLatency: value(100), WriteLatencyPercent: value(90),
	}
	short := model
	short.ModelWriteBPS = nil
	plain := Cost{Device: "253:16", Enable: true, ReadLatency: 3000, ReadPercentile: 95, WriteLatency: 3000, WritePercentile: 95}
	with := func(change func(*Cost)) []Cost {
		out := plain
		change(&out)
		return []Cost{out}
	}
	tests := map[string]struct {
		config       *slov1alpha1.BlkIOQOSCfg
		want         []Cost
		wantProblems int
	}{
		"defaults": {config(true, block(device, "/dev/vdb", slov1alpha1.IOCfg{})), []Cost{plain}, 0},
		"a model of its own": {config(true, block(device, "/dev/vdb", model)), with(func(c *Cost) {
			c.ReadLatency, c.WritePercentile, c.UserModel = 100, 90, true
			c.ModelReadBPS, c.ModelReadSeqIOPS, c.ModelReadRandIOPS, c.ModelWriteBPS, c.ModelWriteSeqIOPS, c.ModelWriteRandIOPS = 1, 2, 3, 4, 5, 6
		}), 0},
		"a model that lacks a figure is none": {config(true, block(device, "/dev/vdb", short)), with(func(c *Cost) { c.ReadLatency, c.WritePercentile = 100, 90 }), 1},
		"switched off it is reset":            {config(false, block(device, "/dev/vdb", model)), with(func(c *Cost) { c.Enable = false }), 0},
		"a latency of nothing":                {config(true, block(device, "/dev/vdb", slov1alpha1.IOCfg{ReadLatency: value(0)})), []Cost{plain}, 1},
		"nothing is set":                      {nil, nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := OfRoot(tc.config, disks)
			if diff := cmp.Diff(tc.want, got.Costs); diff != "" || len(got.Problems) != tc.wantProblems {
				t.Errorf("problems %q, costs (-want +got):\n%s", got.Problems, diff)
			}
		})
	}
}

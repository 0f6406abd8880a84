package qos

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// blkioNode has the disk vda with a partition, sdb in the volume group "vg-data", and a volume of the service on it.
func blkioNode(t *testing.T, version cgroup.Version, pods ...*corev1.Pod) *node {
	n := newNode(t, version, []Feature{&BlkIOReconcile{}}, pods...)
	for _, device := range []string{"8:16", "253:0"} {
		n.kernel.Attach(device)
	}
	n.proc.Show("partitions", "major minor  #blocks  name\n\n 254        0  100 vda\n 254        1   50 vda1\n   8       16  100 sdb\n 253        0   80 dm-0")
	n.sys.Show("class/block/vda1/partition", "1")
	n.sys.Show("block/vda/vda1/partition", "1")
	n.sys.Show("block/dm-0/dm/name", "vg--data-lv1")
	n.sys.Show("block/dm-0/dm/uuid", "LVM-abc")
	n.sys.Show("block/dm-0/slaves/sdb", "")
	n.proc.Show("1/mountinfo", strings.Join([]string{
		"27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw",
		`40 27 253:0 / /var/lib/kubelet/pods/service/volumes/kubernetes.io~csi/pvc-1/mount rw - ext4 /dev/mapper/vg--data-lv1 rw`,
		"41 27 0:50 / /var/lib/kubelet/pods/service/volumes/kubernetes.io~projected/token rw - tmpfs tmpfs rw",
	}, "\n"))
	n.begin()
	return n
}

func blocks(blocks ...*slov1alpha1.BlockCfg) *slov1alpha1.ResourceQOS {
	return &slov1alpha1.ResourceQOS{BlkIOQOS: &slov1alpha1.BlkIOQOSCfg{Enable: new(true), BlkIOQOS: slov1alpha1.BlkIOQOS{Blocks: blocks}}}
}

func device(name string, io slov1alpha1.IOCfg) *slov1alpha1.BlockCfg {
	return &slov1alpha1.BlockCfg{Name: name, BlockType: slov1alpha1.BlockTypeDevice, IOCfg: io}
}

func TestBestEffortPodsAreBoundedTogether(t *testing.T) {
	io := slov1alpha1.IOCfg{ReadBPS: new(int64(1 << 20)), WriteIOPS: new(int64(100)), IOWeightPercent: new(int64(40))}
	t.Run("version 2", func(t *testing.T) {
		n := blkioNode(t, cgroup.V2, servicePod, batchPod)
		n.wantSteady()
		n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: blocks(device("/dev/vda1", io), device("/dev/none", io))}
		n.round() // the device is not governed by cost, and has no weights
		n.wantChanged(map[string]string{"kubepods/besteffort/io.max": "254:0 rbps=1048576 wbps=max riops=max wiops=100"})
		n.wantSteady()
		if problems := n.features[0].(*BlkIOReconcile).Problems(); len(problems) != 2 || !strings.Contains(problems[0], "/dev/none") || !strings.Contains(problems[1], "weights") {
			t.Errorf("problems %q, want the device that is not there, and that the other one has no weights", problems)
		}
		n.in.SLO.ResourceQOSStrategy.BEClass.BlkIOQOS.Blocks[0].IOCfg = slov1alpha1.IOCfg{WriteBPS: new(int64(7777))}
		n.round()
		n.wantChanged(map[string]string{"kubepods/besteffort/io.max": "254:0 rbps=max wbps=7777 riops=max wiops=max"})
		n.in.SLO.ResourceQOSStrategy.BEClass.BlkIOQOS.Enable = new(false)
		n.round()
		n.wantChanged(nil)
		n.wantRestored(nil)
	})
	t.Run("version 1 bounds each cgroup without those below", func(t *testing.T) {
		n := blkioNode(t, cgroup.V1, servicePod, batchPod)
		n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: blocks(device("/dev/vda", io))}
		n.round()
		want := map[string]string{}
		for _, at := range []string{"kubepods/besteffort", "kubepods/besteffort/podbatch", "kubepods/besteffort/podbatch/" + id} {
			want[at+"/blkio.throttle.read_bps_device"], want[at+"/blkio.throttle.write_iops_device"] = "254:0 1048576", "254:0 100"
		}
		n.wantChanged(want)
		n.wantSteady()
		n.wantRestored(nil)
	})
}

func TestWeightsOfDevicesThatAreGovernedByCost(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := blkioNode(t, version, batchPod)
		weight, cost, groups := "io.weight", "io.cost.qos", []string{"kubepods/besteffort"}
		if version == cgroup.V1 {
			n.kernel.Anolis()
			weight, cost, groups = "blkio.cost.weight", "blkio.cost.qos", append(groups, "kubepods/besteffort/podbatch", "kubepods/besteffort/podbatch/"+id)
		}
		n.begin()
		n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{
			CgroupRoot: blocks(device("/dev/vda", slov1alpha1.IOCfg{})), BEClass: blocks(device("/dev/vda", slov1alpha1.IOCfg{IOWeightPercent: new(int64(40))})),
		}
		n.round()
		n.round() // the kernel takes weights once the device is governed
		governed := "254:0 enable=1 ctrl=user rpct=95.00 rlat=3000 wpct=95.00 wlat=3000 min=1.00 max=10000.00"
		want := map[string]string{cost: governed}
		for _, at := range groups {
			want[at+"/"+weight] = "default 100\n254:0 40"
		}
		n.wantChanged(want)
		n.wantSteady()
		n.wantRestored(map[string]string{cost: "254:0 enable=0 ctrl=auto" + governed[len("254:0 enable=1 ctrl=user"):]})
	})
}

func TestVolumesOfAPod(t *testing.T) {
	pod := servicePod.DeepCopy()
	pod.Annotations = map[string]string{extension.AnnotationPodBlkioQOS: `{"blocks":[
		{"name":"pvc-1","type":"podvolume","ioCfg":{"readIOPS":50}}, {"name":"vg-data","type":"volumegroup","ioCfg":{"writeBPS":4096}}]}`}
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := blkioNode(t, version, pod, batchPod)
		n.round()
		at := "kubepods/burstable/podservice/"
		want := map[string]string{at + "io.max": "253:0 rbps=max wbps=max riops=50 wiops=max\n8:16 rbps=max wbps=4096 riops=max wiops=max"}
		if version == cgroup.V1 {
			want = map[string]string{
				at + "blkio.throttle.read_iops_device": "253:0 50", at + id + "/blkio.throttle.read_iops_device": "253:0 50",
				at + "blkio.throttle.write_bps_device": "8:16 4096", at + id + "/blkio.throttle.write_bps_device": "8:16 4096",
			}
		}
		n.wantChanged(want)
		n.wantSteady()
		n.wantRestored(nil)
	})
}

// TestVolumesByTheNamesThatPodsHaveForThem: the device is what a process of the container has mounted there.
func TestVolumesByTheNamesThatPodsHaveForThem(t *testing.T) {
	withVolume := func(annotation string) *corev1.Pod {
		pod := servicePod.DeepCopy()
		pod.Annotations = map[string]string{extension.AnnotationPodBlkioQOS: annotation}
		pod.Spec.Volumes = []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "orders"}}},
			{Name: "orders", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "archive"}}},
		}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/data/"}, {Name: "orders", MountPath: "/orders"}}
		return pod
	}
	limit := func(name string) string {
		return `{"blocks":[{"name":"` + name + `","type":"podvolume","ioCfg":{"readIOPS":50}}]}`
	}
	const disk, volume = "8:16 rbps=max wbps=max riops=50 wiops=max", "253:0 rbps=max wbps=max riops=50 wiops=max"
	tests := map[string]struct {
		name, want  string
		arrange     func(*node)
		wantProblem string
	}{
		"the volume in the pod":                   {name: "data", want: volume},
		"the claim":                               {name: "archive", want: disk},
		"a volume goes before a claim":            {name: "orders", want: disk},
		"the PersistentVolume":                    {name: "pvc-1", want: volume},
		"nothing has this name":                   {name: "other", wantProblem: `podvolume "other" is not known`},
		"no process tells where it is mounted":    {name: "data", arrange: func(n *node) { n.proc.End(11) }, wantProblem: `podvolume "data" is not known`},
		"another process has the number meantime": {name: "data", arrange: func(n *node) { n.proc.Show("11/cgroup", "0::/system.slice") }, wantProblem: `podvolume "data" is not known`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := blkioNode(t, cgroup.V2, withVolume(limit(tc.name)))
			at := "kubepods/burstable/podservice"
			n.kernel.Show(at+"/"+id, "cgroup.procs", "11")
			n.proc.Start(11, 100, at+"/"+id, 0)
			n.proc.Show("11/mountinfo", "50 1 0:60 / / rw - overlay overlay rw\n51 50 253:0 /sub /var/lib/data rw - ext4 /dev/dm-0 rw\n52 50 8:16 / /orders rw - ext4 /dev/sdb rw")
			if tc.arrange != nil {
				tc.arrange(n)
			}
			n.begin()
			n.round()
			want := map[string]string{}
			if tc.want != "" {
				want[at+"/io.max"] = tc.want
			}
			n.wantChanged(want)
			if problems := strings.Join(n.features[0].(*BlkIOReconcile).Problems(), "; "); problems != tc.wantProblem {
				t.Errorf("problems %q, want %q", problems, tc.wantProblem)
			}
			n.wantSteady()
			n.wantRestored(nil)
		})
	}
}

// TestAContainerThatStartsLateHasItsVolumesFound within ten seconds.
func TestAContainerThatStartsLateHasItsVolumesFound(t *testing.T) {
	pod := servicePod.DeepCopy()
	pod.Annotations = map[string]string{extension.AnnotationPodBlkioQOS: `{"blocks":[{"name":"data","type":"podvolume","ioCfg":{"readIOPS":50}}]}`}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "orders"}}}}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	n := blkioNode(t, cgroup.V2, pod)
	n.round()
	at := "kubepods/burstable/podservice"
	n.kernel.Show(at+"/"+id, "cgroup.procs", "11")
	n.proc.Start(11, 100, at+"/"+id, 0)
	n.proc.Show("11/mountinfo", "51 50 8:16 / /data rw - ext4 /dev/sdb rw")
	n.before = n.dump()
	reads, _ := n.proc.Counts()
	n.wantSteady()
	if again, _ := n.proc.Counts(); again != reads {
		t.Errorf("%d files of /proc were read in the seconds after", again-reads)
	}
	n.in.Now = n.in.Now.Add(relist)
	n.round()
	n.wantChanged(map[string]string{at + "/io.max": "8:16 rbps=max wbps=max riops=50 wiops=max"})
	n.wantRestored(nil)
}

// TestPodsAmongThoseOfAnotherClassHaveTheBoundsOfTheirs: what is above them is for others.
func TestPodsAmongThoseOfAnotherClassHaveTheBoundsOfTheirs(t *testing.T) {
	bound := running("bound", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "LSR"}, nil, list("cpu", "2"))
	system := running("system", corev1.PodQOSBurstable, map[string]string{extension.LabelPodQoS: "SYSTEM"}, nil, list("cpu", "1"))
	n := blkioNode(t, cgroup.V2, bound, system, servicePod)
	iops := func(value int64) *slov1alpha1.ResourceQOS {
		return blocks(device("/dev/sdb", slov1alpha1.IOCfg{ReadIOPS: &value}))
	}
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSRClass: iops(9), SystemClass: iops(8), LSClass: iops(7)}
	n.round()
	file := func(value string) string { return "8:16 rbps=max wbps=max riops=" + value + " wiops=max" }
	n.wantChanged(map[string]string{
		"kubepods/burstable/podbound/io.max": file("9"), "kubepods/burstable/podsystem/io.max": file("8"), "kubepods/burstable/io.max": file("7"),
	})
	n.wantRestored(nil)
}

// TestProblemsOfDevicesAreToldWhileTheyLast, and each once.
func TestProblemsOfDevicesAreToldWhileTheyLast(t *testing.T) {
	n := newNode(t, cgroup.V2, []Feature{&BlkIOReconcile{}}, servicePod, batchPod)
	io := slov1alpha1.IOCfg{ReadIOPS: new(int64(9))}
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSClass: blocks(device("/dev/none", io)), BEClass: blocks(device("/dev/none", io))}
	for range 3 {
		n.round() // the devices of the node are unknown
		problems := n.features[0].(*BlkIOReconcile).Problems()
		if len(problems) != 2 || !strings.Contains(problems[0], "list block devices") || !strings.Contains(problems[1], "/dev/none") {
			t.Errorf("problems %q, want that devices cannot be listed, and that one is not known", problems)
		}
	}
}

func TestGuaranteedPodsAreBoundedOneByOne(t *testing.T) {
	n := blkioNode(t, cgroup.V2, boundPod, servicePod)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSRClass: blocks(device("/dev/sdb", slov1alpha1.IOCfg{ReadIOPS: new(int64(9))}))}
	n.round()
	n.wantChanged(map[string]string{"kubepods/podbound/io.max": "8:16 rbps=max wbps=max riops=9 wiops=max"})
	n.wantRestored(nil)
}

func TestCostOfDevices(t *testing.T) {
	io := slov1alpha1.IOCfg{
		ReadLatency: new(int64(5000)), EnableUserModel: new(true), ModelReadBPS: new(int64(1)), ModelReadSeqIOPS: new(int64(2)), ModelReadRandIOPS: new(int64(3)),
		ModelWriteBPS: new(int64(4)), ModelWriteSeqIOPS: new(int64(5)), ModelWriteRandIOPS: new(int64(6)),
	}
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := blkioNode(t, version)
		cost, model := "io.cost.qos", "io.cost.model"
		if version == cgroup.V1 {
			n.kernel.Anolis()
			cost, model = "blkio.cost.qos", "blkio.cost.model"
		}
		n.begin()
		n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{CgroupRoot: blocks(device("/dev/vda", io))}
		n.round()
		n.wantChanged(map[string]string{
			cost:  "254:0 enable=1 ctrl=user rpct=95.00 rlat=5000 wpct=95.00 wlat=3000 min=1.00 max=10000.00",
			model: "254:0 ctrl=user model=linear rbps=1 rseqiops=2 rrandiops=3 wbps=4 wseqiops=5 wrandiops=6",
		})
		n.wantSteady()
		// The kernel shows a device for ever that was governed once, as one that is not.
		n.wantRestored(map[string]string{
			cost:  "254:0 enable=0 ctrl=auto rpct=95.00 rlat=5000 wpct=95.00 wlat=3000 min=1.00 max=10000.00",
			model: "254:0 ctrl=auto model=linear rbps=1 rseqiops=2 rrandiops=3 wbps=4 wseqiops=5 wrandiops=6",
		})
	})
}

func TestAUsersCostReturnsAsItWas(t *testing.T) {
	n := blkioNode(t, cgroup.V2)
	before := "254:0 enable=1 ctrl=user rpct=90.00 rlat=700 wpct=80.00 wlat=800 min=50.00 max=150.00"
	if err := n.kernel.Write("io.cost.qos", before); err != nil {
		t.Fatal(err)
	}
	n.begin()
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{CgroupRoot: blocks(device("/dev/vda", slov1alpha1.IOCfg{WriteLatency: new(int64(9))}))}
	n.round()
	n.wantChanged(map[string]string{"io.cost.qos": "254:0 enable=1 ctrl=user rpct=95.00 rlat=3000 wpct=95.00 wlat=9 min=50.00 max=150.00"})
	n.wantRestored(nil)
}

func TestServicesAreProtectedWhereNothingGovernsDevicesByCost(t *testing.T) {
	n := blkioNode(t, cgroup.V2, boundPod, servicePod, batchPod)
	n.kernel.Lack("io.cost.qos", "io.cost.model", "io.weight")
	n.begin()
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{
		CgroupRoot: blocks(device("/dev/vda", slov1alpha1.IOCfg{ReadLatency: new(int64(700))})),
		BEClass:    blocks(device("/dev/vda", slov1alpha1.IOCfg{IOWeightPercent: new(int64(10))})),
	}
	n.round()
	n.wantChanged(map[string]string{"kubepods/burstable/io.latency": "254:0 target=700", "kubepods/podbound/io.latency": "254:0 target=700"})
	n.wantSteady()
	n.wantRestored(nil)
}

func TestADeviceThatIsUnpluggedIsNoFailure(t *testing.T) {
	n := blkioNode(t, cgroup.V2, batchPod)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: blocks(device("/dev/sdb", slov1alpha1.IOCfg{ReadIOPS: new(int64(9))}))}
	n.round()
	n.kernel.Detach("8:16")
	n.before["kubepods/besteffort/io.max"] = ""
	n.round()
	n.in.Now = n.in.Now.Add(2 * time.Minute)
	n.round()
	n.wantChanged(nil)
	n.wantRestored(nil)
}

package device

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

func vendorMachine(vendor, model string) *Ledger {
	return eight().label(extension.LabelGPUVendor, vendor).label(extension.LabelGPUModel, model).ledger()
}

func TestAllocationsAreSaidInTheTermsOfTheVendor(t *testing.T) {
	half := []string{"koordinator.sh/gpu-core", "50", "koordinator.sh/gpu-memory", "8Gi"}
	tests := map[string]struct {
		vendor, model, isolation string
		requests                 []string
		template                 string
		want                     Adaption
		wantErr                  string
	}{
		"NVIDIA's plugin gets the time of the binding": {vendor: "nvidia", requests: half, want: Adaption{}},
		"HAMi finds its pods by a label": {
			vendor: "nvidia", isolation: "HAMi-core", requests: half, want: Adaption{Labels: map[string]string{"hami.io/vgpu-node": "node"}},
		},
		"Huawei's plugin gets the minors of whole NPUs": {
			vendor: "huawei", requests: []string{"koordinator.sh/gpu", "200"},
			want: Adaption{Annotations: map[string]string{"huawei.com/npu-core": "0,1"}, Stamps: []string{"predicate-time"}},
		},
		"Huawei's plugin gets the template of a part": {
			vendor: "huawei", requests: half, template: "vir04",
			want: Adaption{Annotations: map[string]string{"huawei.com/npu-core": "0-vir04"}, Stamps: []string{"predicate-time"}},
		},
		"one model of Huawei's has names of its own": {
			vendor: "huawei", model: "Ascend-310P3-300I-DUO", requests: []string{"koordinator.sh/gpu", "200"},
			want: Adaption{Annotations: map[string]string{"huawei.com/Ascend310P": "Ascend310P-0,Ascend310P-1"}, Stamps: []string{"predicate-time"}},
		},
		"Cambricon's plugin gets minor, percent and units of 256 MiB": {
			vendor: "cambricon", requests: half,
			want: Adaption{LockKey: "cambricon.com/dsmlu.lock", Annotations: map[string]string{"CAMBRICON_DSMLU_ASSIGHED": "false", "CAMBRICON_DSMLU_PROFILE": "0_50_32"}},
		},
		"Cambricon's plugin gives a pod one device": {
			vendor: "cambricon", requests: []string{"koordinator.sh/gpu", "200"}, wantErr: unfit + "multiple gpu share is not supported on device side",
		},
		"Cambricon's plugin needs compute": {
			vendor: "cambricon", requests: []string{"koordinator.sh/gpu-memory", "8Gi"}, wantErr: unfit + "gpu core resource is required",
		},
		"Cambricon's plugin needs a unit of memory": {
			vendor: "cambricon", requests: []string{"koordinator.sh/gpu-core", "50", "koordinator.sh/gpu-memory", "255Mi"}, wantErr: unfit + "gpu memory must not be less than 268435456 bytes",
		},
		"MetaX's plugin gets ids, percent and MiB": {
			vendor: "metax", requests: []string{"koordinator.sh/gpu", "200"},
			want: Adaption{LockKey: "hami.io/mutex.lock", Annotations: map[string]string{
				"metax-tech.com/gpu-devices-allocated": `[[{"uuid":"gpu-0","compute":100,"vRam":65536},{"uuid":"gpu-1","compute":100,"vRam":65536}]]`,
			}},
		},
		"network cards alone get the time of the binding": {vendor: "cambricon", requests: []string{"koordinator.sh/rdma", "100"}, want: Adaption{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ledger := vendorMachine(test.vendor, test.model)
			allocation, refusal := Allocate(Input{Ledger: ledger, Request: mustParse(t, podOf(test.requests...)), Policy: defaults}, nil)
			if refusal != nil {
				t.Fatal(refusal.Reason)
			}
			for i := range allocation.Items {
				allocation.Items[i].Template = test.template
			}
			got, err := Adapt(&allocation, ledger, test.isolation)
			if err != nil || test.wantErr != "" {
				if err == nil || err.Error() != test.wantErr {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				return
			}
			want := test.want
			want.Stamps = append([]string{extension.AnnotationBindTimestamp}, want.Stamps...)
			for _, list := range []*map[string]string{&want.Annotations, &want.Labels} {
				if *list == nil {
					*list = map[string]string{}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("adaption (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryAdaptedAnnotationIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, key := range AdaptedAnnotations() {
		listed[key] = true
	}
	for _, of := range [][2]string{{"huawei", ""}, {"huawei", modelAscend310P}, {"cambricon", ""}, {"metax", ""}} {
		vendor := of[0]
		ledger := vendorMachine(vendor, of[1])
		allocation, _ := Allocate(Input{Ledger: ledger, Request: mustParse(t, podOf("koordinator.sh/gpu", "100")), Policy: defaults}, nil)
		adaption, err := Adapt(&allocation, ledger, "")
		if err != nil {
			t.Fatal(err)
		}
		for key := range adaption.Annotations {
			if !listed[key] {
				t.Errorf("annotation %q of %q is not listed", key, vendor)
			}
		}
		for _, key := range adaption.Stamps {
			if !listed[key] {
				t.Errorf("stamp %q of %q is not listed", key, vendor)
			}
		}
	}
}

func TestNodesAreRefusedForTheirDevicePlugin(t *testing.T) {
	tests := map[string]struct {
		vendor     string
		requests   []string
		plugin     *DevicePlugin
		wantCode   finding.Code
		wantReason string
	}{
		"allocations are not adapted":        {vendor: "cambricon", requests: []string{"koordinator.sh/gpu", "200"}},
		"a free node":                        {vendor: "cambricon", requests: []string{"koordinator.sh/gpu", "100"}, plugin: &DevicePlugin{}},
		"a locked node":                      {vendor: "metax", requests: []string{"koordinator.sh/gpu", "200"}, plugin: &DevicePlugin{Lock: "x"}, wantCode: finding.DevicePluginBusy, wantReason: "node(s) locked by the device plugin for another pod"},
		"a lock concerns GPUs only":          {vendor: "metax", requests: []string{"koordinator.sh/rdma", "100"}, plugin: &DevicePlugin{Lock: "x"}},
		"too many devices for the plugin":    {vendor: "cambricon", requests: []string{"koordinator.sh/gpu", "200"}, plugin: &DevicePlugin{}, wantCode: finding.DevicePluginUnfit, wantReason: "node(s) device plugin cannot serve the request: multiple gpu share is not supported on device side"},
		"memory without compute":             {vendor: "metax", requests: []string{"koordinator.sh/gpu-memory", "1Gi"}, plugin: &DevicePlugin{}, wantCode: finding.DevicePluginUnfit, wantReason: "node(s) device plugin cannot serve the request: gpu core resource is required"},
		"a vendor whose plugin is not known": {vendor: "nvidia", requests: []string{"koordinator.sh/gpu-memory", "1Gi"}, plugin: &DevicePlugin{Lock: "x"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			refusal := Fits(Input{Ledger: vendorMachine(test.vendor, ""), Request: mustParse(t, podOf(test.requests...)), Policy: defaults, DevicePlugin: test.plugin}, nil)
			if refusal == nil {
				refusal = &Refusal{}
			}
			if refusal.Code != test.wantCode || refusal.Reason != test.wantReason || refusal.Resolvable {
				t.Errorf("refused with %s %q, want %s %q", refusal.Code, refusal.Reason, test.wantCode, test.wantReason)
			}
			if code := CodeOf(refusal.Reason); code != test.wantCode {
				t.Errorf("the reason has code %s, want %s", code, test.wantCode)
			}
		})
	}
}

func TestLockMessagesNameThePod(t *testing.T) {
	for lock, want := range map[string]string{
		"2026-01-02T03:04:05Z,ns,first": "the device plugin of metax is to hand devices to pod ns/first first; the node is locked for it until 2026-01-02T03:09:05Z at the latest",
		"gibberish":                     `annotation "hami.io/mutex.lock" of the node holds "gibberish", which no scheduler of pods writes; remove it`,
	} {
		trace := &Trace{}
		refusal := Fits(Input{
			Ledger: vendorMachine("metax", ""), Request: mustParse(t, podOf("koordinator.sh/gpu", "100")), Policy: defaults,
			DevicePlugin: &DevicePlugin{Lock: lock},
		}, trace)
		if refusal == nil {
			t.Fatal("the node passes")
		}
		if got := trace.Message(refusal); got != want {
			t.Errorf("message %q, want %q", got, want)
		}
	}
}

func TestLocksEnd(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	lock, err := ParseLock(Lock{Since: since, Namespace: "ns", Pod: "p"}.String())
	if diff := cmp.Diff(Lock{Since: since, Namespace: "ns", Pod: "p"}, lock); err != nil || diff != "" {
		t.Fatalf("error %v, round trip (-want +got):\n%s", err, diff)
	}
	for age, want := range map[time.Duration]bool{0: false, LockTimeout: false, LockTimeout + time.Second: true, -LockTimeout: false, -LockTimeout - time.Second: true} {
		if got := lock.Over(since.Add(age)); got != want {
			t.Errorf("after %s: over is %v, want %v", age, got, want)
		}
	}
	for _, text := range []string{"", "a,b", "now,ns,p", "2026-01-02T03:04:05Z,ns,p,q"} {
		if lock, err := ParseLock(text); err == nil {
			t.Errorf("%q is read as %v", text, lock)
		}
	}
	held := map[string]string{"hami.io/mutex.lock": "a"}
	if LockChanged(nil, held) || LockChanged(held, held) || !LockChanged(held, nil) || !LockChanged(held, map[string]string{"hami.io/mutex.lock": "b"}) {
		t.Error("a lock that ends is what changes, not one that begins or stays")
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add("2026-01-02T03:04:05Z,ns,p")
	f.Add(",,")
	f.Fuzz(func(t *testing.T, text string) {
		lock, err := ParseLock(text)
		if err != nil {
			return
		}
		if again, err := ParseLock(lock.String()); err == nil && (again.Namespace != lock.Namespace || again.Pod != lock.Pod) {
			t.Errorf("%q becomes %v and then %v", text, lock, again)
		}
	})
}

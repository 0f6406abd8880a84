package device

import (
	"encoding/json"
	"testing"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/numa"
)

// FuzzAllocate feeds what users, nodes and other schedulers write into every decoder, and decides with the result.
func FuzzAllocate(f *testing.F) {
	spec, err := json.Marshal(eight().object.Spec)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(spec), `{"2":[{"minors":[0,1]}]}`, `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"50"}}]}`, `{"gpu":{"requiredTopologyScope":"PCIe"}}`, samePCIe, `{"allocatePolicy":"Restricted"}`, int64(2))
	f.Add(`{"devices":[{"type":"gpu","minor":-1},{"type":"rdma","health":true,"vfGroups":[{}]}]}`, `{"0":[{"minors":[]}]}`, `{"rdma":[{"minor":2147483647,"extension":{"vfs":[{}]}}]}`, `{"rdma":{"vfSelector":{}}}`, `{"deviceTypes":["rdma","rdma"]}`, `{}`, int64(-1))
	f.Fuzz(func(t *testing.T, spec, table, allocated, hint, joint, partition string, count int64) {
		object := &schedulingv1alpha1.Device{}
		if extension.DecodeJSON(spec, extension.MaxAnnotationBytes, &object.Spec) != nil || len(object.Spec.Devices) > 64 {
			return
		}
		object.Annotations = map[string]string{extension.AnnotationGPUPartitions: table}
		node := DecodeNode(object)
		pod := annotated(annotated(joined(hinted(podOf("nvidia.com/gpu", "1", "koordinator.sh/rdma", "100"), hint), joint), extension.AnnotationGPUPartitionSpec, partition), extension.AnnotationDeviceAllocated, allocated)
		for name, quantity := range pod.Spec.Containers[0].Resources.Requests {
			quantity.Set(count)
			pod.Spec.Containers[0].Resources.Requests[name] = quantity
		}
		allocation, _ := ReadAllocation(pod)
		ledger := NewLedger(node, map[string]string{extension.LabelGPUModel: "H100"}, []Held{{Pod: pod, Allocation: allocation}})
		request, refusal := ParseRequest(pod, defaults, nil)
		if refusal != nil || request == nil {
			return
		}
		trace := &Trace{}
		in := Input{Ledger: ledger, Request: request, Policy: defaults}
		given, refusal := Allocate(in, trace)
		if refusal != nil {
			_ = trace.Message(refusal)
			_ = trace.Operands()
			_ = Relaxations(pod, in, nil)
			return
		}
		_, _ = given.Annotation(), Score(in)
		_ = Hints(in, numa.MaskOf(0, 1))
		for _, item := range given.Items {
			device := node.devices[item.kind][node.position(item.kind, item.Minor)]
			if _, lacks := item.Amount.lack(&device.total, item.kind); lacks || !device.healthy {
				t.Fatalf("%+v of %+v", item, device)
			}
		}
	})
}

// FuzzDecodeTemplates reads any ConfigMap.
func FuzzDecodeTemplates(f *testing.F) {
	f.Add(ascend)
	f.Add("a: [")
	f.Fuzz(func(_ *testing.T, document string) { _, _ = DecodeTemplates(document) })
}

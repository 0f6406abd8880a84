package report

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/connection/connectiontest"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestADeviceIsKept(t *testing.T) {
	server := connectiontest.New()
	clients, err := connection.New(server.Config(), "test", 1000)
	if err != nil {
		t.Fatal(err)
	}
	writer := NewDeviceWriter(clients.SchedulingWrites)
	in := DeviceInput{Node: TopologyNode{Name: "n", UID: "u"}}
	write := func(wantWritten bool, wantProblem bool) {
		t.Helper()
		written, err := writer.Write(t.Context(), Device(in))
		if written != wantWritten || (err != nil) != wantProblem {
			t.Errorf("written %t, %v", written, err)
		}
	}
	read := func() *schedulingv1alpha1.Device {
		t.Helper()
		out := &schedulingv1alpha1.Device{}
		if found, err := server.Read("devices", "n", out); err != nil || !found {
			t.Fatalf("no device: %v", err)
		}
		return out
	}
	write(false, false) // nothing to report, and nothing there
	in.Devices = []schedulingv1alpha1.DeviceInfo{{
		Type: schedulingv1alpha1.GPU, UUID: "a", Minor: new(int32(0)), Health: true, Labels: map[string]string{extension.LabelGPUModel: "A100"},
	}}
	in.Driver = "555"
	write(true, false)
	got := read()
	if got.OwnerReferences[0].Name != "n" || got.Labels[extension.LabelGPUModel] != "A100" || got.Labels[extension.LabelGPUDriverVersion] != "555" || len(got.Spec.Devices) != 1 {
		t.Errorf("created %+v", got)
	}
	write(false, false)

	got.Annotations = map[string]string{"theirs": "x"}
	got.Status.Allocations = []schedulingv1alpha1.DeviceAllocation{{Type: schedulingv1alpha1.GPU}}
	if err := server.Put("devices", got); err != nil {
		t.Fatal(err)
	}
	in.Devices[0].Health = false
	in.Devices[0].Conditions = []metav1.Condition{{Type: "Healthy", Status: metav1.ConditionFalse}}
	write(true, false)
	if got = read(); got.Spec.Devices[0].Health || got.Annotations["theirs"] != "x" || len(got.Status.Allocations) != 1 {
		t.Errorf("patched %+v", got)
	}
	in.Devices[0].Health, in.Devices[0].Conditions = true, nil
	server.Refuse(http.StatusInternalServerError)
	write(false, true)
	server.Refuse(0)
	write(true, false)
	if got = read(); !got.Spec.Devices[0].Health || got.Spec.Devices[0].Conditions != nil {
		t.Errorf("a device that recovered is %+v", got.Spec.Devices[0])
	}
	in.Devices = nil
	write(true, false)
	if got = read(); len(got.Spec.Devices) != 0 {
		t.Errorf("devices that went are still there: %+v", got.Spec.Devices)
	}
}

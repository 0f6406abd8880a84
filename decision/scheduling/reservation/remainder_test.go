package reservation

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

type (
	corev1Name = corev1.ResourceName
	uid        = types.UID
)

func sumOf(users map[uid]User) int64 {
	var sum int64
	for _, user := range users {
		sum += user.Requests["cpu"]
	}
	return sum
}

// heldBy is what the reserve pod requests beside the users.
func heldBy(r *Reservation, users map[uid]User) int64 {
	pod := Remainder(r, &corev1.Pod{}, users)
	if pod == nil {
		return 0
	}
	return RequestsOf(pod)["cpu"]
}

func TestReservePod(t *testing.T) {
	object := newObject("r", "cpu", "2")
	object.Labels = map[string]string{"app": "of-reservation", "team": "a"}
	object.Spec.Template.Labels = map[string]string{"app": "of-template"}
	object.Spec.Template.Annotations = map[string]string{"note": "kept"}
	object.Spec.Template.Spec.NodeName = "node-9"
	object.Status.NodeName = ""
	pod := ReservePod(object, "koord-scheduler", false)
	if pod.Name != "uid-r" || pod.UID != "uid-r" || pod.Namespace != "default" || !IsReservePod(pod) || NameOf(pod) != "r" {
		t.Errorf("identity %s/%s %s of %s", pod.Namespace, pod.Name, pod.UID, NameOf(pod))
	}
	if pod.Spec.NodeName != "" || RequiredNode(pod) != "node-9" {
		t.Errorf("node %q, required %q", pod.Spec.NodeName, RequiredNode(pod))
	}
	if diff := cmp.Diff(map[string]string{"app": "of-template", "team": "a"}, pod.Labels); diff != "" {
		t.Error(diff)
	}
	if pod.Annotations["note"] != "kept" || *pod.Spec.Priority != math.MaxInt32 || *pod.Spec.PreemptionPolicy != corev1.PreemptNever || pod.Spec.SchedulerName != "koord-scheduler" {
		t.Errorf("pod %+v", pod.Spec)
	}
	object.Labels[extension.LabelPodPriority] = "7000"
	object.Spec.Template.Spec.SchedulerName = "mine"
	if pod := ReservePod(object, "koord-scheduler", true); *pod.Spec.Priority != 7000 || pod.Spec.PreemptionPolicy != nil || pod.Spec.SchedulerName != "mine" {
		t.Errorf("pod %+v", pod.Spec)
	}
	object.Spec.Template = nil
	if pod := ReservePod(object, "koord-scheduler", true); len(RequestsOf(pod)) != 0 {
		t.Errorf("requests %v without a template", RequestsOf(pod))
	}
}

func TestRemainder(t *testing.T) {
	user := func(name string, annotations map[string]string, requests ...string) *corev1.Pod {
		pod := newPod(name, requests...)
		pod.Annotations = annotations
		return pod
	}
	status := func(value string) map[string]string {
		return map[string]string{extension.AnnotationResourceStatus: value}
	}
	devices := func(value string) map[string]string {
		return map[string]string{extension.AnnotationDeviceAllocated: value}
	}
	tests := map[string]struct {
		once        bool
		annotations map[string]string
		users       []*corev1.Pod
		wantGone    bool
		want        Amounts
		wantStatus  string
		wantDevices string
	}{
		"an unused reservation holds all":                    {want: Amounts{"cpu": 4000, "memory": 4 << 30}},
		"a user takes its part":                              {users: []*corev1.Pod{user("a", nil, "cpu", "1", "memory", "1Gi")}, want: Amounts{"cpu": 3000, "memory": 3 << 30}},
		"a user beyond it takes all there is":                {users: []*corev1.Pod{user("a", nil, "cpu", "9")}, want: Amounts{"memory": 4 << 30}},
		"one whose users have everything is gone":            {users: []*corev1.Pod{user("a", nil, "cpu", "4", "memory", "2Gi"), user("b", nil, "memory", "3Gi")}, wantGone: true},
		"one that is used once holds the rest until it ends": {once: true, users: []*corev1.Pod{user("a", nil, "cpu", "1")}, want: Amounts{"cpu": 3000, "memory": 4 << 30}},
		"one that is used once holds all until then":         {once: true, want: Amounts{"cpu": 4000, "memory": 4 << 30}},
		"CPUs that a user has are not held": {
			annotations: status(`{"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]}`), want: Amounts{"cpu": 2000, "memory": 4 << 30},
			users:      []*corev1.Pod{user("a", status(`{"cpuset":"1-2","numaNodeResources":[{"node":0,"resources":{"cpu":"2"}}]}`), "cpu", "2")},
			wantStatus: `{"cpuset":"0,3","numaNodeResources":[{"node":0,"resources":{"cpu":"2"}}]}`,
		},
		"CPUs that a user has beyond them do not matter": {
			annotations: status(`{"cpuset":"0-3"}`), want: Amounts{"cpu": 2000, "memory": 4 << 30},
			users: []*corev1.Pod{user("a", status(`{"cpuset":"3-4"}`), "cpu", "2")}, wantStatus: `{"cpuset":"0-2"}`,
		},
		"what cannot be read takes nothing": {
			annotations: status(`{"cpuset":"0-3"}`), want: Amounts{"cpu": 2000, "memory": 4 << 30},
			users: []*corev1.Pod{user("a", status(`{`), "cpu", "2")}, wantStatus: `{"cpuset":"0-3"}`,
		},
		"devices that a user has are not held": {
			annotations: devices(`{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100"}},{"minor":1,"resources":{"koordinator.sh/gpu-core":"100"}}],"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"1"},"extension":{"vfs":[{"minor":1},{"minor":2}]}}]}`),
			users: []*corev1.Pod{
				user("a", devices(`{"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"100"}}]}`)),
				user("b", devices(`{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"30"}}]}`)),
			},
			want:        Amounts{"cpu": 4000, "memory": 4 << 30},
			wantDevices: `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"70"}}],"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"1"},"extension":{"vfs":[{"minor":1},{"minor":2}]}}]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := newObject("r", "cpu", "4", "memory", "4Gi")
			object.Spec.AllocateOnce = &test.once
			object.Annotations = test.annotations
			base := ReservePod(object, "s", false)
			before := base.DeepCopy()
			pod := Remainder(compile(t, object), base, usersOf(test.users...))
			if diff := cmp.Diff(before, base); diff != "" {
				t.Errorf("the reserve pod itself changed:\n%s", diff)
			}
			if pod == nil || test.wantGone {
				if (pod == nil) != test.wantGone {
					t.Errorf("pod %v, want none: %v", pod, test.wantGone)
				}
				return
			}
			if diff := cmp.Diff(test.want, RequestsOf(pod)); diff != "" || pod.Spec.NodeName != "node-1" {
				t.Errorf("node %s; requests (-want +got):\n%s", pod.Spec.NodeName, diff)
			}
			if got := pod.Annotations[extension.AnnotationResourceStatus]; got != test.wantStatus {
				t.Errorf("resource status %s, want %s", got, test.wantStatus)
			}
			if got := pod.Annotations[extension.AnnotationDeviceAllocated]; got != test.wantDevices {
				t.Errorf("devices %s, want %s", got, test.wantDevices)
			}
		})
	}
}

// TestRemainderDoesNotDependOnHistory takes and gives in a random order, and compares with what the users that are left give.
func TestRemainderDoesNotDependOnHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := newObject("r", "cpu", "4", "memory", "4Gi")
		object.Annotations = map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"0-7"}`}
		compiled, _ := Compile(object)
		base := ReservePod(object, "s", false)
		users := map[uid]User{}
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "leaves") {
				for uid := range users {
					delete(users, uid)
					break
				}
				continue
			}
			pod := newPod(string(rune('a'+i)), "cpu", rapid.SampledFrom([]string{"0", "500m", "3", "9"}).Draw(t, "cpu"))
			pod.Annotations[extension.AnnotationResourceStatus] = `{"cpuset":"` + rapid.SampledFrom([]string{"0", "1-2", "7", "9"}).Draw(t, "cpus") + `"}`
			users[pod.UID] = NewUser(pod, pod.Annotations)
		}
		rebuilt := map[uid]User{}
		for uid, user := range users {
			rebuilt[uid] = user
		}
		if diff := cmp.Diff(Remainder(compiled, base, users), Remainder(compiled, base, rebuilt)); diff != "" {
			t.Fatal(diff)
		}
		taken := UseOf(compiled, users).Taken
		for name, value := range taken {
			if value > compiled.Allocatable[name] {
				t.Fatalf("%d of %d %s taken", value, compiled.Allocatable[name], name)
			}
		}
		if pod := Remainder(compiled, base, users); pod != nil {
			for name, value := range RequestsOf(pod) {
				if value+taken[name] != compiled.Allocatable[name] {
					t.Fatalf("%s: %d held and %d taken are not %d", name, value, taken[name], compiled.Allocatable[name])
				}
			}
		}
	})
}

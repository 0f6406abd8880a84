package reservation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestFit(t *testing.T) {
	const restricted, aligned = schedulingv1alpha1.ReservationAllocatePolicyRestricted, schedulingv1alpha1.ReservationAllocatePolicyAligned
	tests := map[string]struct {
		policy    schedulingv1alpha1.ReservationAllocatePolicy
		options   string
		reserved  []string
		requests  []string
		taken     Amounts
		requested Amounts // by other pods, on a node with 10 CPUs and 10 GPUs
		ignore    *Ignore
		want      Refusal
	}{
		"a pod within the reservation":                {policy: aligned, reserved: []string{"cpu", "4"}, requests: []string{"cpu", "4"}, requested: Amounts{"cpu": 6000}},
		"a pod beyond it takes the rest of the node":  {policy: aligned, reserved: []string{"cpu", "4"}, requests: []string{"cpu", "6"}, requested: Amounts{"cpu": 4000}},
		"the deprecated policy spills, too":           {policy: "", reserved: []string{"cpu", "4"}, requests: []string{"cpu", "6"}, requested: Amounts{"cpu": 4000}},
		"a restricted one does not spill":             {policy: restricted, reserved: []string{"cpu", "4"}, requests: []string{"cpu", "6"}, want: Refusal{finding.ReservationInsufficient, "Insufficient cpu", "cpu", 6000, 4000}},
		"a restricted one counts what others took":    {policy: restricted, reserved: []string{"cpu", "4"}, requests: []string{"cpu", "2"}, taken: Amounts{"cpu": 3000}, want: Refusal{finding.ReservationInsufficient, "Insufficient cpu", "cpu", 2000, 1000}},
		"what it does not hold comes from the node":   {policy: restricted, reserved: []string{"cpu", "4"}, requests: []string{"cpu", "4", "nvidia.com/gpu", "2"}, requested: Amounts{"cpu": 6000, "nvidia.com/gpu": 8}},
		"only what the options name is restricted":    {policy: restricted, options: `{"resources":["nvidia.com/gpu"]}`, reserved: []string{"cpu", "4", "nvidia.com/gpu", "1"}, requests: []string{"cpu", "6", "nvidia.com/gpu", "1"}},
		"a full node refuses what exceeds":            {policy: aligned, reserved: []string{"cpu", "4"}, requests: []string{"cpu", "6"}, requested: Amounts{"cpu": 5000}, want: Refusal{finding.ReservationNodeInsufficient, "Insufficient cpu by node", "cpu", 6000, 5000}},
		"an ignored resource is not looked at":        {policy: restricted, reserved: []string{"nvidia.com/gpu", "1"}, requests: []string{"nvidia.com/gpu", "20"}, ignore: &Ignore{Groups: map[string]bool{"nvidia.com": true}}},
		"an ignored name is not looked at":            {policy: restricted, reserved: []string{"cpu", "1"}, requests: []string{"cpu", "20"}, ignore: &Ignore{Resources: map[corev1Name]bool{"cpu": true}}},
		"a node that has less than is used has none":  {policy: aligned, reserved: []string{"cpu", "4"}, requests: []string{"cpu", "1"}, requested: Amounts{"cpu": 12000}, want: Refusal{finding.ReservationNodeInsufficient, "Insufficient cpu by node", "cpu", 1000, 0}},
		"a pod that asks for nothing fits everywhere": {policy: restricted, reserved: []string{"cpu", "4"}, taken: Amounts{"cpu": 4000}, requested: Amounts{"cpu": 20000}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := newObject("r", test.reserved...)
			object.Spec.AllocatePolicy = test.policy
			if test.options != "" {
				object.Annotations[extension.AnnotationReservationRestrictedOptions] = test.options
			}
			room := Room{Allocatable: Amounts{"cpu": 10000, "nvidia.com/gpu": 10}, Requested: test.requested}
			got := Fit(demandOf(t, newPod("p", test.requests...)), compile(t, object), Use{Taken: test.taken}, room, test.ignore)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
			if code := CodeOf(UnfitReason(got)); code != got.Code || !IsUnfit(UnfitReason(got)) {
				t.Errorf("code %q of %q, want %q", code, UnfitReason(got), got.Code)
			}
		})
	}
}

func TestScore(t *testing.T) {
	tests := map[string]struct {
		reserved, requests []string
		taken              Amounts
		want               int64
	}{
		"half of the reservation":          {reserved: []string{"cpu", "4", "memory", "8Gi"}, requests: []string{"cpu", "2", "memory", "4Gi"}, want: 50},
		"all of it":                        {reserved: []string{"cpu", "4", "memory", "8Gi"}, requests: []string{"cpu", "4", "memory", "8Gi"}, want: 100},
		"more than it":                     {reserved: []string{"cpu", "4", "memory", "8Gi"}, requests: []string{"cpu", "8", "memory", "16Gi"}, want: 0},
		"the rest of it":                   {reserved: []string{"cpu", "4"}, requests: []string{"cpu", "2"}, taken: Amounts{"cpu": 2000}, want: 100},
		"one resource of two":              {reserved: []string{"cpu", "4", "memory", "8Gi"}, requests: []string{"cpu", "4"}, want: 50},
		"a reservation of nothing":         {requests: []string{"cpu", "4"}, want: 0},
		"figures near the largest integer": {reserved: []string{"example.com/x", "9E"}, requests: []string{"example.com/x", "9E"}, want: 100},
	}
	for name, test := range tests {
		if got := Score(demandOf(t, newPod("p", test.requests...)), compile(t, newObject("r", test.reserved...)), Use{Taken: test.taken}); got != test.want {
			t.Errorf("%s: score %d, want %d", name, got, test.want)
		}
	}
}

func TestNominate(t *testing.T) {
	candidate := func(name, cpu, order string) Candidate {
		object := newObject(name, "cpu", cpu)
		object.Labels[extension.LabelReservationOrder] = order
		return Candidate{Reservation: compile(t, object)}
	}
	tests := map[string]struct {
		candidates []Candidate
		want       string
	}{
		"none":                               {},
		"the only one":                       {[]Candidate{candidate("a", "8", "")}, "a"},
		"the one that is filled best":        {[]Candidate{candidate("a", "8", ""), candidate("b", "2", ""), candidate("c", "4", "")}, "b"},
		"the smallest order":                 {[]Candidate{candidate("a", "2", ""), candidate("b", "8", "3"), candidate("c", "8", "2")}, "c"},
		"the first name of equals":           {[]Candidate{candidate("b", "4", ""), candidate("a", "4", "")}, "a"},
		"an order of zero is none":           {[]Candidate{candidate("a", "8", "0"), candidate("b", "8", "7")}, "b"},
		"a negative order is none":           {[]Candidate{candidate("a", "2", "-1"), candidate("b", "8", "7")}, "b"},
		"among none with an order the score": {[]Candidate{candidate("a", "8", "-1"), candidate("b", "4", "0")}, "b"},
	}
	for name, test := range tests {
		best, _ := Nominate(demandOf(t, newPod("p", "cpu", "2")), test.candidates)
		got := ""
		if best >= 0 {
			got = test.candidates[best].Name
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestFitKeepsTheNode places random pods by Fit, and checks that neither a node nor a restricted reservation is ever exceeded.
func TestFitKeepsTheNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Int64Range(1, 20).Draw(t, "capacity")
		object := newObject("r")
		object.Status.Allocatable = Amounts{"cpu": rapid.Int64Range(1, capacity).Draw(t, "reserved")}.List()
		object.Spec.AllocatePolicy = rapid.SampledFrom([]schedulingv1alpha1.ReservationAllocatePolicy{"", "Aligned", "Restricted"}).Draw(t, "policy")
		compiled, _ := Compile(object)
		users := map[uid]User{}
		plain := int64(0)
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"use", "plain", "leave"}).Draw(t, "step") {
			case "use":
				pod := newPod(string(rune('a' + i)))
				pod.Spec.Containers[0].Resources.Requests = Amounts{"cpu": rapid.Int64Range(0, capacity+1).Draw(t, "request")}.List()
				use := UseOf(compiled, users)
				room := Room{Allocatable: Amounts{"cpu": capacity}, Requested: Amounts{"cpu": plain + sumOf(users)}}
				demand, _ := NewDemand(pod)
				if Fit(demand, compiled, use, room, nil).Passed() {
					users[pod.UID] = NewUser(pod, nil)
				}
			case "plain":
				request := rapid.Int64Range(0, capacity).Draw(t, "request")
				if plain+sumOf(users)+heldBy(compiled, users)+request <= capacity {
					plain += request
				}
			case "leave":
				for uid := range users {
					delete(users, uid)
					break
				}
			}
			if total := plain + sumOf(users) + heldBy(compiled, users); total > capacity {
				t.Fatalf("%d of %d in use: plain %d, users %d, held %d", total, capacity, plain, sumOf(users), heldBy(compiled, users))
			}
			if taken := UseOf(compiled, users).Taken["cpu"]; taken > compiled.Allocatable["cpu"] {
				t.Fatalf("%d taken of %d", taken, compiled.Allocatable["cpu"])
			}
			if compiled.Restricted != nil && sumOf(users) > compiled.Allocatable["cpu"] {
				t.Fatalf("users of a restricted reservation of %d have %d", compiled.Allocatable["cpu"], sumOf(users))
			}
		}
	})
}

package fitmessage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		message string
		want    []Refusal
	}{
		"one reason":        {"0/30 nodes are available: 30 Insufficient cpu.", []Refusal{{30, "Insufficient cpu"}}},
		"several reasons":   {"0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.", []Refusal{{1, "node(s) were unschedulable"}, {2, "Insufficient cpu"}}},
		"a comma within":    {"0/2 nodes are available: 2 node(s) had taints {a: b, c: d}.", []Refusal{{2, "node(s) had taints {a: b, c: d}"}}},
		"with a preemption": {"0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found.", []Refusal{{2, "Insufficient cpu"}}},
		"after a claim":     {"0/3 nodes are available: 1 node(s) cpu usage exceed threshold, 2 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.", []Refusal{{1, "node(s) cpu usage exceed threshold"}, {2, "Insufficient cpu"}}},
		"no list":           {"0/0 nodes are available: none", nil},
		"another message":   {"gang a has not init: 3 nodes are available: 1 x", nil},
		"nothing":           {"", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Refusals(test.message)); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	const before = "0/5 nodes are available: 2 node(s) were unschedulable, 3 Insufficient cpu."
	tests := map[string]struct {
		after string
		want  []Change
	}{
		"the same in another order": {"0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable.", nil},
		"other numbers":             {"0/5 nodes are available: 1 node(s) were unschedulable, 4 Insufficient cpu.", []Change{{"Insufficient cpu", 3, 4}, {"node(s) were unschedulable", 2, 1}}},
		"another reason":            {"0/5 nodes are available: 2 Insufficient memory, 3 Insufficient cpu.", []Change{{"Insufficient memory", 0, 2}, {"node(s) were unschedulable", 2, 0}}},
		"a message of another form": {"running PreFilter plugin: no", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Changes(before, test.after)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzRefusals(f *testing.F) {
	f.Add("0/30 nodes are available: 1 node(s) were unschedulable, 29 Insufficient cpu.")
	f.Fuzz(func(t *testing.T, message string) {
		for _, refusal := range Refusals(message) {
			if refusal.Reason == "" {
				t.Errorf("%q has a refusal without a reason", message)
			}
		}
		if changes := Changes(message, message); changes != nil {
			t.Errorf("%q differs from itself: %v", message, changes)
		}
	})
}

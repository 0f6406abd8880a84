package tui

import "testing"

func TestReasonsFitTheirLine(t *testing.T) {
	const many = "0/30 nodes are available: 1 node(s) had untolerated taint {gpu: yes, only}, 27 Insufficient cpu, 2 Insufficient memory."
	for name, tc := range map[string]struct {
		reason string
		width  int
		want   string
	}{
		"whole where it fits":           {"0/3 nodes are available: 3 Insufficient cpu.", 80, "0/3 nodes are available: 3 Insufficient cpu"},
		"what refuses most nodes first": {many, 40, "27 Insufficient cpu, 2 Insufficient memory, 1 node(s) had untolerated taint {gpu: yes, only}"},
		"batch resources without their domain": {
			"0/30 nodes are available: 29 Insufficient kubernetes.io/batch-cpu, 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }.", 40,
			"29 Insufficient batch-cpu, 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }",
		},
		"what is no message of the scheduler":      {"ErrImagePull: failed to pull and unpack image, no such host", 20, "ErrImagePull: failed to pull and unpack image, no such host"},
		"a message that counts nothing":            {"0/3 nodes are available: persistentvolumeclaim \"data\" not found.", 20, "0/3 nodes are available: persistentvolumeclaim \"data\" not found"},
		"several lines become one":                 {"line one\n line two", 80, "line one line two"},
		"none":                                     {"", 20, ""},
		"a number that is a part of a longer text": {"waits for 0/3 nodes are available: 3 of them", 10, "waits for 0/3 nodes are available: 3 of them"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reasonText(tc.reason, tc.width); got != tc.want {
				t.Errorf("unexpected text %q, want %q", got, tc.want)
			}
		})
	}
}

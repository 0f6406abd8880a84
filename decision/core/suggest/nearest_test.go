package suggest

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"enable", "cpuReclaimThresholdPercent", "memoryReclaimThresholdPercent", "node-1", "node-2"}
	tests := map[string]struct{ name, want string }{
		"a letter is missing":              {"enble", "enable"},
		"two letters changed places":       {"cpuRelcaimThresholdPercent", "cpuReclaimThresholdPercent"},
		"one edit of a short name":         {"node-", "node-1"},
		"the first of equally near ones":   {"node-3", "node-1"},
		"nothing is near":                  {"schedule", ""},
		"the name itself is no suggestion": {"enable", ""},
		"no name":                          {"", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(test.name, known); got != test.want {
				t.Errorf("nearest to %q is %q, want %q", test.name, got, test.want)
			}
		})
	}
}

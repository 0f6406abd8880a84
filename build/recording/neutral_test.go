package main

import (
	"strings"
	"testing"

	"koordinator.sh/koord/build/recording/cast"
)

func TestRecordingsAreOfNoMachineInParticular(t *testing.T) {
	tests := map[string]struct{ output, want string }{
		"ages and versions":         {"sim-0001 Fresh, 4s old, v1.36.3, vmstat, 10.2/15.5", ""},
		"the host in an identity":   {"answered by koord-manager vm_53c9237a (leader)", `"vm", a name of this machine`},
		"the host by itself":        {"vm", `"vm", a name of this machine`},
		"the directory of programs": {"run /opt/koord/bin/koordctl", `"/opt/koord/bin/", a name of this machine`},
		"a home directory":          {"read /home/jane/.kube/config: denied", `"/home/jane/.kube/config:", which another machine does not show`},
		"a date":                    {"expires 2026-03-04", `"2026-03-04", which another machine does not show`},
		"a clock":                   {"at 05:06:07", `"05:06:07", which another machine does not show`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := neutral(cast.Recording{Title: "why", Events: []cast.Event{{Output: test.output}}}, []string{"vm", "", "/opt/koord/bin/"})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("neutral(%q) = %v, want %q", test.output, err, test.want)
			}
		})
	}
}

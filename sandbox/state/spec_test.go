package state

import (
	"math"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		change func(*Spec)
		want   string
	}{
		"what up starts without flags":     {change: func(*Spec) {}},
		"no nodes":                         {change: func(s *Spec) { s.Nodes = 0 }},
		"the most nodes":                   {change: func(s *Spec) { s.Nodes = MaxNodes }},
		"the fastest time":                 {change: func(s *Spec) { s.Speed = MaxSpeed }},
		"the longest name":                 {change: func(s *Spec) { s.Name = strings.Repeat("a", 40) }},
		"a name of one letter":             {change: func(s *Spec) { s.Name = "x" }},
		"a bare control plane":             {change: func(s *Spec) { s.KubernetesOnly, s.Scenario = true, "" }},
		"no name":                          {func(s *Spec) { s.Name = "" }, `sandbox name "" must be a lower-case DNS label`},
		"a name with a capital":            {func(s *Spec) { s.Name = "Demo" }, `sandbox name "Demo" must be`},
		"a name that leaves the directory": {func(s *Spec) { s.Name = "../demo" }, `sandbox name "../demo" must be`},
		"a name with two lines":            {func(s *Spec) { s.Name = "demo\nx" }, `sandbox name "demo\nx" must be`},
		"a name that ends in a hyphen":     {func(s *Spec) { s.Name = "demo-" }, `sandbox name "demo-" must be`},
		"a name of 41 letters":             {func(s *Spec) { s.Name = strings.Repeat("a", 41) }, "at most 40 characters"},
		"fewer nodes than none":            {func(s *Spec) { s.Nodes = -1 }, "nodes -1 must be between 0 and 5000"},
		"too many nodes":                   {func(s *Spec) { s.Nodes = MaxNodes + 1 }, "nodes 5001 must be between 0 and 5000"},
		"time that stands still":           {func(s *Spec) { s.Speed = 0 }, "speed 0 must be between 1 and 3600"},
		"time that is too fast":            {func(s *Spec) { s.Speed = 3601 }, "speed 3601 must be between 1 and 3600"},
		"time that is no number":           {func(s *Spec) { s.Speed = math.NaN() }, "speed NaN must be between 1 and 3600"},
		"a port below all":                 {func(s *Spec) { s.APIServerPort = -1 }, "API server port -1 must be between 0 and 65535"},
		"a port above all":                 {func(s *Spec) { s.APIServerPort = 65536 }, "API server port 65536 must be between 0 and 65535"},
		"workloads without the system":     {func(s *Spec) { s.KubernetesOnly = true }, `scenario "colocation" requires Koordinator: omit --kubernetes-only`},
		"another version of Kubernetes":    {change: func(s *Spec) { s.KubernetesBinaries = "/k8s" }},
		"another version on a real node":   {func(s *Spec) { s.RealNode, s.KubernetesBinaries = "box", "/k8s" }, `programs of Kubernetes in "/k8s": a real node requires the sandbox's own: omit --real-node`},
		"recorded load without the system": {func(s *Spec) { s.KubernetesOnly, s.Scenario, s.Trace = true, "", "/t.csv" }, `trace "/t.csv" requires the simulated koordlets`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := Spec{Name: DefaultName, Nodes: 30, Scenario: "colocation", Speed: 1}
			tc.change(&spec)
			if err := spec.Validate(); !says(err, tc.want) {
				t.Errorf("Validate() = %v; want %q", err, tc.want)
			}
		})
	}
}

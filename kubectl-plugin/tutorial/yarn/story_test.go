package yarn

import (
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestBothSidesMustSayTheSame(t *testing.T) {
	tests := map[string]struct {
		node  nodeReport
		taken int64
		want  bool
	}{
		"as it registered":          {nodeReport{FreeVCores: 1}, 50, false},
		"grown, as Kubernetes says": {nodeReport{UsedVCores: 2, FreeVCores: 4}, 300, true},
		"more than Kubernetes says": {nodeReport{FreeVCores: 6}, 250, false},
		"containers beyond it":      {nodeReport{UsedVCores: 9, FreeVCores: -3}, 300, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := (&story{node: tc.node, taken: tc.taken}).sized(t.Context(), nil); (err == nil) != tc.want {
				t.Errorf("sized = %v; want that both say the same: %t", err, tc.want)
			}
		})
	}
}

func TestTheJobMustShrink(t *testing.T) {
	tests := map[string]struct {
		shrunk  int64
		counted count
		want    bool
	}{
		"warned, with less": {4, count{Containers: 3, Warned: 6}, true},
		"by too little":     {9, count{Containers: 7, Warned: 2}, false},
		"without a warning": {4, count{Containers: 3, Warned: 1}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{used: 9, countedBefore: count{Containers: 8, Warned: 1}, counted: tc.counted, shrunk: tc.shrunk}
			if err := s.gaveWay(t.Context(), nil); (err == nil) != tc.want {
				t.Errorf("gaveWay = %v; want that it gave way: %t", err, tc.want)
			}
		})
	}
}

func TestWhatYARNHasMustBeLessThanItUsed(t *testing.T) {
	tests := map[string]struct {
		before, used, now int64
		want              bool
	}{
		"less than containers used": {20, 13, 4, true},
		"less, and all still fit":   {20, 13, 15, false},
		"hardly less":               {13, 13, 12, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{before: tc.before, used: tc.used, node: nodeReport{UsedVCores: tc.used, FreeVCores: tc.now - tc.used}}
			if err := s.shrank(); (err == nil) != tc.want {
				t.Errorf("shrank = %v; want that it shrank: %t", err, tc.want)
			}
		})
	}
}

// Whatever YARN has when the service is about to need more, lowering the threshold has to count as less.
func TestYARNHasEnoughToShrink(t *testing.T) {
	tests := map[string]struct {
		may, used int64
		want      bool
	}{
		"all containers run":               {14, 13, true},
		"just enough":                      {leftVCores + leastChange, leftVCores + 1, true},
		"it shrank already":                {3, 3, false},
		"containers have not started yet":  {14, 1, false},
		"containers that no longer fit":    {3, 13, false},
		"containers would all fit as well": {leftVCores + leastChange, leftVCores, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{before: tc.may, used: tc.used, node: nodeReport{UsedVCores: tc.used, FreeVCores: tc.may - tc.used}}
			if err := s.mayShrink(); (err == nil) != tc.want {
				t.Fatalf("mayShrink = %v; want that it may: %t", err, tc.want)
			}
			s.node = nodeReport{UsedVCores: leftVCores}
			if err := s.shrank(); tc.want && err != nil {
				t.Errorf("shrank = %v where about %d vcores are left; want that it shrank", err, leftVCores)
			}
		})
	}
}

func TestTheJobMustCountEverythingOnce(t *testing.T) {
	tests := map[string]struct {
		status, diagnostics string
		want                bool
	}{
		"all of it":       {"SUCCEEDED", `{"first":2,"end":102,"numbers":100,"primes":26}`, true},
		"a piece is lost": {"SUCCEEDED", `{"first":2,"end":102,"numbers":90,"primes":26}`, false},
		"a step twice":    {"SUCCEEDED", `{"first":2,"end":102,"numbers":100,"primes":27}`, false},
		"it failed":       {"FAILED", `{"first":2,"end":102,"numbers":100,"primes":26}`, false},
		"it says nothing": {"SUCCEEDED", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{ended: application{FinalStatus: tc.status, Diagnostics: tc.diagnostics}}
			if err := s.complete(); (err == nil) != tc.want {
				t.Errorf("complete = %v; want that it is: %t", err, tc.want)
			}
		})
	}
}

func TestTheFirstContainerThatWasKilledIsFound(t *testing.T) {
	node := &diagnosticsv1alpha1.NodeExplanation{}
	if got := firstEviction(node); got != (eviction{}) {
		t.Errorf("eviction = %+v where no agent answered; want none", got)
	}
	node.Status.Agent = &diagnosticsv1alpha1.AgentExplanation{Audit: &diagnosticsv1alpha1.AuditPage{Entries: []diagnosticsv1alpha1.AuditEntry{
		{Object: "container yarn/container_1_0001_01_000004", Old: "running", New: "running", Error: "not answered"},
		{Object: "kubepods/besteffort/hadoop-yarn/container_1_0001_01_000002/cpu.shares", Old: "2", New: "51"},
		{Object: "pod shop/web-0", Old: "running", New: "evicted"},
		{Object: "container yarn/container_1_0001_01_000003", Old: "running", New: "killed", Why: "too little CPU"},
		{Object: "container yarn/container_1_0001_01_000005", Old: "running", New: "killed", Why: "too little CPU"},
	}}}
	if got, want := firstEviction(node), (eviction{"container_1_0001_01_000003", "too little CPU"}); got != want {
		t.Errorf("eviction = %+v; want %+v", got, want)
	}
}

func TestPrimesAreCountedByASieve(t *testing.T) {
	for end, want := range map[int]int{0: 0, 2: 0, 3: 1, 100: 25, 1000: 168} {
		if got := primesIn(0, end); got != want {
			t.Errorf("%d primes below %d; want %d", got, end, want)
		}
	}
	if got := primesIn(1_000_000_000, 1_000_001_000); got != 49 {
		t.Errorf("%d primes in the thousand numbers from a thousand million on; want 49", got)
	}
}

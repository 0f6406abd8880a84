package predict

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func node(usages ...[]float64) Node {
	n := Node{Name: "n", Resource: CPU, Start: noon, Step: step}
	for i, usage := range usages {
		n.Pods = append(n.Pods, Pod{Name: fmt.Sprint(i), Limit: 10, Usage: usage})
	}
	return n
}

// fixed predicts always the same.
type fixed float64

func (f fixed) Peak(*History) Peak { return Peak{Value: float64(f)} }

func TestReplayScores(t *testing.T) {
	tests := map[string]struct {
		predictor Predictor
		nodes     []Node
		want      Score
	}{
		"nothing to replay":             {predictor: fixed(1)},
		"a recording that is too short": {predictor: fixed(1), nodes: []Node{node(constant(24, 1))}},
		"the right prediction": {
			predictor: fixed(2), nodes: []Node{node(constant(288, 2))},
			want: Score{Points: 22, Savings: 0.8, OracleSavings: 0.8, PeakRatio: 1},
		},
		"twice too much": {
			predictor: fixed(4), nodes: []Node{node(constant(288, 1), constant(288, 1))},
			want: Score{Points: 22, Savings: 0.8, OracleSavings: 0.9, PeakRatio: 2},
		},
		"a spike in the last hour": {
			predictor: fixed(2), nodes: []Node{node(append(constant(287, 2), 3))},
			want: Score{Points: 22, Violations: 1, ViolationRate: 1. / 22, Severity: 0.5 / 22, Savings: 0.8, OracleSavings: (21*0.8 + 0.7) / 22, PeakRatio: 44. / 45},
		},
		"a pod that comes later is nobody's fault": {
			predictor: fixed(2), nodes: []Node{node(constant(36, 2), constant(6, 5))},
			want: Score{Points: 1, Savings: 0.9, OracleSavings: 0.9, PeakRatio: 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Replay(test.predictor, test.nodes, ReplayOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("score (-want +got):\n%s", diff)
			}
		})
	}
}

// watcher fails when a history reaches beyond the present.
type watcher struct {
	t    *testing.T
	seen []int
}

func (w *watcher) Peak(h *History) Peak {
	w.seen = append(w.seen, len(h.Pods[0].Usage))
	if got, want := h.Pods[0].Usage[len(h.Pods[0].Usage)-1], h.Now.Sub(noon).Hours(); got > want+1e-9 {
		w.t.Errorf("at hour %g the history tells of hour %g", want, got)
	}
	return Peak{}
}

func TestReplayShowsThePastOnly(t *testing.T) {
	w := &watcher{t: t}
	hours := every(12*8, func(i int) float64 { return float64(i) / 12 })
	if _, err := Replay(w, []Node{node(hours)}, ReplayOptions{Keep: 4 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{24, 36, 48, 48, 48, 48}, w.seen); diff != "" {
		t.Errorf("lengths of the histories (-want +got):\n%s", diff)
	}
}

// services is nodes of so many pods that peak at any hour, with noise and bursts.
func services(nodes, pods, days int) []Node {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]Node, nodes)
	for i := range out {
		var usages [][]float64
		for range pods {
			shift, usage := random.IntN(288), daily(288*days+288, 1, 4)
			usage = usage[shift : shift+288*days]
			for j := range usage {
				usage[j] *= 0.85 + 0.3*random.Float64()
				if random.IntN(200) == 0 {
					usage[j] *= 1.8
				}
			}
			usages = append(usages, usage)
		}
		out[i] = node(usages...)
	}
	return out
}

func TestProfilesKeepTheirPromises(t *testing.T) {
	nodes := services(6, 20, 4)
	scores := map[string]Score{}
	for _, profile := range Profiles() {
		score, err := Replay(profile, nodes, ReplayOptions{WarmUp: day})
		if err != nil {
			t.Fatal(err)
		}
		scores[profile.Name] = score
		t.Logf("%-12s %+v", profile.Name, score)
	}
	if s := scores["static"]; s.Violations > 0 || s.Savings < 0.0999 || s.Savings > 0.1001 {
		t.Errorf("static: %+v, want savings of a tenth and no violation", s)
	}
	for _, name := range []string{"safe", "balanced", "koordinator", "seasonal"} {
		if s := scores[name]; s.ViolationRate > 0.01 {
			t.Errorf("%s is exceeded in %.2f%% of all hours, want at most 1%%", name, s.ViolationRate*100)
		}
	}
	if balanced, upstream := scores["balanced"], scores["koordinator"]; balanced.Savings < upstream.Savings+0.04 {
		t.Errorf("balanced saves %.1f%%, want 4 points more than Koordinator's %.1f%%", balanced.Savings*100, upstream.Savings*100)
	}
	for name, s := range scores {
		if s.Violations == 0 && s.Savings > s.OracleSavings {
			t.Errorf("%s saves %g without a violation, more than the %g that is possible", name, s.Savings, s.OracleSavings)
		}
	}
}

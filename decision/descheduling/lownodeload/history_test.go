package lownodeload

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/descheduling/podselection"
)

// passes decides once for each usage of the node hot, in percent, and returns in which passes a pod left it. The history goes through
// JSON in between, as it does when the descheduler restarts.
func passes(t *testing.T, compiled *Policy, interval time.Duration, percents ...int) []int {
	t.Helper()
	var evicting []int
	history, now := History{}, moment
	for i, percent := range percents {
		nodes := []Node{node("hot", pod("a", 1500, unmovable), pod("b", int64(percent)*100-2000)), loaded("cold", 10)}
		nodes[0].Metric.UpdateTime, nodes[1].Metric.UpdateTime = now, now
		verdict := Decide(Input{Policy: compiled, Now: now, Interval: interval, Nodes: nodes, History: history}, nil)
		if len(verdict.Victims) > 0 {
			evicting = append(evicting, i+1)
		}
		stored, err := json.Marshal(verdict.History)
		if err != nil {
			t.Fatal(err)
		}
		history = History{}
		if err := json.Unmarshal(stored, &history); err != nil {
			t.Fatal(err)
		}
		now = now.Add(interval)
	}
	return evicting
}

func unmovable(built *builtPod) { built.Namespace = "kube-system" }

func condition(abnormalities, normalities uint32, timeout time.Duration) func(*Args) {
	return func(a *Args) {
		a.EvictableNamespaces = &podselection.Namespaces{Exclude: []string{"kube-system"}}
		a.NodeFit = new(false)
		a.AnomalyCondition = &AnomalyCondition{Timeout: &metav1.Duration{Duration: timeout}, ConsecutiveAbnormalities: abnormalities, ConsecutiveNormalities: normalities}
	}
}

func TestHowOftenANodeMustBeOverutilized(t *testing.T) {
	tests := map[string]struct {
		args     func(*Args)
		interval time.Duration
		percents []int
		want     []int
	}{
		"more often than the condition says":                   {condition(5, 3, time.Minute), time.Minute, []int{80, 80, 80, 80, 80, 80}, []int{6}},
		"once where it says once":                              {condition(1, 3, time.Minute), time.Minute, []int{80, 60, 80}, []int{1, 3}},
		"with an interval longer than the detectors were kept": {condition(2, 3, time.Minute), time.Hour, []int{80, 80, 80}, []int{3}},
		"in a row: a pass between the thresholds is normal":    {condition(2, 3, time.Minute), time.Minute, []int{80, 80, 60, 80, 80, 80}, []int{6}},
		"in a row: an underutilized pass is, too":              {condition(2, 3, time.Minute), time.Minute, []int{80, 80, 30, 80, 80, 80}, []int{6}},
		"anew, once pods left and it was normal":               {condition(1, 3, time.Hour), time.Minute, []int{80, 80}, []int{1, 2}},
		"anew, after the timeout":                              {condition(2, 3, 30*time.Second), time.Minute, []int{80, 80, 80, 80, 80, 80}, []int{3, 6}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, passes(t, policy(t, tc.args), tc.interval, tc.percents...)); diff != "" {
				t.Errorf("evictions in the passes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnEvictionLeavesTheCountsOfOtherNodes: koordinator#1854, where the first eviction cleared the counts of all overutilized nodes.
func TestAnEvictionLeavesTheCountsOfOtherNodes(t *testing.T) {
	compiled := policy(t, condition(2, 3, time.Minute))
	history := History{Nodes: map[string]NodeHistory{
		"first":  {Pool: DefaultPool, Node: Detector{Abnormalities: 2}, ObservedAt: metav1.NewTime(moment.Add(-time.Minute))},
		"second": {Pool: DefaultPool, Node: Detector{Abnormalities: 1}, ObservedAt: metav1.NewTime(moment.Add(-time.Minute))},
	}}
	verdict := Decide(Input{Policy: compiled, Now: moment, Interval: time.Minute, History: history, Nodes: []Node{loaded("first", 80), loaded("second", 80), loaded("cold", 10), loaded("cold2", 40)}}, nil)
	if diff := cmp.Diff([]string{"first-pod: first -> "}, names(verdict.Victims)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	if got := verdict.History.Nodes["second"].Node; got.Abnormalities != 2 {
		t.Errorf("second has %+v, want its second abnormality", got)
	}
	if got := verdict.History.Nodes["first"].Node; got != (Detector{}) {
		t.Errorf("first has %+v, want none: it is not overutilized any more", got)
	}
}

func TestHistoryIsForgottenWithItsNode(t *testing.T) {
	compiled := policy(t, condition(2, 3, time.Minute))
	seen := func(ago time.Duration, pool string) NodeHistory {
		return NodeHistory{Pool: pool, Node: Detector{Abnormalities: 2}, ObservedAt: metav1.NewTime(moment.Add(-ago))}
	}
	tests := map[string]struct {
		history  NodeHistory
		interval time.Duration
		want     uint32
	}{
		"observed a pass ago":                   {seen(time.Minute, DefaultPool), time.Minute, 3},
		"within the cache timeout":              {seen(5*time.Minute, DefaultPool), time.Minute, 3},
		"before it":                             {seen(5*time.Minute+time.Second, DefaultPool), time.Minute, 1},
		"within three intervals":                {seen(90*time.Minute, DefaultPool), 30 * time.Minute, 3},
		"long ago, at intervals nobody knows":   {seen(1000*time.Hour, DefaultPool), 0, 3},
		"at intervals longer than any duration": {seen(time.Hour, DefaultPool), 1<<63 - 1, 3},
		"in another pool":                       {seen(time.Minute, "gold"), time.Minute, 1},
		"at a time to come":                     {seen(-time.Hour, DefaultPool), time.Minute, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Policy: compiled, Now: moment, Interval: tc.interval, Nodes: []Node{loaded("a", 80)}, History: History{Nodes: map[string]NodeHistory{"a": tc.history, "gone": tc.history}}}
			got := Decide(in, nil).History.Nodes
			if got["a"].Node.Abnormalities != tc.want || len(got) != 1 {
				t.Errorf("history %+v, want %d abnormalities of a alone", got, tc.want)
			}
		})
	}
}

// TestANodeThatIsNotMeasuredKeepsItsCount: a NodeMetric that is late says neither that the node is normal nor that it is not.
func TestANodeThatIsNotMeasuredKeepsItsCount(t *testing.T) {
	stale := loaded("a", 80)
	stale.Metric = nil
	before := NodeHistory{Pool: DefaultPool, Node: Detector{Abnormalities: 2}, ObservedAt: metav1.NewTime(moment.Add(-time.Minute))}
	in := Input{Policy: policy(t, condition(2, 3, time.Minute)), Now: moment, Interval: time.Minute, Nodes: []Node{stale}, History: History{Nodes: map[string]NodeHistory{"a": before}}}
	if diff := cmp.Diff(before, Decide(in, nil).History.Nodes["a"]); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestDetector(t *testing.T) {
	at := func(seconds int) time.Time { return moment.Add(time.Duration(seconds) * time.Second) }
	limits := &AnomalyCondition{Timeout: &metav1.Duration{Duration: time.Minute}, ConsecutiveAbnormalities: 2, ConsecutiveNormalities: 1}
	tests := map[string]struct {
		observed []bool // each 10 s apart, true for overutilized
		want     bool
	}{
		"nothing":                            {nil, false},
		"two are not enough":                 {[]bool{true, true}, false},
		"three are":                          {[]bool{true, true, true}, true},
		"one normal does not end it":         {[]bool{true, true, true, false}, true},
		"two do":                             {[]bool{true, true, true, false, false}, false},
		"two that are not in a row do not":   {[]bool{true, true, true, false, true, false}, true},
		"it ends after its timeout":          {[]bool{true, true, true, true, true, true, true, true, true, true}, false},
		"and counts anew then, three in all": {[]bool{true, true, true, true, true, true, true, true, true, true, true, true}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			detector := Detector{}
			for i, overutilized := range tc.observed {
				detector = detector.Observe(overutilized, at(10*i), limits)
			}
			if detector.Anomalous() != tc.want {
				t.Errorf("detector %+v, want anomalous %v", detector, tc.want)
			}
		})
	}
}

func TestAClockThatIsSetBackEndsAnAnomaly(t *testing.T) {
	limits := &AnomalyCondition{Timeout: &metav1.Duration{Duration: time.Hour}, ConsecutiveAbnormalities: 2, ConsecutiveNormalities: 1}
	detector := Detector{AnomalousSince: metav1.NewTime(moment)}
	if got := detector.Observe(true, moment.Add(-time.Hour), limits); got.Anomalous() {
		t.Errorf("detector %+v is anomalous since a time to come", got)
	}
}

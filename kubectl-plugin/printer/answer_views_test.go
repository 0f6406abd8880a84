package printer

import (
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// answerViews are rarer answers: to users with few rights, about Reservations, and where data is missing.
func answerViews() map[string]view {
	pod := func(e *diagnosticsv1alpha1.PodExplanation, wide bool) view {
		return func(w io.Writer, o Options) error {
			o.Wide = wide
			return PodExplanation(w, e, o)
		}
	}
	return map[string]view{
		"explain-pod-recreate":      pod(recreateFixture(), false),
		"explain-pod-unknown":       pod(unknownNodesFixture(), false),
		"explain-pod-helpless-wide": pod(helplessFixture(), true),
		"explain-pod-preempts-wide": pod(preemptionFixture(), true),
		"explain-reservation":       pod(reservationFixture(), false),
		"explain-pod-displaced":     pod(displacedFixture(), false),
		"explain-node-uncomputed":   func(w io.Writer, o Options) error { return NodeExplanation(w, uncomputedNodeFixture(), o) },
		"top-nodes-labels": func(w io.Writer, o Options) error {
			list := nodesFixture()
			list.Items[0].Labels = map[string]string{"pool": "shared", "kubernetes.io/arch": "amd64"}
			o.LabelColumns, o.ShowLabels = []string{"pool", "kubernetes.io/arch"}, true
			return NodeOverviews(w, list, o)
		},
	}
}

// recreateFixture is a pending pod without a controller, whose fix changes what cannot be changed.
func recreateFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Fix.Recreate, e.Status.Fix.Command = true, ""
	e.Status.Fix.Manifest = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1\n"
	e.Status.Fix.NodesUnlocked = 1
	return e
}

// unknownNodesFixture is a pod of which a user may not know what all nodes say.
func unknownNodesFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Verdict, e.Status.Fix = diagnosticsv1alpha1.PodUnknown, nil
	e.Status.NodesUnknown = 4
	e.Status.Groups = e.Status.Groups[1:]
	e.Status.Incomplete = []string{"list nodemetrics.slo.koordinator.sh: not permitted; load is unknown (KOORD0002)"}
	return e
}

func reservationFixture() *diagnosticsv1alpha1.PodExplanation {
	e := pendingPodFixture()
	e.Status.Pod = diagnosticsv1alpha1.PodFacts{ReservationName: "nightly-batch", Phase: corev1.PodPending, CreatedAt: &metav1.Time{Time: fixtureNow.Add(time.Hour)}}
	e.Status.Fix = &diagnosticsv1alpha1.Fix{Description: "Reserve 3 cores in place of 4.", NodesUnlocked: 2, Verified: true}
	return e
}

// displacedFixture is a bound pod that its node would not take again.
func displacedFixture() *diagnosticsv1alpha1.PodExplanation {
	e := boundPodFixture()
	e.Status.Placement = &diagnosticsv1alpha1.Placement{Node: "worker-1"}
	return e
}

// uncomputedNodeFixture is a node whose batch resources cannot be computed, and that has others.
func uncomputedNodeFixture() *diagnosticsv1alpha1.NodeExplanation {
	e := nodeExplanationFixture()
	s := &e.Status
	s.Node.Ready, s.Node.Unschedulable, s.Node.Pods = false, true, nil
	s.Metric = diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricUnknown}
	s.Waterfalls[0].Degraded = true
	s.Published = append(s.Published,
		diagnosticsv1alpha1.PublishedResource{Resource: "kubernetes.io/batch-memory", Unit: diagnosticsv1alpha1.Bytes, Published: new(30 * gi), State: diagnosticsv1alpha1.SyncUnknown, Reason: "what pods use is unknown"},
		diagnosticsv1alpha1.PublishedResource{Resource: "kubernetes.io/mid-cpu", Unit: diagnosticsv1alpha1.MilliCPU, State: diagnosticsv1alpha1.SyncUnknown},
	)
	s.Withheld = []diagnosticsv1alpha1.Withheld{{Resource: "pods", Count: 1}}
	return e
}

func TestResourcesAreCalledAsPeopleCallThem(t *testing.T) {
	list := func(pairs ...string) corev1.ResourceList {
		out := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return out
	}
	tests := map[string]struct {
		list corev1.ResourceList
		want string
	}{
		"none":                      {nil, ""},
		"one core":                  {list("cpu", "1"), "1 core"},
		"several":                   {list("cpu", "2500m", "memory", "8Gi"), "2.5 cores, 8Gi memory"},
		"zero is left out":          {list("cpu", "0", "memory", "1Gi"), "1Gi memory"},
		"batch counts millicores":   {list("kubernetes.io/batch-cpu", "1500", "kubernetes.io/batch-memory", "2Gi"), "1.5 batch-cpu, 2Gi batch-memory"},
		"mid does too":              {list("kubernetes.io/mid-cpu", "250"), "0.25 mid-cpu"},
		"disk":                      {list("ephemeral-storage", "512Mi"), "512Mi ephemeral-storage"},
		"a device":                  {list("nvidia.com/gpu", "2"), "2 gpu"},
		"a share of one":            {list("koordinator.sh/gpu-core", "50"), "50 gpu-core"},
		"the pod itself is nothing": {list("pods", "1"), ""},
		"in order of their names":   {list("nvidia.com/gpu", "1", "cpu", "1", "memory", "1Gi"), "1 core, 1Gi memory, 1 gpu"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := resourceList(tc.list); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMetricsAreShownWithWhatTheyAreWorth(t *testing.T) {
	fresh := before(42 * time.Second)
	tests := map[string]struct {
		facts                diagnosticsv1alpha1.MetricFacts
		wantCell, wantPhrase string
		wantRole             Role
	}{
		"fresh":           {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricFresh, UpdateTime: fresh}, "42s", "NodeMetric Fresh, 42s old", Plain},
		"with interval":   {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricFresh, UpdateTime: fresh, ReportIntervalSeconds: 60}, "42s", "NodeMetric Fresh, 42s old, reported every 60s", Plain},
		"stale":           {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricStale, UpdateTime: before(4 * time.Minute)}, "4m(Stale)", "NodeMetric Stale, 4m old", Warn},
		"expired":         {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricExpired, UpdateTime: before(20 * time.Minute)}, "20m(Expired)", "NodeMetric Expired, 20m old", Bad},
		"absent":          {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricAbsent}, "<none>", "NodeMetric Absent", Warn},
		"unknown":         {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricUnknown}, "<unknown>", "NodeMetric <unknown>", Warn},
		"unknown but old": {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricUnknown, UpdateTime: fresh}, "42s(Unknown)", "NodeMetric Unknown, 42s old", Warn},
		"of the future":   {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricInvalid, UpdateTime: &metav1.Time{Time: fixtureNow.Add(time.Hour)}}, "<future>(Invalid)", "NodeMetric Invalid, updated in the future", Bad},
		"with a problem":  {diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricInvalid, UpdateTime: fresh, Problem: "no usage"}, "42s(Invalid)", "NodeMetric Invalid, 42s old: no usage", Bad},
		"of an agent that cannot write": {
			diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricFresh, UpdateTime: fresh, NotEnforcing: "read-only file system"}, "42s(NotEnforcing)", "NodeMetric Fresh, 42s old", Bad,
		},
		"of one that is gone as well": {
			diagnosticsv1alpha1.MetricFacts{State: diagnosticsv1alpha1.MetricExpired, UpdateTime: before(20 * time.Minute), NotEnforcing: "read-only file system"}, "20m(Expired)", "NodeMetric Expired, 20m old", Bad,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := Options{Now: fixtureNow}
			if got := metricAge(tc.facts, o); got.text != tc.wantCell || got.role != tc.wantRole {
				t.Errorf("column %+v, want %q in role %d", got, tc.wantCell, tc.wantRole)
			}
			if got := metricSentence(tc.facts, o); got != tc.wantPhrase {
				t.Errorf("sentence %q, want %q", got, tc.wantPhrase)
			}
		})
	}
}

func TestNodesAreReadyOrNot(t *testing.T) {
	tests := map[string]struct {
		ready, cordoned bool
		want            string
		wantRole        Role
	}{
		"ready":              {true, false, "Ready", Plain},
		"cordoned":           {true, true, "Ready,SchedulingDisabled", Warn},
		"down":               {false, false, "NotReady", Bad},
		"down, and cordoned": {false, true, "NotReady,SchedulingDisabled", Bad},
	}
	for name, tc := range tests {
		got := nodeStatus(&diagnosticsv1alpha1.NodeOverview{Ready: tc.ready, Unschedulable: tc.cordoned})
		if got.text != tc.want || got.role != tc.wantRole {
			t.Errorf("%s: %+v, want %q in role %d", name, got, tc.want, tc.wantRole)
		}
	}
	for state, want := range map[diagnosticsv1alpha1.LoadState]cell{
		diagnosticsv1alpha1.LoadNormal:  painted(Good, "Normal"),
		diagnosticsv1alpha1.LoadHot:     painted(Bad, "Hot"),
		diagnosticsv1alpha1.LoadExpired: painted(Warn, "Expired"),
		diagnosticsv1alpha1.LoadUnknown: painted(Warn, "Unknown"),
		"":                              painted(Dim, "<unknown>"),
	} {
		if got := loadCell(state); got != want {
			t.Errorf("load %q: %+v, want %+v", state, got, want)
		}
	}
}

func TestOffersAreOfWhatIsRequested(t *testing.T) {
	tests := map[string]struct {
		requested, offered *int64
		want               string
		wantRole           Role
	}{
		"neither":             {new(int64(0)), nil, "<none>", Dim},
		"offered alone":       {new(int64(0)), new(int64(9500)), "0/9.5", Plain},
		"both":                {new(int64(6000)), new(int64(9500)), "6/9.5", Plain},
		"all of it":           {new(int64(9500)), new(int64(9500)), "9.5/9.5", Plain},
		"more than offered":   {new(int64(9600)), new(int64(9500)), "9.6/9.5", Warn},
		"requested, no offer": {new(int64(500)), nil, "0.5/0", Warn},
		"requests unseen":     {nil, new(int64(9500)), "?/9.5", Plain},
		"and nothing offered": {nil, nil, "?/0", Plain},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := offered(tc.requested, tc.offered, diagnosticsv1alpha1.MilliCPU); got.text != tc.want || got.role != tc.wantRole {
				t.Errorf("got %+v, want %q in role %d", got, tc.want, tc.wantRole)
			}
		})
	}
}

func TestSumsOfNodesSayWhatTheyCount(t *testing.T) {
	two := func(edit func(first, second *diagnosticsv1alpha1.NodeOverview)) *diagnosticsv1alpha1.NodeOverviewList {
		list := &diagnosticsv1alpha1.NodeOverviewList{Items: []diagnosticsv1alpha1.NodeOverview{healthyNode("worker-1"), healthyNode("worker-2")}}
		edit(&list.Items[0], &list.Items[1])
		return list
	}
	unread := two(func(first, second *diagnosticsv1alpha1.NodeOverview) {
		first.CPU.Used, second.CPU.Used = nil, nil
		first.Metric.State, second.Metric.State = diagnosticsv1alpha1.MetricUnknown, diagnosticsv1alpha1.MetricUnknown
	})
	unread.Unknown = []diagnosticsv1alpha1.UnknownInput{{Input: "nodemetrics.slo.koordinator.sh", Reason: diagnosticsv1alpha1.UnknownForbidden}}
	const whole = "2 nodes; capacity 64 cores; used 25; requested by prod 48; offered to batch 19, requested 12"
	tests := map[string]struct {
		list *diagnosticsv1alpha1.NodeOverviewList
		want string
	}{
		"all is well": {two(func(_, _ *diagnosticsv1alpha1.NodeOverview) {}), whole},
		"one is hot":  {two(func(_, second *diagnosticsv1alpha1.NodeOverview) { second.Load.State = diagnosticsv1alpha1.LoadHot }), whole + "; 1 hot"},
		"one is stale": {
			two(func(_, second *diagnosticsv1alpha1.NodeOverview) {
				second.Metric.State = diagnosticsv1alpha1.MetricStale
			}), whole + "; 1 without fresh measurements",
		},
		"one is not measured": {
			two(func(_, second *diagnosticsv1alpha1.NodeOverview) {
				second.CPU.Used, second.Metric.State = nil, diagnosticsv1alpha1.MetricAbsent
			}),
			"2 nodes; capacity 64 cores; used 12.5 (on 1 measured); requested by prod 48; offered to batch 19, requested 12; 1 without fresh measurements",
		},
		"none is measured": {
			two(func(first, second *diagnosticsv1alpha1.NodeOverview) { first.CPU.Used, second.CPU.Used = nil, nil }),
			"2 nodes; capacity 64 cores; used <unknown>; requested by prod 48; offered to batch 19, requested 12",
		},
		"pods may not be listed": {
			two(func(_, second *diagnosticsv1alpha1.NodeOverview) {
				second.CPU.ProdRequested, second.CPU.BatchRequested = nil, nil
			}),
			"2 nodes; capacity 64 cores; used 25; requested by prod <unknown>; offered to batch 19, requested <unknown>",
		},
		"NodeMetrics may not be": {unread, "2 nodes; capacity 64 cores; used <unknown>; requested by prod 48; offered to batch 19, requested 12"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := NodeTotal(tc.list); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestWhatIsWithheldIsCounted(t *testing.T) {
	held := func(resource string, n int32) diagnosticsv1alpha1.Withheld {
		return diagnosticsv1alpha1.Withheld{Resource: resource, Count: n}
	}
	for want, list := range map[string][]diagnosticsv1alpha1.Withheld{
		"": nil,
		"Not shown: 1 node, which you do not have permission to get":                   {held("nodes", 1)},
		"Not shown: 30 nodes, 1 elasticquota, which you do not have permission to get": {held("nodes", 30), held("elasticquotas.scheduling.sigs.k8s.io", 1)},
	} {
		if got := Withheld(list); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAChangeBeyondRightsSaysWhomToAsk(t *testing.T) {
	beyond := &diagnosticsv1alpha1.FixBeyondRights{Kind: "uncordon", Needs: []string{"get nodes", "patch nodes"}, Objects: 1, NodesUnlocked: 2}
	tests := map[string]struct {
		status diagnosticsv1alpha1.PodExplanationStatus
		want   string
	}{
		"none":               {diagnosticsv1alpha1.PodExplanationStatus{}, ""},
		"instead of another": {diagnosticsv1alpha1.PodExplanationStatus{FixBeyondRights: beyond}, "A change (uncordon) of 1 object would make 2 nodes available; it requires permission to get nodes, patch nodes: ask a cluster administrator"},
		"smaller than one": {
			diagnosticsv1alpha1.PodExplanationStatus{FixBeyondRights: beyond, Fix: &diagnosticsv1alpha1.Fix{}},
			"A smaller change (uncordon) of 1 object would make 2 nodes available; it requires permission to get nodes, patch nodes: ask a cluster administrator",
		},
	}
	for name, tc := range tests {
		if got := BeyondRights(&tc.status); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestVerdictsHaveTheirRoles(t *testing.T) {
	for verdict, want := range map[diagnosticsv1alpha1.PodVerdict]Role{
		diagnosticsv1alpha1.PodBound: Good, diagnosticsv1alpha1.PodSchedulable: Good, diagnosticsv1alpha1.PodFinished: Good,
		diagnosticsv1alpha1.PodUnschedulable: Bad, diagnosticsv1alpha1.PodGated: Warn, diagnosticsv1alpha1.PodUnknown: Warn, "Later": Warn,
	} {
		if got := VerdictRole(verdict); got != want {
			t.Errorf("%s has role %d, want %d", verdict, got, want)
		}
	}
	for severity, want := range map[diagnosticsv1alpha1.Severity]Role{
		diagnosticsv1alpha1.SeverityError: Bad, diagnosticsv1alpha1.SeverityWarning: Warn, diagnosticsv1alpha1.SeverityInfo: Dim, "": Dim,
	} {
		if got := SeverityRole(severity); got != want {
			t.Errorf("%q has role %d, want %d", severity, got, want)
		}
	}
}

func TestAttemptsSayWhyTheyEndedAsTheyDid(t *testing.T) {
	tests := map[string]struct {
		attempt           diagnosticsv1alpha1.SchedulingAttempt
		wantNode, wantWhy string
	}{
		"by scores": {
			diagnosticsv1alpha1.SchedulingAttempt{
				Outcome: diagnosticsv1alpha1.AttemptPlaced, NodeName: "n1", NodesFeasible: 12, Scores: []diagnosticsv1alpha1.NodeScore{{Node: "n1", Total: 361}, {Node: "n2", Total: 350}},
			}, "n1", "best of 12 nodes: n1 361, n2 350",
		},
		"by there being one node": {diagnosticsv1alpha1.SchedulingAttempt{Outcome: diagnosticsv1alpha1.AttemptPlaced, NodeName: "n1"}, "n1", "the only node that passed"},
		"by refusals": {
			diagnosticsv1alpha1.SchedulingAttempt{Outcome: diagnosticsv1alpha1.AttemptUnschedulable, Refusals: []diagnosticsv1alpha1.AttemptRefusal{
				{Reason: "Insufficient cpu", Count: 20}, {Reason: "node(s) were unschedulable", Count: 1},
			}}, "-", "20 Insufficient cpu, 1 were unschedulable",
		},
		"by an error":     {diagnosticsv1alpha1.SchedulingAttempt{Outcome: diagnosticsv1alpha1.AttemptFailed, NodeName: "n1", Message: "bind: conflict"}, "n1", "bind: conflict"},
		"by a nomination": {diagnosticsv1alpha1.SchedulingAttempt{Outcome: diagnosticsv1alpha1.AttemptUnschedulable, NominatedNodeName: "n2", Message: "waits"}, "nominated to n2", "waits"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nodeOfAttempt(&tc.attempt); got != tc.wantNode {
				t.Errorf("node %q, want %q", got, tc.wantNode)
			}
			if got := whyAttempt(&tc.attempt); got != tc.wantWhy {
				t.Errorf("why %q, want %q", got, tc.wantWhy)
			}
		})
	}
}

func TestAttemptsOfAnotherDayHaveTheirDate(t *testing.T) {
	for ago, want := range map[time.Duration]string{0: "05:06:07", 5 * time.Hour: "00:06:07", 6 * time.Hour: "2026-03-03 23:06:07", -24 * time.Hour: "2026-03-05 05:06:07"} {
		if got := clockTime(metav1.MicroTime{Time: fixtureNow.Add(-ago)}, fixtureNow); got != want {
			t.Errorf("%v ago is %q, want %q", ago, got, want)
		}
	}
}

func TestScoresLeaveOutPluginsThatGaveNothing(t *testing.T) {
	var out strings.Builder
	if err := scores(&out, boundPodFixture().Status.Placement, Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `  NODE      TOTAL  TaintToleration  LoadAwareScheduling  NodeResourcesFit
  worker-1    361              200                   88                73
  worker-5    350              200                   79                71
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	uneven := boundPodFixture().Status.Placement
	uneven.Scores[1].Plugins = uneven.Scores[1].Plugins[:1]
	out.Reset()
	if err := scores(&out, uneven, Options{}); err != nil || !strings.Contains(out.String(), "200                    -                 -\n") {
		t.Errorf("a plugin that scored one node only (%v):\n%s", err, out.String())
	}
}

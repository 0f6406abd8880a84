package framework_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/descheduler/framework"
)

// ran are the plugins of a pass in their order, with their errors.
func ran(pass framework.Pass) []string {
	var out []string
	for _, run := range pass.Plugins {
		text := run.Profile + "/" + run.Plugin + " " + run.ExtensionPoint
		if run.Error != "" {
			text += ": " + run.Error
		}
		out = append(out, text)
	}
	return out
}

func nothing(context.Context, frameworktypes.Handle, []*corev1.Node) error { return nil }

func TestAllDeschedulePluginsRunBeforeAllBalancePlugins(t *testing.T) {
	s := cluster{
		objects: objects(node("a"), node("b")), plugins: map[string]run{"One": nothing, "Two": nothing},
		config: `
profiles:
- {name: first, plugins: {balance: {enabled: [{name: One}]}, deschedule: {enabled: [{name: Two}, {name: One}]}}}
- {name: second, plugins: {balance: {enabled: [{name: Two}]}, deschedule: {enabled: [{name: One}]}}}
`,
	}.start(t)
	want := []string{"first/Two Deschedule", "first/One Deschedule", "second/One Deschedule", "first/One Balance", "second/Two Balance"}
	if diff := cmp.Diff(want, ran(s.pass(t))); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
}

func TestAPluginThatFailsEndsItsOwnPartOnly(t *testing.T) {
	s := cluster{
		objects: objects(node("a"), node("b"), pod("web", "a")),
		plugins: map[string]run{
			"Panics": func(context.Context, frameworktypes.Handle, []*corev1.Node) error { panic("index out of range") },
			"Fails": func(ctx context.Context, handle frameworktypes.Handle, nodes []*corev1.Node) error {
				_ = everything(ctx, handle, nodes)
				return errors.New("no metrics")
			},
			"Works": nothing,
		},
		config: "profiles: [{plugins: {deschedule: {enabled: [{name: Panics}, {name: Fails}]}, balance: {enabled: [{name: Works}]}}}]",
	}.start(t)
	pass := s.pass(t)
	want := []string{"koord-descheduler/Panics Deschedule: panic: index out of range", "koord-descheduler/Fails Deschedule: no metrics", "koord-descheduler/Works Balance"}
	if diff := cmp.Diff(want, ran(pass)); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	if len(s.allJobs(t)) != 1 {
		t.Error("what a plugin evicted before it failed is lost")
	}
	wantMetrics := `
# HELP descheduler_passes_total Passes by the result: completed, incomplete when a plugin failed, skipped when there were not two ready nodes, or error.
# TYPE descheduler_passes_total counter
descheduler_passes_total{result="incomplete"} 1
`
	if err := testutil.GatherAndCompare(s.registry, strings.NewReader(wantMetrics), "descheduler_passes_total"); err != nil {
		t.Error(err)
	}
}

func TestAPassNeedsTwoReadyNodes(t *testing.T) {
	notReady := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }
	pool := func(n *corev1.Node) { n.Labels["pool"] = "shared" }
	tests := map[string]struct {
		nodes  []runtime.Object
		config string
		want   string
	}{
		"two":                       {nodes: []runtime.Object{node("a"), node("b")}},
		"none":                      {want: "0 ready nodes are selected, and a pass needs at least 2"},
		"one is not ready":          {nodes: []runtime.Object{node("a"), node("b", notReady)}, want: "1 ready nodes are selected, and a pass needs at least 2"},
		"one is selected":           {nodes: []runtime.Object{node("a", pool), node("b")}, config: "nodeSelector: {matchLabels: {pool: shared}}\n", want: "1 ready nodes are selected, and a pass needs at least 2"},
		"two of three are selected": {nodes: []runtime.Object{node("a", pool), node("b", pool), node("c")}, config: "nodeSelector: {matchLabels: {pool: shared}}\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := cluster{objects: test.nodes, plugins: map[string]run{"Works": nothing}, config: test.config + profileOf("balance", "Works", "{}")}.start(t)
			pass := s.pass(t)
			if pass.Skipped != test.want || (len(pass.Plugins) == 0) != (test.want != "") {
				t.Errorf("skipped %q, plugins %v; want %q", pass.Skipped, ran(pass), test.want)
			}
		})
	}
}

func TestPluginsSeeTheNodesOfTheirProfile(t *testing.T) {
	var seen []string
	look := func(_ context.Context, _ frameworktypes.Handle, nodes []*corev1.Node) error {
		for _, node := range nodes {
			seen = append(seen, node.Name)
		}
		return nil
	}
	gpu := func(n *corev1.Node) { n.Labels["accelerator"] = "gpu" }
	s := cluster{
		objects: objects(node("c", gpu), node("a", gpu), node("b")), plugins: map[string]run{"Look": look},
		config: "profiles: [{nodeSelector: {matchLabels: {accelerator: gpu}}, plugins: {balance: {enabled: [{name: Look}]}}}]",
	}.start(t)
	pass := s.pass(t)
	if diff := cmp.Diff([]string{"a", "c"}, seen); diff != "" || pass.Nodes != 3 || pass.Plugins[0].Nodes != 2 {
		t.Errorf("the pass is %+v; nodes (-want +got):\n%s", pass, diff)
	}
}

func TestAPassEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var refused error
	s := cluster{
		objects: objects(node("a"), node("b")),
		plugins: map[string]run{
			"Slow": func(ctx context.Context, handle frameworktypes.Handle, _ []*corev1.Node) error {
				if _, ok := ctx.Deadline(); !ok {
					t.Error("the pass has no deadline")
				}
				cancel()
				refused = handle.Evictor().Evict(ctx, pod("web", "a"), evictions.EvictOptions{})
				return nil
			},
			"Late": nothing,
		},
		config: "profiles: [{plugins: {deschedule: {enabled: [{name: Slow}]}, balance: {enabled: [{name: Late}]}}}]",
	}.start(t)
	pass, err := s.RunOnce(ctx)
	if err != nil || !errors.Is(refused, context.Canceled) {
		t.Errorf("errors are %v and %v", err, refused)
	}
	want := []string{"koord-descheduler/Slow Deschedule", "koord-descheduler/Late Balance: not run: context canceled"}
	if diff := cmp.Diff(want, ran(pass)); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
}

func TestAPassThatDoesNotKnowTheJobsEvictsNothing(t *testing.T) {
	s := cluster{
		objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Everything": everything}, config: profileOf("deschedule", "Everything", "{}"),
		intercept: interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("the API server does not answer")
		}},
	}.start(t)
	pass, err := s.RunOnce(t.Context())
	if err == nil || len(pass.Plugins) != 0 || !strings.Contains(pass.Error, "list migration jobs") {
		t.Errorf("error %v, pass %+v", err, pass)
	}
}

func TestEvictionsAreMadeDuringAPassOnly(t *testing.T) {
	var kept frameworktypes.Handle
	keep := func(_ context.Context, handle frameworktypes.Handle, _ []*corev1.Node) error {
		kept = handle
		return nil
	}
	s := cluster{objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Keep": keep}, config: profileOf("balance", "Keep", "{}")}.start(t)
	s.pass(t)
	if err := kept.Evictor().Evict(t.Context(), pod("web", "a"), evictions.EvictOptions{}); err == nil || len(s.allJobs(t)) != 0 {
		t.Errorf("error %v, %d jobs", err, len(s.allJobs(t)))
	}
}

func TestADryRunRecordsWhatItWouldDo(t *testing.T) {
	s := cluster{
		objects: objects(node("a"), node("b"), pod("web", "a"), pod("kept", "a", labelled("migrate", "never"))), plugins: map[string]run{"Everything": everything, "Look": func(_ context.Context, handle frameworktypes.Handle, _ []*corev1.Node) error {
			if !handle.(framework.Handle).DryRun() {
				t.Error("the plugin does not know of the dry run")
			}
			return nil
		}},
		config: "dryRun: true\nprofiles: [{plugins: {deschedule: {enabled: [{name: Everything}]}, balance: {enabled: [{name: Everything}, {name: Look}]}}}]",
	}.start(t)
	pass := s.pass(t)
	job := pass.Evictions[0].Job
	want := []framework.Eviction{{
		Profile: "koord-descheduler", Plugin: "Everything", Namespace: "default", Pod: "web", UID: "uid-web", Node: "a",
		Reason: "everything goes", Result: framework.WouldCreateJob, Job: job,
	}}
	if diff := cmp.Diff(want, pass.Evictions); diff != "" || job == "" {
		t.Errorf("evictions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"MigrationController": 1}, pass.Plugins[0].Refused); diff != "" || pass.Plugins[0].Considered != 2 {
		t.Errorf("considered %d; refused (-want +got):\n%s", pass.Plugins[0].Considered, diff)
	}
	if len(s.allJobs(t)) != 0 || len(s.Passes()) != 1 {
		t.Errorf("%d jobs and %d records", len(s.allJobs(t)), len(s.Passes()))
	}
}

func TestTheLastPassesAreKept(t *testing.T) {
	s := cluster{objects: objects(node("a"), node("b")), config: "dryRun: false"}.start(t)
	for range 20 {
		s.pass(t)
	}
	passes := s.Passes()
	if len(passes) != 16 || !slices.IsSortedFunc(passes, func(a, b framework.Pass) int { return a.Start.Compare(b.Start) }) {
		t.Errorf("%d passes are kept, want the last 16 in their order", len(passes))
	}
}

func TestAConfigurationThatCannotBeBuiltLeavesTheOneBefore(t *testing.T) {
	c := cluster{objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Everything": everything}, config: profileOf("deschedule", "Everything", "{}")}
	s := c.start(t)
	// The priority class does not exist, which DefaultEvictor finds out when it is built.
	err := s.SetConfiguration(t.Context(), c.read(t, "profiles: [{plugins: {filter: {enabled: [{name: DefaultEvictor}]}}, pluginConfig: [{name: DefaultEvictor, args: {priorityThreshold: {name: missing}}}]}]"))
	if err == nil || !strings.Contains(err.Error(), "profile koord-descheduler: build plugin DefaultEvictor") {
		t.Errorf("error is %v", err)
	}
	if s.pass(t); len(s.allJobs(t)) != 1 {
		t.Error("the configuration before is not in force")
	}
}

func TestArgumentsThatChangeTakeEffectInTheNextPass(t *testing.T) {
	namespaced := func(team string) string {
		return "profiles: [{plugins: {deschedule: {enabled: [{name: Everything}]}, filter: {enabled: [{name: DefaultEvictor}]}}, pluginConfig: [{name: DefaultEvictor, args: {namespaceLabelSelector: {matchLabels: {team: " + team + "}}}}]}]"
	}
	checked := func(ctx context.Context, handle frameworktypes.Handle, nodes []*corev1.Node) error {
		pods, err := handle.GetPodsAssignedToNodeFunc()(nodes[0].Name, handle.Evictor().PreEvictionFilter)
		for _, pod := range pods {
			err = handle.Evictor().Evict(ctx, pod, evictions.EvictOptions{})
		}
		return err
	}
	in := func(namespace string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Namespace = namespace } }
	namespace := func(team string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team, Labels: map[string]string{"team": team}}}
	}
	c := cluster{
		objects: []runtime.Object{node("a"), node("b"), namespace("red"), namespace("blue"), pod("web", "a", in("red")), pod("cache", "a", in("blue"))},
		plugins: map[string]run{"Everything": checked}, config: namespaced("red"),
	}
	s := c.start(t)
	s.pass(t)
	if diff := cmp.Diff([]string{"red/web"}, sortedKeys(s.migrating(t))); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	if err := s.SetConfiguration(t.Context(), c.read(t, namespaced("blue"))); err != nil {
		t.Fatal(err)
	}
	s.pass(t)
	if diff := cmp.Diff([]string{"blue/cache", "red/web"}, sortedKeys(s.migrating(t))); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
}

func TestRunMakesOnePassWithoutAnInterval(t *testing.T) {
	s := cluster{objects: objects(node("a"), node("b")), config: "leaderElection: {leaderElect: false}\ndeschedulingInterval: 0s"}.start(t)
	if err := s.Run(t.Context()); err != nil || len(s.Passes()) != 1 {
		t.Errorf("error %v, %d passes", err, len(s.Passes()))
	}
}

func TestRunMakesPassesUntilItsContextEndsAndFollowsTheInterval(t *testing.T) {
	passes := make(chan struct{}, 10)
	c := cluster{
		objects: objects(node("a"), node("b")), config: "deschedulingInterval: 24h\n" + profileOf("balance", "Signal", "{}"),
		plugins: map[string]run{"Signal": func(context.Context, frameworktypes.Handle, []*corev1.Node) error {
			passes <- struct{}{}
			return nil
		}},
	}
	s := c.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-passes
	// A shorter interval is not waited for until the longer one is over.
	if err := s.SetConfiguration(ctx, c.read(t, "deschedulingInterval: 1s\n"+profileOf("balance", "Signal", "{}"))); err != nil {
		t.Fatal(err)
	}
	select {
	case <-passes:
	case <-ctx.Done():
		t.Error("no second pass")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

package framework_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/descheduler/framework"
)

// everything evicts all pods of all nodes, and goes on after limits.
func everything(ctx context.Context, handle frameworktypes.Handle, nodes []*corev1.Node) error {
	for _, node := range nodes {
		pods, err := handle.GetPodsAssignedToNodeFunc()(node.Name, handle.Evictor().Filter)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			_ = handle.Evictor().Evict(ctx, pod, evictions.EvictOptions{Reason: "everything goes"})
		}
	}
	return nil
}

// atOnce does the same for all pods in parallel.
func atOnce(ctx context.Context, handle frameworktypes.Handle, nodes []*corev1.Node) error {
	var all sync.WaitGroup
	for _, node := range nodes {
		pods, err := handle.GetPodsAssignedToNodeFunc()(node.Name, nil)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			for range 2 {
				all.Go(func() { _ = handle.Evictor().Evict(ctx, pod, evictions.EvictOptions{}) })
			}
		}
	}
	all.Wait()
	return nil
}

type run = func(ctx context.Context, handle frameworktypes.Handle, nodes []*corev1.Node) error

// crowd is nodes with pods in two namespaces.
func crowd(nodes, podsOfEach int) []runtime.Object {
	all := objects()
	for n := range nodes {
		name := fmt.Sprintf("node-%d", n)
		all = append(all, node(name))
		for i := range podsOfEach {
			all = append(all, pod(fmt.Sprintf("pod-%d-%d", n, i), name, func(p *corev1.Pod) { p.Namespace = fmt.Sprintf("namespace-%d", i%2) }))
		}
	}
	return all
}

func TestLimitsHoldForAllProfilesOfAPass(t *testing.T) {
	two := "profiles: [{name: first, plugins: {deschedule: {enabled: [{name: Everything}]}}}, {name: second, plugins: {balance: {enabled: [{name: AtOnce}]}}}]\n"
	tests := map[string]struct {
		config string
		// most are the evictions by node and by namespace, at most.
		wantTotal, wantPerNode, wantPerNamespace int
	}{
		"no limit":      {config: two, wantTotal: 24, wantPerNode: 8, wantPerNamespace: 12},
		"total":         {config: two + "maxNoOfPodsToEvictTotal: 5", wantTotal: 5, wantPerNode: 5, wantPerNamespace: 5},
		"per node":      {config: two + "maxNoOfPodsToEvictPerNode: 2", wantTotal: 6, wantPerNode: 2, wantPerNamespace: 6},
		"per namespace": {config: two + "maxNoOfPodsToEvictPerNamespace: 4", wantTotal: 8, wantPerNode: 8, wantPerNamespace: 4},
		"zero":          {config: two + "maxNoOfPodsToEvictTotal: 0"},
		"dry run":       {config: two + "maxNoOfPodsToEvictPerNode: 2\ndryRun: true", wantTotal: 6, wantPerNode: 2, wantPerNamespace: 6},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := cluster{objects: crowd(3, 8), config: test.config, plugins: map[string]run{"Everything": everything, "AtOnce": atOnce}}.start(t)
			pass := s.pass(t)
			total, perNode, perNamespace, evicted := 0, map[string]int{}, map[string]int{}, 0
			for _, eviction := range pass.Evictions {
				if eviction.Result == framework.JobCreated || eviction.Result == framework.WouldCreateJob {
					total++
					perNode[eviction.Node]++
					perNamespace[eviction.Namespace]++
				}
			}
			for _, plugin := range pass.Plugins {
				evicted += plugin.Evicted
			}
			if total != test.wantTotal || evicted != total {
				t.Errorf("%d evictions are recorded and %d counted, want %d", total, evicted, test.wantTotal)
			}
			for _, of := range []struct {
				counts map[string]int
				most   int
			}{{perNode, test.wantPerNode}, {perNamespace, test.wantPerNamespace}} {
				for key, count := range of.counts {
					if count > of.most {
						t.Errorf("%d evictions from %s, want at most %d", count, key, of.most)
					}
				}
			}
			wantJobs := total
			if pass.DryRun {
				wantJobs = 0
			}
			if jobs := s.allJobs(t); len(jobs) != wantJobs {
				t.Errorf("%d jobs, want %d", len(jobs), wantJobs)
			}
		})
	}
}

func TestEachPassHasItsOwnLimits(t *testing.T) {
	s := cluster{
		objects: crowd(2, 4), plugins: map[string]run{"Everything": everything},
		config: profileOf("deschedule", "Everything", "{}") + "maxNoOfPodsToEvictTotal: 3",
	}.start(t)
	for pass, want := range []int{3, 6, 8} {
		s.pass(t)
		if got := len(s.allJobs(t)); got != want {
			t.Errorf("%d jobs after pass %d, want %d", got, pass, want)
		}
	}
}

func TestAnEvictionThatFailsUsesUpNoLimit(t *testing.T) {
	refused := 0
	s := cluster{
		objects: objects(node("a"), node("b"), pod("pod-1", "a"), pod("pod-2", "a")), plugins: map[string]run{"Everything": everything},
		config: profileOf("deschedule", "Everything", "{}") + "maxNoOfPodsToEvictTotal: 1",
		intercept: interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if refused++; refused == 1 {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "podmigrationjobs"}, object.GetName(), errors.New("a webhook says no"))
			}
			return c.Create(ctx, object, options...)
		}},
	}.start(t)
	pass := s.pass(t)
	var results []framework.Result
	for _, eviction := range pass.Evictions {
		results = append(results, eviction.Result)
	}
	if diff := cmp.Diff([]framework.Result{framework.EvictionFailed, framework.JobCreated}, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	want := `
# HELP descheduler_evictions_requested_total Evictions that plugins asked for, by the result: success when a migration job was created, dry-run, error, loop when the workload goes in circles, or the limit that refused. descheduler_pods_evicted counts the evictions themselves.
# TYPE descheduler_evictions_requested_total counter
descheduler_evictions_requested_total{namespace="default",node="a",profile="koord-descheduler",result="error",strategy="Everything"} 1
descheduler_evictions_requested_total{namespace="default",node="a",profile="koord-descheduler",result="success",strategy="Everything"} 1
`
	if err := testutil.GatherAndCompare(s.registry, strings.NewReader(want), "descheduler_evictions_requested_total"); err != nil {
		t.Error(err)
	}
}

func TestPluginsAreToldWhichLimitIsReached(t *testing.T) {
	tests := map[string]struct {
		limit string
		want  error
	}{
		"total":         {"maxNoOfPodsToEvictTotal: 0", evictions.NewEvictionTotalLimitError()},
		"per node":      {"maxNoOfPodsToEvictPerNode: 0", evictions.NewEvictionNodeLimitError("a")},
		"per namespace": {"maxNoOfPodsToEvictPerNamespace: 0", evictions.NewEvictionNamespaceLimitError("default")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got error
			ask := func(ctx context.Context, handle frameworktypes.Handle, _ []*corev1.Node) error {
				got = handle.Evictor().Evict(ctx, pod("web", "a"), evictions.EvictOptions{})
				return nil
			}
			s := cluster{objects: objects(node("a"), node("b")), plugins: map[string]run{"Ask": ask}, config: profileOf("deschedule", "Ask", "{}") + test.limit}.start(t)
			pass := s.pass(t)
			if fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", test.want, test.want) {
				t.Errorf("error is %T %v, want %T", got, got, test.want)
			}
			if pass.Plugins[0].Limited != 1 || len(pass.Evictions) != 0 {
				t.Errorf("the pass is %+v, want one eviction that a limit refused", pass)
			}
		})
	}
}

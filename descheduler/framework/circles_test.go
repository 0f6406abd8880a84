package framework_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/nodeload"
	"koordinator.sh/koord/descheduler/framework"
	"koordinator.sh/koord/descheduler/plugins"
	"koordinator.sh/koord/descheduler/plugins/lownodeload"
	"koordinator.sh/koord/test/eventually"
)

// seesaw is a Deployment of one pod and the nodes a and b. Where the pod is, the node becomes overutilized.
type seesaw struct {
	*scene
	clock     *testingclock.FakePassiveClock
	informers informers.SharedInformerFactory
	at        string
	pods      int
}

// Reports are those of the nodes: 70% are used where the pod is, and 10% elsewhere, both without the pod.
func (s *seesaw) Reports(context.Context) (map[string]*nodeload.Report, error) {
	out := map[string]*nodeload.Report{}
	for node, cpu := range map[string]string{"a": "400m", "b": "400m", s.at: "2800m"} {
		metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node}}
		metric.Status.UpdateTime = &metav1.Time{Time: s.clock.Now()}
		metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{SystemUsage: usageOf(cpu)}
		if node == s.at {
			metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{{Namespace: "default", Name: s.pod(), PodUsage: usageOf("800m")}}
		}
		out[node] = nodeload.Of(metric)
	}
	return out, nil
}

func usageOf(cpu string) slov1alpha1.ResourceMap {
	return slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("64Mi")}}
}

func (s *seesaw) pod() string { return fmt.Sprintf("web-%d", s.pods) }

// replica is the pod of the Deployment at its place.
func (s *seesaw) replica() *corev1.Pod {
	return pod(s.pod(), s.at, ownedBy("web"), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour)) })
}

// newSeesaw starts a descheduler with one plugin.
func newSeesaw(t *testing.T, point, plugin, args string, edit func(*cluster)) *seesaw {
	t.Helper()
	s := &seesaw{at: "a", clock: testingclock.NewFakePassiveClock(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web", UID: "rs-web", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-web", Controller: new(true)}},
	}}
	c := cluster{
		objects: objects(node("a"), node("b"), s.replica()), jobs: []client.Object{set}, config: profileOf(point, plugin, args),
		plugins: map[string]run{"Everything": everything, "AtOnce": atOnce},
		sources: plugins.Sources{LowNodeLoad: lownodeload.Sources{
			NodeMetrics: s, Store: &lownodeload.MemoryStore{}, Now: s.clock.Now, Interval: func() time.Duration { return 2 * time.Minute },
		}},
		intercept: interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetCreationTimestamp(metav1.NewTime(s.clock.Now()))
			return c.Create(ctx, object, options...)
		}},
		edit: func(config *framework.Config) {
			config.Clock = s.clock
			s.informers = informers.NewSharedInformerFactory(config.Client, 0)
			config.Informers = s.informers
		},
	}
	if edit != nil {
		edit(&c)
	}
	s.scene = c.start(t)
	return s
}

// settle carries out the jobs that were made: the arbitrator lets them start, and the pod moves to the other node.
func (s *seesaw) settle(t *testing.T) (moved bool) {
	t.Helper()
	for _, job := range s.allJobs(t) {
		if job.Status.Phase != "" {
			continue
		}
		moved = true
		from := s.at
		s.move(t, map[string]string{"a": "b", "b": "a"}[from])
		arbitration.Admit(&job, arbitration.Admission{Node: from, Workload: "uid-web", Title: "Deployment/web"})
		if err := s.jobs.Update(t.Context(), &job); err != nil {
			t.Fatal(err)
		}
		job.Status.Phase, job.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, s.at
		if err := s.jobs.Status().Update(t.Context(), &job); err != nil {
			t.Fatal(err)
		}
	}
	return moved
}

// move replaces the pod by one on another node, and waits until the descheduler sees that.
func (s *seesaw) move(t *testing.T, to string) {
	t.Helper()
	pods, former := s.kube.CoreV1().Pods("default"), s.pod()
	if err := pods.Delete(t.Context(), former, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.at, s.pods = to, s.pods+1
	if _, err := pods.Create(t.Context(), s.replica(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	lister := s.informers.Core().V1().Pods().Lister().Pods("default")
	eventually.True(t, "the informer shows that "+former+" is replaced", func() bool {
		_, gone := lister.Get(former)
		_, missing := lister.Get(s.pod())
		return gone != nil && missing == nil
	})
}

// TestNoPluginMovesAWorkloadInCircles: whatever moves a pod from a to b and back does so once, and again when the first of these moves has
// left the history.
func TestNoPluginMovesAWorkloadInCircles(t *testing.T) {
	const hot = "{lowThresholds: {cpu: 45}, highThresholds: {cpu: 75}, anomalyCondition: {consecutiveAbnormalities: 1}}"
	for plugin, test := range map[string]struct {
		point, args string
		// wantRefused is how often a filter refused in the last pass: a plugin that does not filter is refused the eviction.
		wantRefused int
	}{
		"LowNodeLoad": {"balance", hot, 1},
		"PodLifeTime": {"deschedule", "{maxPodLifeTimeSeconds: 60}", 1},
		"Everything":  {"deschedule", "{}", 1},
		"AtOnce":      {"balance", "{}", 2},
	} {
		t.Run(plugin, func(t *testing.T) {
			s := newSeesaw(t, test.point, plugin, test.args, nil)
			start, moves := s.clock.Now(), 0
			var last framework.Pass
			for s.clock.Since(start) < 24*time.Hour {
				last = s.pass(t)
				if s.settle(t) {
					moves++
				}
				s.clock.SetTime(s.clock.Now().Add(time.Hour))
			}
			if moves != 2 {
				t.Errorf("%d moves in a day of passes, want one away and one back", moves)
			}
			if got := last.Plugins[0].Refused["MigrationLoop"]; got != test.wantRefused {
				t.Errorf("the last pass is %+v, want %d refusals because of MigrationLoop", last, test.wantRefused)
			}
			if len(last.Stopped) != 1 || last.Stopped[0].Code != finding.MigrationLoop || last.Stopped[0].Workload != "Deployment/web/uid-web" {
				t.Errorf("stopped %+v, want the Deployment with %s", last.Stopped, finding.MigrationLoop)
			}
			if s.pass(t); !s.settle(t) {
				t.Error("it is not moved when its first move has left the history")
			}
		})
	}
}

// TestTheWorkloadOfAPodIsLookedUp: it is the Deployment of its ReplicaSet, and where that cannot be told, the pod stays.
func TestTheWorkloadOfAPodIsLookedUp(t *testing.T) {
	circle := func(workload string) func(context.Context, []schedulingv1alpha1.PodMigrationJob) ([]loopguard.Move, error) {
		at := time.Date(2026, 3, 4, 11, 0, 0, 0, time.UTC)
		return func(context.Context, []schedulingv1alpha1.PodMigrationJob) ([]loopguard.Move, error) {
			return []loopguard.Move{
				{Workload: workload, Pod: "default/web-8", From: "a", To: "b", At: at}, {Workload: workload, Pod: "default/web-9", From: "b", To: "a", At: at.Add(time.Minute)},
			}, nil
		}
	}
	const stopped = "KOORD1501: Deployment/web/uid-web left node a and was moved back to it from b 1m0s later; plugins do not move its pods until 2026-03-05T11:00:00Z"
	reading := func(failure error) interceptor.Funcs {
		return interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return failure
		}}
	}
	tests := map[string]struct {
		workload string
		edit     func(*cluster)
		pod      func(*corev1.Pod)
		want     string
	}{
		"the Deployment goes in circles":      {workload: "Deployment/web/uid-web", want: stopped},
		"another one of the namespace does":   {workload: "Deployment/db/uid-db"},
		"the ReplicaSet itself does":          {workload: "ReplicaSet/web/rs-web", want: "KOORD1501: ReplicaSet/web/rs-web left node a and was moved back to it from b 1m0s later; plugins do not move its pods until 2026-03-05T11:00:00Z"},
		"a pod without a controller":          {workload: "Deployment/web/uid-web", pod: func(p *corev1.Pod) { p.OwnerReferences = nil }},
		"a pod of another namespace":          {workload: "Deployment/web/uid-web", pod: func(p *corev1.Pod) { p.Namespace = "bank" }},
		"a pod of a StatefulSet":              {workload: "Deployment/web/uid-web", pod: func(p *corev1.Pod) { p.OwnerReferences[0].Kind, p.OwnerReferences[0].UID = "StatefulSet", "set" }},
		"a ReplicaSet that is not there":      {workload: "Deployment/db/uid-db", edit: func(c *cluster) { c.jobs = nil }, want: "whether its workload goes in circles is unknown: ReplicaSet web is not found"},
		"a ReplicaSet without a Deployment":   {workload: "Deployment/db/uid-db", edit: func(c *cluster) { c.jobs[0].SetOwnerReferences(nil) }},
		"a ReplicaSet that cannot be read":    {workload: "Deployment/db/uid-db", edit: func(c *cluster) { c.intercept = reading(errors.New("timeout")) }, want: "whether its workload goes in circles is unknown: get ReplicaSet default/web: timeout"},
		"no look-up where none is in circles": {workload: "", edit: func(c *cluster) { c.intercept = reading(errors.New("timeout")) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var err error
			evict := func(ctx context.Context, handle frameworktypes.Handle, _ []*corev1.Node) error {
				p := pod("web-0", "a", ownedBy("web"))
				if test.pod != nil {
					test.pod(p)
				}
				err = handle.Evictor().Evict(ctx, p, evictions.EvictOptions{})
				return nil
			}
			s := newSeesaw(t, "deschedule", "Evict", "{}", func(c *cluster) {
				c.plugins["Evict"] = evict
				if test.edit != nil {
					test.edit(c)
				}
				edit := c.edit
				c.edit = func(config *framework.Config) {
					edit(config)
					config.Evictions = circle(test.workload)
				}
			})
			pass := s.pass(t)
			got, result := "", framework.JobCreated
			if len(pass.Evictions) != 1 {
				t.Fatalf("evictions %+v, want one", pass.Evictions)
			}
			if got = pass.Evictions[0].Error; test.want != "" {
				result = framework.InCircles
			}
			if got != test.want || pass.Evictions[0].Result != result || (err != nil) != (test.want != "") {
				t.Errorf("eviction %+v with error %v, want %s because of %q", pass.Evictions[0], err, result, test.want)
			}
		})
	}
}

// TestWhatIsStoppedIsReportedInEveryPass, with nothing where nothing is.
func TestWhatIsStoppedIsReportedInEveryPass(t *testing.T) {
	var reports [][]string
	s := newSeesaw(t, "deschedule", "Everything", "{}", func(c *cluster) {
		edit := c.edit
		c.edit = func(config *framework.Config) {
			edit(config)
			config.Stopped = func(_ context.Context, loops []loopguard.Loop) {
				names := []string{}
				for _, loop := range loops {
					names = append(names, loop.Workload)
				}
				reports = append(reports, names)
			}
		}
	})
	for range 4 {
		s.pass(t)
		s.settle(t)
		s.clock.SetTime(s.clock.Now().Add(time.Minute))
	}
	if diff := cmp.Diff([][]string{{}, {}, {"Deployment/web/uid-web"}, {"Deployment/web/uid-web"}}, reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// TestTheHistoryWindowIsThatOfThePlanner: the longest of all profiles.
func TestTheHistoryWindowIsThatOfThePlanner(t *testing.T) {
	planning := func(name, window string) string {
		return "{name: " + name + ", plugins: {balance: {enabled: [{name: LoadAwareRebalancing}]}}, pluginConfig: [{name: LoadAwareRebalancing, args: {historyWindow: " + window + "}}]}"
	}
	for config, want := range map[string]time.Duration{
		profileOf("balance", "LowNodeLoad", "{}"):                                   24 * time.Hour,
		"profiles: [" + planning("one", "3h") + "]":                                 3 * time.Hour,
		"profiles: [" + planning("one", "3h") + ", " + planning("two", "48h") + "]": 48 * time.Hour,
	} {
		if got := (cluster{}).read(t, config).HistoryWindow(); got != want {
			t.Errorf("the window is %s, want %s of %s", got, want, config)
		}
	}
}

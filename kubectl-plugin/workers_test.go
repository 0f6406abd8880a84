package kubectlplugin

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// engine is ElasticWorkers that koord-manager sized four seconds before now.
func engine(namespace, name string, current, desired int32, limitedBy string) schedulingv1alpha1.ElasticWorkers {
	w := schedulingv1alpha1.ElasticWorkers{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Generation: 1, Labels: map[string]string{"engine": name}, CreationTimestamp: metav1.NewTime(testNow.Add(-time.Hour)),
	}}
	w.Spec = schedulingv1alpha1.ElasticWorkersSpec{
		TargetRef: schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: name + "-worker"}, MinReplicas: 1, MaxReplicas: 20,
		Drain: &schedulingv1alpha1.ElasticWorkersDrain{Evict: &schedulingv1alpha1.ElasticWorkersDrainEvict{}},
	}
	decided := metav1.NewTime(testNow.Add(-4 * time.Second))
	w.Status = schedulingv1alpha1.ElasticWorkersStatus{
		ObservedGeneration: 1, UpdateTime: &decided, CurrentReplicas: current, DesiredReplicas: desired, LimitedBy: limitedBy,
		Message: "the size is limited by " + limitedBy,
		Terms:   []schedulingv1alpha1.ElasticWorkersTerm{{Name: "fitsNow", Operator: "start", Value: 12}, {Name: "desired", Operator: "result", Value: int64(desired)}},
		Conditions: []metav1.Condition{{
			Type: schedulingv1alpha1.ElasticWorkersActive, Status: metav1.ConditionTrue, Reason: "Sized", LastTransitionTime: metav1.NewTime(testNow.Add(-50 * time.Minute)),
		}},
	}
	return w
}

// refusedEngine is one whose target is not sized.
func refusedEngine(namespace, name, reason, message string) schedulingv1alpha1.ElasticWorkers {
	w := engine(namespace, name, 4, 0, "")
	w.Status.Terms, w.Status.Message, w.Status.UpdateTime = nil, message, nil
	w.Status.Conditions[0].Status, w.Status.Conditions[0].Reason = metav1.ConditionFalse, reason
	return w
}

// engineCluster has one engine that shrinks, one that a HorizontalPodAutoscaler scales, and of another namespace one that was never sized and one
// of which koord-manager has stopped deciding.
func engineCluster() *livetest.Server {
	server := cluster()
	trino := engine("shop", "trino", 9, 7, "headroom")
	for _, worker := range []string{"trino-worker-a", "trino-worker-b"} {
		trino.Status.Draining = append(trino.Status.Draining, schedulingv1alpha1.ElasticWorkersDraining{
			Name: worker, Node: "worker-1", Since: metav1.NewTime(testNow.Add(-time.Minute)), Deadline: metav1.NewTime(testNow.Add(9 * time.Minute)),
			Reason: "the youngest go first", Message: "was asked to finish",
		})
	}
	fresh := engine("spark", "fresh", 0, 0, "")
	fresh.Status = schedulingv1alpha1.ElasticWorkersStatus{}
	late := engine("spark", "spark", 12, 12, "maxReplicas")
	late.Status.UpdateTime.Time = testNow.Add(-time.Hour)
	server.Lists = map[string]runtime.Object{"elasticworkers": &schedulingv1alpha1.ElasticWorkersList{Items: []schedulingv1alpha1.ElasticWorkers{
		late, trino, refusedEngine("shop", "presto", "TargetAutoscaled", `Deployment "presto-worker" is scaled by horizontalpodautoscaler "by-load"`), fresh,
	}}}
	server.Events = append(server.Events,
		happened("ElasticWorkers", "shop", "trino", "koord-manager", "WorkerChosen", "Worker trino-worker-a goes until 2026-02-03T04:14:06Z: the youngest go first", 60),
		happened("ElasticWorkers", "shop", "trino", "koord-manager", "Scaled", "Scaled Deployment trino-worker from 4 to 9: 9 workers, limited by headroom", 600))
	return server
}

func TestElasticWorkersPrint(t *testing.T) {
	denied := func(rights ...string) func(*livetest.Server) {
		return func(s *livetest.Server) { s.Denied = rights }
	}
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"top-workers":                  {line: "top workers"},
		"top-workers-all":              {line: "top workers -A"},
		"top-workers-all-wide":         {line: "top elasticworkers -A -o wide"},
		"top-workers-sorted":           {line: "top ew -A --sort-by=state"},
		"top-workers-by-size":          {line: "top ew -A --sort-by=desired -o name"},
		"top-workers-selected":         {line: "top workers -A -l engine=trino -L engine"},
		"top-workers-named":            {line: "top workers spark -n spark"},
		"top-workers-draining":         {line: "top workers -A -o jsonpath={.items[?(@.draining)].metadata.name}"},
		"top-workers-yaml":             {line: "top workers trino -o yaml"},
		"top-workers-unknown":          {line: "top workers trini"},
		"top-workers-unknown-of-two":   {line: "top workers trino trini"},
		"top-workers-bad-order":        {line: "top workers --sort-by=size"},
		"top-workers-none":             {line: "top workers -n empty"},
		"top-workers-names-and-all":    {line: "top workers trino -A"},
		"top-workers-not-permitted":    {line: "top workers -A", edit: denied("list elasticworkers")},
		"top-workers-without-crds":     {line: "top workers", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"top-workers-not-installed":    {line: "top workers", edit: func(s *livetest.Server) { s.Lists = nil }},
		"explain-workers":              {line: "explain workers trino"},
		"explain-workers-refused":      {line: "explain workers presto"},
		"explain-workers-stale":        {line: "why workers/spark -n spark"},
		"events-workers":               {line: "events workers trino"},
		"events-workers-typed":         {line: "events ew/trino -o name"},
		"events-workers-by-name":       {line: "events trino"},
		"events-workers-refused":       {line: "events workers presto"},
		"events-workers-unknown":       {line: "events workers trini"},
		"events-workers-no-events":     {line: "events workers trino --strict", edit: denied("list events")},
		"events-workers-not-installed": {line: "events workers trino", edit: func(s *livetest.Server) { s.Lists, s.Events = nil, nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := engineCluster()
			if tc.edit != nil {
				tc.edit(server)
			}
			golden(t, "workers/"+name, tc.line, run(t, server, tc.line))
		})
	}
}

func TestElasticWorkersFitATerminal(t *testing.T) {
	for name, width := range map[string]int{"top-workers-80": 80, "top-workers-120": 120} {
		golden(t, "workers/"+name, "top workers -A", run(t, engineCluster(), "top workers -A", func(o *Options) {
			o.Terminal = Terminal{Output: true, Width: width}
		}))
	}
}

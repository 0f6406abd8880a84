package fleet

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/simulated"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// newTestExplainer answers for sim-1, on which a service and a batch pod run, and for sim-2, whose agent has stopped.
func newTestExplainer(t *testing.T) *explainer {
	t.Helper()
	api := newAPIServer(t)
	opts, err := Options{RESTConfig: api.config(), Clock: testclock.NewFakeClock(noon)}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	c, err := connect(opts)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{opts: opts, agents: map[string]*agent{}}
	if f.informers, err = newInformers(c, opts); err != nil {
		t.Fatal(err)
	}
	for _, pod := range viewOf(testService("web-1", "sim-1"), testBatch("batch-1", "sim-1")).Pods {
		api.put("pods", pod)
		record, _ := recordPod(opts.timeline(), nil)(pod.DeepCopy())
		if err := f.informers.pods.GetIndexer().Add(record); err != nil {
			t.Fatal(err)
		}
	}
	api.put("nodeslos", &slov1alpha1.NodeSLO{
		TypeMeta:   metav1.TypeMeta{APIVersion: "slo.koordinator.sh/v1alpha1", Kind: "NodeSLO"},
		ObjectMeta: metav1.ObjectMeta{Name: "sim-1"}, Spec: *viewOf().SLO,
	})
	for name, annotations := range map[string]map[string]string{"sim-1": nil, "sim-2": {simulated.AnnotationFreezeMetrics: "true"}} {
		api.put("nodes", testNode(name, annotations))
		node, _ := recordNode(testNode(name, annotations))
		metric, _ := recordMetric(testMetric(name))
		f.agents[name] = newAgent(opts, f.informers.pods.GetIndexer(), node.(*nodeRecord), metric.(*metricRecord))
		f.agents[name].advance(noon, &host.Snapshot{})
	}
	return &explainer{fleet: f, core: c.Core.CoreV1().RESTClient(), slo: c.SLO}
}

func TestASimulatedAgentIsAsked(t *testing.T) {
	e := newTestExplainer(t)
	answer, err := e.Explain(t.Context(), "sim-1", &diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{
		diagnosticsv1alpha1.SectionSuppression, diagnosticsv1alpha1.SectionEvictions, diagnosticsv1alpha1.SectionPods,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Component != "simulated-koordlet" || answer.ObservedAt == nil || !strings.HasSuffix(answer.Cgroups, "imitated") || len(answer.Pods) != 2 {
		t.Fatalf("answer %+v", answer)
	}
	for _, pod := range answer.Pods {
		if len(pod.Settings) == 0 {
			t.Errorf("nothing is set for %s", pod.Name)
		}
	}
	if budget := answer.Suppression.Budget; budget == nil || budget.Result >= 12000 {
		t.Errorf("the budget %+v is not less than three quarters of the node", budget)
	}
	if trend := answer.Evictions.Trend; trend == nil || trend.Samples < 20 {
		t.Errorf("the forecast has the trend %+v", trend)
	}
}

func TestASimulatedAgentRemembersHalfAnHour(t *testing.T) {
	e := newTestExplainer(t)
	answer, err := e.Explain(t.Context(), "sim-1", &diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionUsage}})
	if err != nil || answer.Usage == nil {
		t.Fatalf("answer %+v, %v", answer, err)
	}
	moments := answer.Usage.Moments
	if len(moments) < 55 {
		t.Fatalf("%d moments of half an hour", len(moments))
	}
	for i, m := range moments {
		if age := noon.Sub(m.Time.Time); age < 0 || age > 31*time.Minute || i > 0 && !m.Time.After(moments[i-1].Time.Time) {
			t.Fatalf("moment %d is of %s", i, m.Time)
		}
		if parts := m.CPU.ProdUsed + m.CPU.BatchUsed + m.CPU.SystemUsed; m.CPU.ProdUsed <= 0 || m.CPU.BatchUsed <= 0 || parts > m.CPU.Used+3 {
			t.Fatalf("moment %d has %+v", i, m.CPU)
		}
	}
}

func TestASimulatedAgentThatDoesNotAnswer(t *testing.T) {
	e := newTestExplainer(t)
	if _, err := e.Explain(t.Context(), "sim-2", &diagnosticsv1alpha1.AgentQuestion{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("an agent that has stopped answers: %v", err)
	}
	if _, err := e.Explain(t.Context(), "sim-3", &diagnosticsv1alpha1.AgentQuestion{}); !apierrors.IsNotFound(err) {
		t.Errorf("the agent of a node that is not there answers: %v", err)
	}
}

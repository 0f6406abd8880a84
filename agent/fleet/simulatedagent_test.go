package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

// testBatch is a running batch pod of one core and 2 GiB, limited to two cores.
func testBatch(name, node string) *corev1.Pod {
	pod := testService(name, node)
	pod.Labels[extension.LabelPodQoS] = string(extension.QoSBE)
	pod.Spec.Priority, pod.Status.QOSClass = new(int32(5500)), corev1.PodQOSBestEffort
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{extension.BatchCPU: resource.MustParse("1000"), extension.BatchMemory: resource.MustParse("2Gi")},
		Limits:   corev1.ResourceList{extension.BatchCPU: resource.MustParse("2000"), extension.BatchMemory: resource.MustParse("2Gi")},
	}
	return pod
}

// viewOf a node that uses ten of its sixteen CPUs, of which best effort may use two, and yields.
func viewOf(pods ...*corev1.Pod) *agentview.Node {
	return &agentview.Node{
		Now: noon, Object: testNode("sim-1", nil), Pods: pods, Observation: freshness.Observation{At: noon, Period: DefaultSamplePeriod},
		Used: podrequest.Amount{MilliCPU: 10000, Memory: 20 << 30},
		PodUsed: func(pod *corev1.Pod) (podrequest.Amount, bool) {
			return podrequest.Amount{MilliCPU: 4000, Memory: 8 << 30}, pod.Name == "web-1"
		},
		SLO: &slov1alpha1.NodeSLOSpec{
			ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), CPUSuppressThresholdPercent: new(int64(75)), CPUSuppressPolicy: slov1alpha1.CPUSetPolicy},
			ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{BEClass: &slov1alpha1.ResourceQOS{
				CPUQOS: &slov1alpha1.CPUQOSCfg{Enable: new(true), CPUQOS: slov1alpha1.CPUQOS{GroupIdentity: new(int64(-1))}},
			}},
			CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto, CPUBurstPercent: new(int64(200))}},
		},
	}
}

// settingsOf a pod on an imitated machine, as "what setting value by owner".
func settingsOf(t *testing.T, view *agentview.Node, name string) ([]string, diagnosticsv1alpha1.AgentExplanation) {
	t.Helper()
	opts, err := Options{RESTConfig: (&apiServer{address: "unused:1"}).config(), Clock: testclock.NewFakeClock(noon)}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	record, err := recordNode(view.Object.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	machine := record.(*nodeRecord).sim
	imitation, err := newSimulatedAgent(t.Context(), &fleet{opts: opts}, view, machine.Topology(), capacity.Of(view.Object).Total)
	if err != nil {
		t.Fatal(err)
	}
	var out diagnosticsv1alpha1.AgentExplanation
	imitation.pods(&diagnosticsv1alpha1.AgentQuestion{PodNamespace: "shop", PodName: name}, &out)
	var told []string
	for _, pod := range out.Pods {
		for _, setting := range pod.Settings {
			of := setting.Container
			if of == "" {
				of = map[bool]string{true: "pod", false: "class"}[strings.Contains(setting.Cgroup, "-pod")]
			}
			if !setting.Matches {
				t.Errorf("%s of %s is %q, wanted %q: %s", setting.Setting, of, setting.Effective, setting.Desired, setting.Error)
			}
			told = append(told, strings.Join([]string{of, setting.Setting, setting.Effective, "by", setting.Owner}, " "))
		}
	}
	return told, out
}

func TestWhatIsSetForSimulatedPods(t *testing.T) {
	service := testService("web-1", "sim-1")
	service.Status.QOSClass = corev1.PodQOSBurstable
	service.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	tests := map[string]struct {
		pod  *corev1.Pod
		want []string
	}{
		"batch yields, on the CPUs that services leave": {testBatch("batch-1", "sim-1"), []string{
			"class cpu.cfs_quota_us -1 by BECPUSuppress", "class cpuset.cpus 0-1 by BECPUSuppress",
			"pod cpu.cfs_quota_us 200000 by BatchResource", "pod cpu.idle 1 by GroupIdentity",
			"pod cpu.shares 3 by GroupIdentity", "pod cpuset.cpus 0-1 by BECPUSuppress", "pod memory.limit_in_bytes 2147483648 by BatchResource",
			"main cpu.cfs_quota_us 200000 by BatchResource", "main cpu.shares 999 by BatchResource", "main cpuset.cpus 0-1 by BECPUSuppress",
			"main memory.limit_in_bytes 2147483648 by BatchResource",
		}},
		"a service saves up time": {service, []string{"pod cpu.cfs_burst_us 400000 by CPUBurst", "main cpu.cfs_burst_us 400000 by CPUBurst"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, answer := settingsOf(t, viewOf(service, testBatch("batch-1", "sim-1")), tc.pod.Name)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if !strings.HasSuffix(answer.Cgroups, "imitated") || len(answer.Incomplete) != 1 {
				t.Errorf("cgroups %q, incomplete %q: nothing says that the kernel is none", answer.Cgroups, answer.Incomplete)
			}
		})
	}
}

func TestSimulatedPodsOfWhichNothingIsSet(t *testing.T) {
	pending := testBatch("pending", "sim-1")
	pending.Status.Phase = corev1.PodPending
	unmeasured := viewOf(pending)
	unmeasured.SLO, unmeasured.Observation, unmeasured.PodUsed = nil, freshness.Observation{}, nil
	got, answer := settingsOf(t, unmeasured, "pending")
	if len(got) > 0 || len(answer.Pods) != 1 {
		t.Errorf("%q is set for a pod that does not run: %+v", got, answer.Pods)
	}
	_, answer = settingsOf(t, unmeasured, "gone")
	if len(answer.Pods) > 0 || len(answer.Incomplete) != 2 || !strings.Contains(answer.Incomplete[0], "pod shop/gone is not known") {
		t.Errorf("of a pod that is not there %+v is told, incomplete %q", answer.Pods, answer.Incomplete)
	}
}

// TestAnswersOfSimulatedAgents checks the whole answer: it leaves out what only a kernel could report.
func TestAnswersOfSimulatedAgents(t *testing.T) {
	view := viewOf()
	asked := false
	view.Settings = func(*diagnosticsv1alpha1.AgentExplanation) { asked = true }
	answer := view.Answer(&diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionFeatures}}, agentview.BySimulated, "")
	if asked || len(answer.Incomplete) == 0 {
		t.Errorf("features: settings were asked for: %t, incomplete %q", asked, answer.Incomplete)
	}
	answer = view.Answer(&diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionPods}}, agentview.BySimulated, "")
	if !asked || len(answer.Incomplete) > 0 || answer.ObservedAt == nil || answer.ObservedAt.Sub(noon) > time.Second {
		t.Errorf("pods: settings were asked for: %t, incomplete %q", asked, answer.Incomplete)
	}
}

// TestQuestionsAreAnsweredAsFastAsTheyCome: the client library's own five requests a second are for one agent.
func TestQuestionsAreAnsweredAsFastAsTheyCome(t *testing.T) {
	c, err := connect(Options{RESTConfig: (&apiServer{address: "unused:1"}).config(), QPS: 7})
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]rest.Interface{"core": c.Core.CoreV1().RESTClient(), "slo": c.SLO} {
		if got := client.GetRateLimiter().QPS(); got != readQPS {
			t.Errorf("%s: %g reads a second, want %d", name, got, readQPS)
		}
	}
	if got := c.SLOWrites.GetRateLimiter().QPS(); got != 7 {
		t.Errorf("%g writes a second, want 7", got)
	}
}

package rebalance_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	decision "koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/framework"
	"koordinator.sh/koord/descheduler/plugins"
	loadrebalance "koordinator.sh/koord/descheduler/plugins/rebalance"
)

const document = `
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
profiles:
- plugins:
    balance: {enabled: [{name: LoadAwareRebalancing}]}
  pluginConfig:
  - {name: LoadAwareRebalancing, args: %s}
`

// scene is a node with 90 % of its CPU used, of which two pods use 20 % each, and an idle node.
type scene struct {
	deployment *appsv1.Deployment
	// jobs, and autoscalers.
	jobs      []client.Object
	metricAge time.Duration
	// sources of the plugin; a review that is not said agrees with everything.
	sources loadrebalance.Sources
	// bestEffort makes the pods best-effort ones.
	bestEffort bool
	// change the pods; nil for none.
	change func(*corev1.Pod)
	// system is what the first node uses without its pods; empty for 5 cores.
	system string
}

// agree is a koord-scheduler that takes the first target of each pod.
func agree(_ context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
	answer := question.DeepCopy()
	answer.Status.Origin.Leader = true
	for _, pod := range question.Spec.Pods {
		answer.Status.Placements = append(answer.Status.Placements, diagnosticsv1alpha1.PodPlacement{
			Namespace: pod.Namespace, Name: pod.Name, Verdict: diagnosticsv1alpha1.PlacementFound, From: "hot", Node: pod.Targets[0],
		})
	}
	return answer, nil
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func metric(node string, age time.Duration, cpu string, pods ...string) *slov1alpha1.NodeMetric {
	m := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node}}
	m.Status.UpdateTime = new(metav1.NewTime(time.Now().Add(-age)))
	m.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{SystemUsage: slov1alpha1.ResourceMap{ResourceList: list(cpu, "2Gi")}}
	for _, pod := range pods {
		m.Status.PodsMetric = append(m.Status.PodsMetric, &slov1alpha1.PodMetricInfo{Namespace: "default", Name: pod, PodUsage: slov1alpha1.ResourceMap{ResourceList: list("2", "1Gi")}})
	}
	return m
}

func deployment(change func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web-uid", Generation: 1},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(4))},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 4, UpdatedReplicas: 4, ReadyReplicas: 4, AvailableReplicas: 4},
	}
	if change != nil {
		change(d)
	}
	return d
}

// autoscaler of a Deployment, with the replicas that there are and those that it wants.
func autoscaler(of string, current, desired int32) client.Object {
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "by-load"}}
	out.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: of}
	out.Status = autoscalingv2.HorizontalPodAutoscalerStatus{
		CurrentReplicas: current, DesiredReplicas: desired,
		Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue}},
	}
	return out
}

// pass runs one pass of the descheduler and returns the jobs and pods afterwards.
func (s scene) pass(t *testing.T, args string) result {
	t.Helper()
	controller := true
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web-1", UID: "web-1-uid",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "web-uid", Controller: &controller}},
	}}
	var objects []runtime.Object
	for _, name := range []string{"hot", "idle"} {
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("20Gi"), corev1.ResourcePods: resource.MustParse("20")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		}})
	}
	started := metav1.NewTime(time.Now().Add(-24 * time.Hour))
	qos := map[string]string{}
	if s.bestEffort {
		qos[extension.LabelPodQoS] = string(extension.QoSBE)
	}
	for i := range 2 {
		name := fmt.Sprintf("web-1-%d", i)
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: name, UID: types.UID(name), CreationTimestamp: started, Labels: qos,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "web-1-uid", Controller: &controller}},
			},
			Spec: corev1.PodSpec{NodeName: "hot", SchedulerName: "koord-scheduler", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list("1", "1Gi")}}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &started, Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: started},
			}},
		}
		if s.change != nil {
			s.change(pod)
		}
		objects = append(objects, pod)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{schedulingv1alpha1.AddToScheme, slov1alpha1.AddToScheme, appsv1.AddToScheme, corev1.AddToScheme, autoscalingv2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	system := "5"
	if s.system != "" {
		system = s.system
	}
	koordinator := append([]client.Object{set, s.deployment, metric("hot", s.metricAge, system, "web-1-0", "web-1-1"), metric("idle", s.metricAge, "1")}, s.jobs...)
	jobs := fake.NewClientBuilder().WithScheme(scheme).WithObjects(koordinator...).Build()
	if s.sources.Review == nil {
		s.sources.Review = agree
	}
	registry := plugins.Registry(plugins.Sources{Rebalance: s.sources})
	config, err := configuration.Read(fmt.Appendf(nil, document, args), registry)
	if err != nil {
		t.Fatal(err)
	}
	kube := kubefake.NewSimpleClientset(objects...)
	d, err := framework.New(t.Context(), framework.Config{Client: kube, Jobs: jobs, Registry: registry, Configuration: config})
	if err != nil {
		t.Fatal(err)
	}
	record, err := d.RunOnce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found schedulingv1alpha1.PodMigrationJobList
	if err := jobs.List(t.Context(), &found); err != nil {
		t.Fatal(err)
	}
	pods, err := kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return result{found.Items, pods, record}
}

// result is what is there after a pass.
type result struct {
	jobs []schedulingv1alpha1.PodMigrationJob
	pods *corev1.PodList
	pass framework.Pass
}

// targets of the jobs that the pass made.
func (r result) targets() []string {
	var targets []string
	for _, job := range r.jobs {
		if job.Name != "before" {
			targets = append(targets, job.Annotations[extension.AnnotationTargetNode])
		}
	}
	return targets
}

// finished is a job that moved a pod of the workload so long ago.
func finished(name, from, to string, ago time.Duration) client.Object {
	job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
		Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-ago)),
		Annotations: map[string]string{extension.AnnotationSourceNode: from, extension.AnnotationSourceWorkload: "Deployment/web/web-uid"},
	}}
	job.Status.Phase, job.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, to
	return job
}

// TestAWorkloadThatGoesInCirclesStays: it came back to the hot node, so that it is not moved to the idle one either.
func TestAWorkloadThatGoesInCirclesStays(t *testing.T) {
	var loops []loopguard.Loop
	s := scene{deployment: deployment(nil)}
	s.sources.Stopped = func(_ context.Context, found []loopguard.Loop) { loops = found }
	reasons := map[decision.Reason]int{}
	s.sources.Report = func(_ decision.Plan, trace *decision.Trace, _ error) {
		for _, skip := range trace.Skipped {
			reasons[skip.Reason]++
		}
	}
	s.jobs = []client.Object{finished("first", "hot", "other", 5*time.Hour), finished("second", "other", "hot", 3*time.Hour)}
	if jobs := s.pass(t, "{}").jobs; len(jobs) != len(s.jobs) {
		t.Errorf("%d jobs, want none beside the %d of the history", len(jobs), len(s.jobs))
	}
	if len(loops) != 1 || loops[0].Workload != "Deployment/web/web-uid" {
		t.Errorf("reported %+v, want the workload", loops)
	}
	if diff := cmp.Diff(map[decision.Reason]int{decision.Looping: 2}, reasons); diff != "" { // not that the evictor refuses them
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestBalance(t *testing.T) {
	tests := map[string]struct {
		scene scene
		args  string
		// wantTargets of the jobs that the pass makes.
		wantTargets []string
		wantMarked  bool
	}{
		"a pod moves to the idle node, by a job that says so": {wantTargets: []string{"idle"}},
		"a dry run moves nothing":                             {args: "{dryRun: true}"},
		"a paused plugin does nothing":                        {args: "{paused: true}"},
		"NodeMetrics that are too old move nothing":           {scene: scene{metricAge: time.Hour}},
		"NodeMetrics of the future move nothing":              {scene: scene{metricAge: -time.Hour}},
		"nodes that are not selected":                         {args: "{nodeSelector: {matchLabels: {pool: web}}}"},
		"a rollout freezes the pods": {
			scene: scene{deployment: deployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 2 })},
		},
		"a scale-down gets deletion costs": {
			scene: scene{deployment: deployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) })}, wantMarked: true,
		},
		"an autoscaler that removes pods step by step": {scene: scene{jobs: []client.Object{autoscaler("web", 4, 3)}}, wantMarked: true},
		"an autoscaler that is at rest":                {scene: scene{jobs: []client.Object{autoscaler("web", 4, 4)}}, wantTargets: []string{"idle"}},
		"an autoscaler of another workload":            {scene: scene{jobs: []client.Object{autoscaler("api", 4, 3)}}, wantTargets: []string{"idle"}},
		"the workload left the idle node": {
			scene: scene{jobs: []client.Object{finished("before", "idle", "other", 3*time.Hour)}},
		},
		"the workload left the idle node long ago": {
			scene: scene{jobs: []client.Object{finished("before", "idle", "other", 25*time.Hour)}}, wantTargets: []string{"idle"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.scene.deployment == nil {
				test.scene.deployment = deployment(nil)
			}
			if test.args == "" {
				test.args = "{}"
			}
			after := test.scene.pass(t, test.args)
			if diff := cmp.Diff(test.wantTargets, after.targets()); diff != "" {
				t.Errorf("targets of the jobs (-want +got):\n%s", diff)
			}
			marked := false
			for _, pod := range after.pods.Items {
				marked = marked || pod.Annotations[corev1.PodDeletionCost] != ""
			}
			if marked != test.wantMarked {
				t.Errorf("pods have a deletion cost: %t, want %t", marked, test.wantMarked)
			}
		})
	}
}

// TestUpstreamModeIsLowNodeLoad: the first five passes in which a node is overutilized are not enough, as LowNodeLoad has it.
func TestUpstreamModeIsLowNodeLoad(t *testing.T) {
	if after := (scene{deployment: deployment(nil)}).pass(t, "{mode: Upstream}"); len(after.jobs) != 0 {
		t.Errorf("%d jobs after one pass, want none", len(after.jobs))
	}
}

// TestAMigrationSaysWhatTheJobOfItsPodWouldLose: the first pod has run for hours, and the second for minutes.
func TestAMigrationSaysWhatTheJobOfItsPodWouldLose(t *testing.T) {
	s := scene{deployment: deployment(nil), change: func(pod *corev1.Pod) {
		ran := 12*time.Minute + 30*time.Second
		if pod.Name == "web-1-0" {
			ran = 3 * time.Hour
		}
		pod.Status.StartTime = &metav1.Time{Time: time.Now().Add(-ran)}
		if err := extension.SetJobPrediction(pod, &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 36000, LeastSeconds: 30000, MostSeconds: 40000, Runs: 9}}); err != nil {
			t.Error(err)
		}
	}}
	jobs := s.pass(t, "{}").jobs
	if len(jobs) != 1 || jobs[0].Spec.PodRef.Name != "web-1-1" {
		t.Fatalf("jobs %+v, want one of web-1-1", jobs)
	}
	const want = "the predicted load is spread better with the pod on node idle than on hot; the pod would lose 12m of work"
	if reason := jobs[0].Annotations[extension.AnnotationEvictReason]; reason != want {
		t.Errorf("reason %q, want %q", reason, want)
	}
}

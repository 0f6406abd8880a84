package recommender

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

var noon = time.Date(2026, 7, 24, 12, 0, 0, 0, time.UTC)

// rig is a cluster with one node, and the controller.
type rig struct {
	t          *testing.T
	client     client.Client
	clock      *clocktesting.FakePassiveClock
	reconciler *reconciler
	// writes counts patches of the status, resized has the patches of pods by name; refuse is answered to them.
	writes  int
	resized map[string]string
	refuse  error
	// deleted is a Recommendation that the cache still has.
	deleted bool
}

func newRig(t *testing.T, apply bool, objects ...client.Object) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, slov1alpha1.AddToScheme, analysisv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, clock: clocktesting.NewFakePassiveClock(noon), resized: map[string]string{}}
	r.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&analysisv1alpha1.Recommendation{}, &slov1alpha1.NodeMetric{}).
		WithIndex(&corev1.Pod{}, "status.phase", func(pod client.Object) []string { return []string{string(pod.(*corev1.Pod).Status.Phase)} }).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: r.patch}).Build()
	r.restart(apply)
	return r
}

func (r *rig) patch(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, o ...client.SubResourcePatchOption) error {
	if r.refuse != nil {
		return r.refuse
	}
	if r.deleted && name == "status" {
		return apierrors.NewNotFound(analysisv1alpha1.GroupVersion.WithResource("recommendations").GroupResource(), object.GetName())
	}
	if name == "resize" {
		data, err := patch.Data(object)
		r.resized[object.GetName()] = string(data)
		return err
	}
	r.writes++
	return c.SubResource(name).Patch(ctx, object, patch, o...)
}

// restart is a manager that knows nothing but what is in the cluster.
func (r *rig) restart(apply bool) {
	r.reconciler = newReconciler(occupying{r.client}, r.client, Options{Apply: apply}, r.clock)
	r.reconciler.limiter = unlimited{}
}

// occupying reads as the manager's cache does, which has no pods that have ended.
type occupying struct{ client.Client }

func (o occupying) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := o.Client.List(ctx, list, options...); err != nil {
		return err
	}
	if pods, ok := list.(*corev1.PodList); ok {
		pods.Items = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		})
	}
	return nil
}

type unlimited struct{}

func (unlimited) Wait(ctx context.Context) error { return ctx.Err() }

// report is what the agent of the node measured now: CPU in cores and memory in MiB a pod.
func (r *rig) report(cores float64, mebi int64, pods ...string) {
	r.t.Helper()
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
	if err := r.client.Create(r.t.Context(), metric); err != nil {
		if err := r.client.Get(r.t.Context(), client.ObjectKeyFromObject(metric), metric); err != nil {
			r.t.Fatal(err)
		}
	}
	metric.Status = slov1alpha1.NodeMetricStatus{UpdateTime: &metav1.Time{Time: r.clock.Now()}}
	for _, name := range pods {
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{Namespace: "shop", Name: name, PodUsage: slov1alpha1.ResourceMap{
			ResourceList: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(cores*1000), resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(mebi<<20, resource.BinarySI),
			},
		}})
	}
	if err := r.client.Status().Update(r.t.Context(), metric); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) pass() {
	r.t.Helper()
	if _, err := r.reconciler.Reconcile(r.t.Context(), reconcile.Request{}); err != nil {
		r.t.Fatal(err)
	}
}

// run lets minutes go by, with a report and a pass in each.
func (r *rig) run(minutes int, cores float64, mebi int64, pods ...string) {
	r.t.Helper()
	for range minutes {
		r.clock.SetTime(r.clock.Now().Add(time.Minute))
		r.report(cores, mebi, pods...)
		r.pass()
	}
}

func (r *rig) recommendation() *analysisv1alpha1.Recommendation {
	r.t.Helper()
	out := &analysisv1alpha1.Recommendation{}
	if err := r.client.Get(r.t.Context(), types.NamespacedName{Namespace: "shop", Name: "web"}, out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// target of a container, in milli-cores and MiB; zero without one.
func (r *rig) target(container string) (milli, mebi int64) {
	r.t.Helper()
	for _, c := range containersOf(&r.recommendation().Status) {
		if c.ContainerName == container {
			cpu, memory := c.Resources[corev1.ResourceCPU], c.Resources[corev1.ResourceMemory]
			return cpu.MilliValue(), memory.Value() >> 20
		}
	}
	return 0, 0
}

func (r *rig) condition(kind string) metav1.ConditionStatus {
	if c := meta.FindStatusCondition(r.recommendation().Status.Conditions, kind); c != nil {
		return c.Status
	}
	return ""
}

func forDeployment() *analysisv1alpha1.Recommendation {
	return &analysisv1alpha1.Recommendation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "r", Generation: 1},
		Spec: analysisv1alpha1.RecommendationSpec{Target: analysisv1alpha1.RecommendationTarget{
			Type: analysisv1alpha1.RecommendationTargetWorkload, Workload: &analysisv1alpha1.CrossVersionObjectReference{Kind: "Deployment", Name: "web", APIVersion: "apps/v1"},
		}},
	}
}

func inPlace() *analysisv1alpha1.Recommendation {
	out := forDeployment()
	out.Annotations = map[string]string{analysisv1alpha1.AnnotationRecommendationApply: analysisv1alpha1.RecommendationApplyInPlace}
	return out
}

func webPod(i int, containers ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("web-%d", i), UID: types.UID(fmt.Sprint(i)), Labels: map[string]string{"pod-template-hash": "abc", "app": "web"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-abc", Controller: new(true)}},
		},
		Spec:   corev1.PodSpec{NodeName: "node-a"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &metav1.Time{Time: noon.Add(-time.Hour)}},
	}
	for _, name := range append([]string{"main"}, containers...) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("512Mi")},
		}})
	}
	return pod
}

func near(got, want int64) bool { return got >= want && got <= want*106/100 }

func TestUsageBecomesARecommendation(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0), webPod(1))
	r.run(30, 2, 1000, "web-0", "web-1")
	if cpu, memory := r.target("main"); !near(cpu, 2300) || !near(memory, 1150) {
		t.Errorf("target is %dm and %dMi, want about 2300m and 1150Mi", cpu, memory)
	}
	container := containersOf(&r.recommendation().Status)[0]
	for name, target := range container.Resources {
		lower, upper := container.LowerBound[name], container.UpperBound[name]
		if lower.Cmp(target) > 0 || target.Cmp(upper) >= 0 {
			t.Errorf("%s: lower %v, target %v, upper %v", name, &lower, &target, &upper)
		}
	}
	if got := r.condition(analysisv1alpha1.RecommendationConditionLowConfidence); got != metav1.ConditionTrue {
		t.Errorf("LowConfidence is %q after half an hour, want True", got)
	}
	if got := r.condition(analysisv1alpha1.RecommendationConditionApportioned); got != metav1.ConditionFalse {
		t.Errorf("Apportioned is %q for pods of one container, want False", got)
	}
	if len(r.resized) > 0 {
		t.Errorf("pods were resized: %v", r.resized)
	}
}

func TestADayMakesItConfident(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0))
	for range 24*12 + 2 {
		r.clock.SetTime(r.clock.Now().Add(4 * time.Minute))
		r.run(1, 1, 1000, "web-0")
	}
	if got := r.condition(analysisv1alpha1.RecommendationConditionLowConfidence); got != metav1.ConditionFalse {
		t.Errorf("LowConfidence is %q after a day, want False", got)
	}
	// The first write, one for the confidence, and one each ten minutes.
	if r.writes > 24*6+3 {
		t.Errorf("the status was written %d times in a day", r.writes)
	}
}

func TestNothingIsWrittenWhenNothingIsReported(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0))
	r.run(11, 1, 1000, "web-0")
	before := r.writes
	for range 60 {
		r.clock.SetTime(r.clock.Now().Add(time.Minute))
		r.pass()
	}
	if r.writes > before+1 {
		t.Errorf("%d writes without any news, want at most the last checkpoint", r.writes-before)
	}
}

func TestARestartGoesOnFromTheCheckpoint(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0))
	r.run(120, 4, 2000, "web-0")
	before := r.recommendation().Status.Checkpoint.Containers[0]
	r.restart(false)
	r.run(11, 0.1, 100, "web-0")
	if cpu, _ := r.target("main"); !near(cpu, 4600) {
		t.Errorf("target is %dm after ten quiet minutes and a restart, want about 4600m of the two hours before", cpu)
	}
	after := r.recommendation().Status.Checkpoint.Containers[0]
	if after.ObservedMinutes <= before.ObservedMinutes || !after.FirstSampleTime.Equal(before.FirstSampleTime) {
		t.Errorf("observed %d minutes since %v, before %d since %v", after.ObservedMinutes, after.FirstSampleTime, before.ObservedMinutes, before.FirstSampleTime)
	}
	data, err := json.Marshal(r.recommendation().Status.Checkpoint)
	if err != nil || len(data) > 2000 {
		t.Errorf("the checkpoint has %d bytes, want at most 2000: %v", len(data), err)
	}
}

func TestAnotherTargetIsLearnedAnew(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0))
	r.run(20, 4, 2000, "web-0")
	changed := r.recommendation()
	changed.Generation, changed.Spec.Target = 2, analysisv1alpha1.RecommendationTarget{
		Type: analysisv1alpha1.RecommendationTargetPodSelector, PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}},
	}
	if err := r.client.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	r.run(1, 4, 2000, "web-0")
	if cpu, _ := r.target("main"); cpu != 0 {
		t.Errorf("target is %dm of pods that are no longer meant, want none", cpu)
	}
	if got := r.condition(analysisv1alpha1.RecommendationConditionNoObjectsMatched); got != metav1.ConditionTrue {
		t.Errorf("NoObjectsMatched is %q, want True", got)
	}
}

func TestABrokenCheckpointIsLearnedAnew(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0))
	r.run(20, 4, 2000, "web-0")
	broken := r.recommendation()
	broken.Status.Checkpoint.Containers[0].CPU = []byte("garbage")
	if err := r.client.Status().Update(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	r.restart(false)
	r.run(11, 1, 1000, "web-0")
	if cpu, _ := r.target("main"); !near(cpu, 1150) {
		t.Errorf("target is %dm, want about 1150m of what was learned since", cpu)
	}
}

func TestPodsOfSeveralContainers(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0, "proxy"))
	r.run(5, 2, 1000, "web-0")
	main, _ := r.target("main")
	proxy, _ := r.target("proxy")
	if !near(main, 1150) || !near(proxy, 1150) {
		t.Errorf("targets are %dm and %dm, want half of 2300m each", main, proxy)
	}
	if got := r.condition(analysisv1alpha1.RecommendationConditionApportioned); got != metav1.ConditionTrue {
		t.Errorf("Apportioned is %q, want True", got)
	}
}

func TestReportsOfOtherPodsDoNotCount(t *testing.T) {
	elsewhere, young := webPod(0), webPod(1)
	elsewhere.Spec.NodeName = "node-b"
	young.Status.StartTime = &metav1.Time{Time: noon.Add(time.Hour)}
	other := webPod(2)
	other.OwnerReferences[0].Name = "api-abc"
	r := newRig(t, false, forDeployment(), elsewhere, young, other)
	r.run(3, 2, 1000, "web-0", "web-1", "web-2", "web-9")
	if cpu, _ := r.target("main"); cpu != 0 {
		t.Errorf("target is %dm, although no report was about a pod of the target", cpu)
	}
}

func TestBatchPodsAreRecommendedBatchResources(t *testing.T) {
	pod := webPod(0)
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{
		extension.BatchCPU: resource.MustParse("8k"), extension.BatchMemory: resource.MustParse("1Gi"),
	}}
	r := newRig(t, false, forDeployment(), pod)
	r.run(2, 2, 1000, "web-0")
	resources := containersOf(&r.recommendation().Status)[0].Resources
	if cpu := resources[extension.BatchCPU]; !near(cpu.Value(), 2300) || len(resources) != 2 {
		t.Errorf("resources are %v, want about 2300 of batch-cpu", resources)
	}
}

// confident is a rig whose recommendation was learned for two days: 1 core and 400 MiB.
func confident(t *testing.T, apply bool, recommendation *analysisv1alpha1.Recommendation, pods int) *rig {
	t.Helper()
	learned := recommend.NewContainer()
	for minute := range 2 * 24 * 60 {
		learned.AddUsage(noon.Add(time.Duration(minute-2*24*60)*time.Minute), 1, 400<<20, time.Minute)
	}
	checkpoint, err := learned.Checkpoint("main")
	if err != nil {
		t.Fatal(err)
	}
	recommendation.Status.Checkpoint = &analysisv1alpha1.RecommendationCheckpoint{
		ObservedGeneration: recommendation.Generation, Containers: []analysisv1alpha1.ContainerCheckpoint{checkpoint},
	}
	objects := []client.Object{recommendation}
	for i := range pods {
		objects = append(objects, webPod(i))
	}
	return newRig(t, apply, objects...)
}

func TestPodsAreResizedOnlyWhenBothSidesWantIt(t *testing.T) {
	for name, test := range map[string]struct {
		apply          bool
		recommendation *analysisv1alpha1.Recommendation
		want           int
	}{
		"neither":                 {false, forDeployment(), 0},
		"the recommendation only": {false, inPlace(), 0},
		"the manager only":        {true, forDeployment(), 0},
		"both":                    {true, inPlace(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := confident(t, test.apply, test.recommendation, 2)
			r.pass()
			if len(r.resized) != test.want {
				t.Errorf("resized %v, want %d", r.resized, test.want)
			}
		})
	}
}

func TestResizesKeepToBudgetAndCoolDownAcrossARestart(t *testing.T) {
	r := confident(t, true, inPlace(), 3)
	r.pass()
	if len(r.resized) != 1 {
		t.Fatalf("resized %v, want one pod of three", r.resized)
	}
	for name, patch := range r.resized {
		var got corev1.Pod
		if err := json.Unmarshal([]byte(patch), &got); err != nil {
			t.Fatal(err)
		}
		requests := got.Spec.Containers[0].Resources.Requests
		if cpu := requests.Cpu().MilliValue(); !near(cpu, 1150) || len(requests) != 1 || got.UID == "" {
			t.Errorf("pod %s gets %s, want about 1150m of cpu and its UID", name, patch)
		}
	}
	applied := r.recommendation().Status.Checkpoint.Applied
	if len(applied) != 1 || !applied[0].Time.Time.Equal(r.clock.Now()) {
		t.Errorf("the checkpoint tells of resizes %v, want one of now", applied)
	}
	r.restart(true)
	r.run(5, 1, 400)
	if len(r.resized) != 1 {
		t.Errorf("resized %v within the interval, want one pod still", r.resized)
	}
	r.run(5, 1, 400)
	if len(r.resized) != 2 {
		t.Errorf("resized %v after the interval, want a second pod", r.resized)
	}
}

func TestNoPodIsResizedWhenThatCannotBeRemembered(t *testing.T) {
	r := confident(t, true, inPlace(), 2)
	r.refuse = fmt.Errorf("no")
	if _, err := r.reconciler.Reconcile(t.Context(), reconcile.Request{}); err == nil || !strings.Contains(err.Error(), "patch the status") {
		t.Errorf("error is %v", err)
	}
	if len(r.resized) > 0 {
		t.Errorf("resized %v", r.resized)
	}
	r.refuse = nil
	r.pass()
	if len(r.resized) != 1 {
		t.Errorf("resized %v once it can be remembered, want one pod", r.resized)
	}
}

func TestNoPodIsResizedByARecommendationThatIsGone(t *testing.T) {
	r := confident(t, true, inPlace(), 2)
	r.deleted = true
	r.pass()
	if len(r.resized) > 0 {
		t.Errorf("resized %v", r.resized)
	}
}

func TestMetricsTellViolationsAndSavings(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0))
	count := func() (float64, float64) {
		return testutil.ToFloat64(samples.WithLabelValues("cpu")), testutil.ToFloat64(violations.WithLabelValues("cpu"))
	}
	r.run(60, 2, 100, "web-0")
	sampled, violated := count()
	r.run(3, 5, 100, "web-0")
	moreSampled, moreViolated := count()
	if moreSampled-sampled != 3 || moreViolated-violated != 3 {
		t.Errorf("%g violations of %g samples, want 3 of 3", moreViolated-violated, moreSampled-sampled)
	}
	if got := testutil.ToFloat64(savings.WithLabelValues("cpu")); got < 0.69 || got > 0.72 {
		t.Errorf("savings of cpu are %g, want about 1 - 2.3/8", got)
	}
	if err := r.client.Delete(t.Context(), r.recommendation()); err != nil {
		t.Fatal(err)
	}
	r.pass()
	if diff := cmp.Diff(0, testutil.CollectAndCount(savings)); diff != "" {
		t.Errorf("savings without recommendations (-want +got):\n%s", diff)
	}
	if len(r.reconciler.workloads) != 0 {
		t.Error("a workload is remembered whose recommendation is gone")
	}
}

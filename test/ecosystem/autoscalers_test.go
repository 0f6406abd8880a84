package ecosystem

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

// autoscaling is a sandbox with usage by metrics-server, with the recommender and the updater of the Vertical Pod Autoscaler, and with a
// koord-manager that resizes pods.
type autoscaling struct {
	*rig
	*kubelets
	namespace string
}

func newAutoscaling(t *testing.T) *autoscaling {
	t.Helper()
	directory := programs(t, "metrics-server", "vpa")
	a := &autoscaling{rig: newSandbox(t)}
	a.kubelets = a.runKubelets(t)
	a.runMetricsServer(t, filepath.Join(directory, "metrics-server"))
	a.runVertical(t, filepath.Join(directory, "vpa"))
	a.resizeByManager(t)
	a.namespace = a.space(t, "shop")
	return a
}

// runMetricsServer runs metrics-server, which asks the stand-ins of kubelets.
func (a *autoscaling) runMetricsServer(t *testing.T, directory string) {
	t.Helper()
	home, port := t.TempDir(), freeport.Next(t)
	a.install(t, directory, setting{api: port})
	config := a.kubeconfig(t, home, metav1.NamespaceSystem, "metrics-server")
	startProcess(t, filepath.Join(directory, "manager"),
		"--kubeconfig="+config, "--authentication-kubeconfig="+config, "--authorization-kubeconfig="+config,
		"--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(port), "--cert-dir="+home,
		"--kubelet-preferred-address-types=InternalIP", "--kubelet-port="+strconv.Itoa(a.port), "--kubelet-insecure-tls",
		"--metric-resolution=10s", "--kubelet-request-timeout=5s",
	)
	sandboxtest.Eventually(t, 2*patience, func() error {
		service := &unstructured.Unstructured{}
		service.SetAPIVersion("apiregistration.k8s.io/v1")
		service.SetKind("APIService")
		if err := a.rig.client.Get(t.Context(), ctrlclient.ObjectKey{Name: "v1beta1.metrics.k8s.io"}, service); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(service.Object, "status", "conditions")
		if !slices.ContainsFunc(conditions, func(c any) bool { return c.(map[string]any)["status"] == "True" }) {
			return fmt.Errorf("the API of metrics-server is not available: %v", conditions)
		}
		return nil
	})
}

// runVertical runs the recommender and the updater of the Vertical Pod Autoscaler. Its webhook is left out: pods keep what they have until the
// updater resizes them in place.
func (a *autoscaling) runVertical(t *testing.T, directory string) {
	t.Helper()
	home := t.TempDir()
	a.install(t, directory, setting{})
	address := func() string { return "--address=" + net.JoinHostPort("127.0.0.1", strconv.Itoa(freeport.Next(t))) }
	startProcess(t, filepath.Join(directory, "recommender"), "--kubeconfig="+a.kubeconfig(t, home, metav1.NamespaceSystem, "vpa-recommender"),
		"--recommender-interval=10s", address())
	startProcess(t, filepath.Join(directory, "updater"), "--kubeconfig="+a.kubeconfig(t, home, metav1.NamespaceSystem, "vpa-updater"),
		"--updater-interval=5s", "--use-admission-controller-status=false", address())
}

// install creates what the manifests of a project contain.
func (a *autoscaling) install(t *testing.T, directory string, s setting) {
	t.Helper()
	manifests, err := os.ReadFile(filepath.Join(directory, "manifests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range parse(t, manifests) {
		if s.adapt(object) {
			a.create(t, object)
		}
	}
	a.awaitKinds(t, manifests)
}

// resizeByManager takes the place of the sandbox's koord-manager, which is paused, with one that resizes pods.
func (a *autoscaling) resizeByManager(t *testing.T) {
	t.Helper()
	status, err := control.NewClient(state.At(a.Directory())).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(status.Components, func(c control.Component) bool { return c.Name == "koord-manager" })
	if at < 0 {
		t.Fatal("the sandbox has no koord-manager")
	}
	pid := status.Components[at].PID
	sandboxtest.Pause(t, pid)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it ends with the sandbox
	a.runManager(t, "--recommender-apply")
}

// runManager runs a koord-manager with further flags, without webhooks.
func (r *rig) runManager(t *testing.T, flags ...string) {
	t.Helper()
	startProcess(t, r.Program("koord-manager"), append([]string{
		"--kubeconfig=" + filepath.Join(r.Directory(), "kubeconfig"), "--metrics-bind-address=0", "--health-probe-bind-address=0", "--webhook-port=0",
		"--diagnostics-bind-address=127.0.0.1", "--diagnostics-port=" + strconv.Itoa(freeport.Next(t)),
	}, flags...)...)
}

// service creates a Deployment, and a Recommendation that is applied and according to which each pod needs half a core and 3.5 GiB.
func (a *autoscaling) service(t *testing.T, name string, replicas int32, cpu string) {
	t.Helper()
	labels := map[string]string{"app": name}
	a.create(t, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{SchedulerName: "koord-scheduler", TerminationGracePeriodSeconds: new(int64(1)), Containers: []corev1.Container{{
				Name: "main", Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("256Mi"),
				}},
			}}},
		}},
	})
	recommendation := &analysisv1alpha1.Recommendation{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name}}
	recommendation.Spec.Target = analysisv1alpha1.RecommendationTarget{
		Type: analysisv1alpha1.RecommendationTargetWorkload, Workload: &analysisv1alpha1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
	}
	a.create(t, recommendation)
	learned, now := recommend.NewContainer(), time.Now()
	for minute := range 2 * 24 * 60 {
		learned.AddUsage(now.Add(time.Duration(minute-2*24*60)*time.Minute), 0.4, 3<<30, time.Minute)
	}
	checkpoint, err := learned.Checkpoint("main")
	if err != nil {
		t.Fatal(err)
	}
	before := recommendation.DeepCopy()
	recommendation.Status.Checkpoint = &analysisv1alpha1.RecommendationCheckpoint{
		ObservedGeneration: recommendation.Generation, Containers: []analysisv1alpha1.ContainerCheckpoint{checkpoint},
	}
	if err := a.rig.client.Status().Patch(t.Context(), recommendation, ctrlclient.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// apply has a Recommendation applied. Once there is the annotation, its checkpoint is read anew.
func (a *autoscaling) apply(t *testing.T, name string) {
	t.Helper()
	recommendation := &analysisv1alpha1.Recommendation{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name}}
	a.patch(t, recommendation, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`,
		analysisv1alpha1.AnnotationRecommendationApply, analysisv1alpha1.RecommendationApplyInPlace))
}

// requests of the pods of a service that run, and how many of them koord-manager has resized: by its own account, because the fields of a pod
// belong to who resized it last.
type requests struct {
	cpu, memory []int64
	byManager   int
}

func (a *autoscaling) requests(t *testing.T, name string) (out requests, err error) {
	t.Helper()
	pods, err := a.pods(t, name)
	for i := range pods {
		pod := &pods[i]
		requested := pod.Spec.Containers[0].Resources.Requests
		out.cpu, out.memory = append(out.cpu, requested.Cpu().MilliValue()), append(out.memory, requested.Memory().Value()>>20)
	}
	var recommendation analysisv1alpha1.Recommendation
	err = errors.Join(err, a.rig.client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: a.namespace, Name: name}, &recommendation))
	if checkpoint := recommendation.Status.Checkpoint; checkpoint != nil {
		out.byManager = len(checkpoint.Applied)
	}
	return out, err
}

// explained asks koordctl about a Recommendation, and wants the condition and the note that its resources are left to an autoscaler.
func (a *autoscaling) explained(t *testing.T, name, wantReason, wantText string) {
	t.Helper()
	sandboxtest.Eventually(t, 2*patience, func() error {
		var recommendation analysisv1alpha1.Recommendation
		if err := a.rig.client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: a.namespace, Name: name}, &recommendation); err != nil {
			return err
		}
		condition := meta.FindStatusCondition(recommendation.Status.Conditions, analysisv1alpha1.RecommendationConditionAutoscaled)
		if condition == nil || condition.Reason != wantReason || condition.Message != wantText {
			return fmt.Errorf("condition %+v, want reason %s: %s", condition, wantReason, wantText)
		}
		return nil
	})
	var explanation diagnosticsv1alpha1.RecommendationExplanation
	a.ask(t, &explanation, "explain", "recommendation", name, "-n", a.namespace)
	if !slices.Contains(explanation.Notes, "Autoscaled: "+wantText) || len(explanation.Incomplete) > 0 {
		t.Errorf("notes %q, incomplete %q; want a note: %s", explanation.Notes, explanation.Incomplete, wantText)
	}
}

const vertical = `
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: cart}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}
  updatePolicy: {updateMode: InPlaceOrRecreate}
`

// TestAutoscalersBesideRecommendations has autoscalers work on services with Recommendations that are applied.
func TestAutoscalersBesideRecommendations(t *testing.T) {
	a := newAutoscaling(t)
	var vpa unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(vertical), &vpa.Object); err != nil {
		t.Fatal(err)
	}
	vpa.SetNamespace(a.namespace)
	a.startCrowd(t)
	a.create(t, &vpa, horizontalBy(a.namespace, "api", 4, 20, nil))
	for name, cores := range map[string]float64{"cart": 4, "api": 6, "alone": 1} {
		a.serves(name, cores)
	}
	a.service(t, "cart", 2, "200m")
	a.service(t, "api", 4, "2")
	a.service(t, "alone", 2, "2")
	for _, name := range []string{"cart", "api", "alone"} {
		a.apply(t, name)
	}
	a.scaleCrowdDown(t)
	t.Run("without an autoscaler, koord-manager resizes", func(t *testing.T) {
		sandboxtest.Eventually(t, 3*patience, func() error {
			got, err := a.requests(t, "alone")
			if err == nil && (got.byManager != 1 || slices.Max(got.memory) < 3<<10 || slices.Min(got.cpu) > 1000) {
				err = fmt.Errorf("requests %+v, want those of one pod resized to half a core and more than 3 GiB", got)
			}
			return err
		})
	})
	t.Run("the Vertical Pod Autoscaler resizes alone what is its own", func(t *testing.T) {
		a.explained(t, "cart", recommend.KindVertical, `not resized: VerticalPodAutoscaler "cart" sets cpu and memory`)
		sandboxtest.Eventually(t, 4*patience, func() error {
			got, err := a.requests(t, "cart")
			if got.byManager > 0 {
				t.Fatalf("koord-manager resized pods, too: %+v", got)
			}
			if err == nil && (len(got.cpu) != 2 || slices.Min(got.cpu) < 1500) {
				err = fmt.Errorf("requests %+v, want those of two pods that use two cores each", got)
			}
			return err
		})
	})
	t.Run("a HorizontalPodAutoscaler keeps the requests that it scales by", func(t *testing.T) {
		a.explained(t, "api", recommend.KindHorizontal, `not resized: HorizontalPodAutoscaler "api" scales by the utilization of cpu, which is relative to requests`)
		sandboxtest.Eventually(t, 4*patience, func() error {
			got, err := a.requests(t, "api")
			if err == nil && (got.byManager == 0 || slices.Max(got.memory) < 3<<10) {
				err = errors.New("koord-manager has not resized the memory of a pod")
			}
			if slices.ContainsFunc(got.cpu, func(cpu int64) bool { return cpu != 2000 }) {
				t.Fatalf("koord-manager resized the CPU: %+v", got)
			}
			return errors.Join(err, a.scaled(t, "api", 6))
		})
	})
	t.Run("koord-descheduler leaves alone what a HorizontalPodAutoscaler scales down", a.staysWhereItIs)
}

// scaled wants a HorizontalPodAutoscaler to have settled at a number of replicas.
func (a *autoscaling) scaled(t *testing.T, name string, want int32) error {
	t.Helper()
	var h autoscalingv2.HorizontalPodAutoscaler
	if err := a.rig.client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: a.namespace, Name: name}, &h); err != nil {
		return err
	}
	if h.Status.CurrentReplicas == want && h.Status.DesiredReplicas == want {
		return nil
	}
	var why []string
	for _, c := range h.Status.Conditions {
		why = append(why, fmt.Sprintf("%s %s: %s", c.Type, c.Reason, c.Message))
	}
	return fmt.Errorf("%d replicas, %d wanted; want %d: %s", h.Status.CurrentReplicas, h.Status.DesiredReplicas, want, strings.Join(why, "; "))
}

package arbitrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/test/eventually"
)

const shop = "shop"

func metaOf(name string, owners ...metav1.OwnerReference) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: shop, Name: name, UID: types.UID(name + "-uid"), OwnerReferences: owners}
}

func ownedBy(version, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: types.UID(name + "-uid"), Controller: new(true)}
}

// podOf is a ready pod on node-1.
func podOf(name string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metaOf(name, owners...), Spec: corev1.PodSpec{NodeName: "node-1"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func jobFor(pod string) *schedulingv1alpha1.PodMigrationJob {
	return &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: "job-" + pod, UID: types.UID("job-" + pod)},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: shop, Name: pod, UID: types.UID(pod + "-uid")}},
	}
}

// web is a Deployment of three with two ReplicaSets.
func web() []client.Object {
	return []client.Object{
		&appsv1.Deployment{ObjectMeta: metaOf("web"), Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))}},
		&appsv1.ReplicaSet{ObjectMeta: metaOf("web-old", ownedBy("apps/v1", "Deployment", "web"))},
		&appsv1.ReplicaSet{ObjectMeta: metaOf("web-new", ownedBy("apps/v1", "Deployment", "web"))},
		podOf("web-1", ownedBy("apps/v1", "ReplicaSet", "web-old")), podOf("web-2", ownedBy("apps/v1", "ReplicaSet", "web-new")),
		podOf("web-3", ownedBy("apps/v1", "ReplicaSet", "web-new")),
	}
}

// alone is a Deployment of one, whose pod is to be replaced before it is evicted.
func alone(edits ...func(*appsv1.Deployment)) []client.Object {
	deployment := &appsv1.Deployment{ObjectMeta: metaOf("web"), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(1)),
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromString("25%"))}},
	}}
	for _, edit := range edits {
		edit(deployment)
	}
	pod := podOf("web-1", ownedBy("apps/v1", "ReplicaSet", "web-new"))
	pod.Spec.SchedulerName = "koord-scheduler"
	pod.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: "new", extension.LabelPodEvictPolicy: string(migration.Surge)}
	return []client.Object{deployment, &appsv1.ReplicaSet{ObjectMeta: metaOf("web-new", ownedBy("apps/v1", "Deployment", "web"))}, pod}
}

func clientOf(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), schedulingv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&schedulingv1alpha1.PodMigrationJob{}).WithInterceptorFuncs(funcs).Build()
}

func arbitratorOf(c client.Client, settings Settings) *Arbitrator {
	return New(Config{
		Client: c, Live: c, Namespace: "koordinator-system", Log: logr.Discard(), Settings: func() Settings { return settings },
		Order: func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) },
	})
}

// states are the jobs by name: their phase and reason, or the node and workload with which they were let start.
func states(t *testing.T, c client.Client) map[string]string {
	t.Helper()
	var jobs schedulingv1alpha1.PodMigrationJobList
	if err := c.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, job := range jobs.Items {
		out[job.Name] = strings.TrimSpace(fmt.Sprintf("%s %s", job.Status.Phase, job.Status.Reason))
		if extension.MustReplaceFirst(job.Annotations) {
			out[job.Name] += "to replace first, "
		}
		if extension.HasPassedArbitration(job.Annotations) {
			out[job.Name] = strings.TrimSpace(out[job.Name] + "started " + job.Annotations[extension.AnnotationSourceNode] + " " + job.Annotations[extension.AnnotationSourceWorkload])
		}
	}
	return out
}

func TestRound(t *testing.T) {
	bare := podOf("bare")
	for name, test := range map[string]struct {
		objects  []client.Object
		settings Settings
		want     map[string]string
	}{
		"one of three replicas, over the ReplicaSets of the Deployment": {
			objects: append(web(), jobFor("web-1"), jobFor("web-2")),
			want:    map[string]string{"job-web-1": "started node-1 Deployment/web/web-uid", "job-web-2": ""},
		},
		"the only replica, which is replaced before it is evicted": {
			objects: append(alone(), jobFor("web-1")), want: map[string]string{"job-web-1": "to replace first, started node-1 Deployment/web/web-uid"},
		},
		"the only replica during a rollout": {
			objects: append(alone(func(d *appsv1.Deployment) { d.Generation = 1 }), jobFor("web-1")), want: map[string]string{"job-web-1": "Failed ForbiddenMigratePod"},
		},
		"the only replica of a Deployment that is recreated": {
			objects: append(alone(func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }), jobFor("web-1")),
			want:    map[string]string{"job-web-1": "Failed ForbiddenMigratePod"},
		},
		"per node, in the order of pods": {
			objects: []client.Object{podOf("a"), podOf("b"), podOf("c"), jobFor("c"), jobFor("b"), jobFor("a")},
			settings: Settings{
				Limits: arbitration.Limits{MaxMigratingPerNode: new(int32(2))}, Policy: evictability.Policy{EvictAllBarePods: true},
			},
			want: map[string]string{"job-a": "started node-1", "job-b": "started node-1", "job-c": ""},
		},
		"no other node takes the pod": {
			objects: []client.Object{
				bare.DeepCopy(), jobFor("bare"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
				&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-2"}, Spec: corev1.NodeSpec{Unschedulable: true}},
			},
			settings: Settings{Policy: evictability.Policy{EvictAllBarePods: true, NodeFit: true}}, want: map[string]string{"job-bare": "Failed ForbiddenMigratePod"},
		},
		"a pod that must not be evicted": {
			objects: []client.Object{bare, jobFor("bare")}, want: map[string]string{"job-bare": "Failed ForbiddenMigratePod"},
		},
		"a pod that does not exist": {objects: []client.Object{jobFor("gone")}, want: map[string]string{"job-gone": "Failed MissingPod"}},
		"a pod of the name with another UID": {
			objects: []client.Object{
				func() client.Object { pod := podOf("web-1"); pod.UID = "another"; return pod }(), jobFor("web-1"),
			},
			want: map[string]string{"job-web-1": "Failed MissingPod"},
		},
		"dry run": {
			objects: append(web(), jobFor("web-1"), jobFor("gone")), settings: Settings{DryRun: true}, want: map[string]string{"job-web-1": "", "job-gone": ""},
		},
		"a workload that went in circles: who made the job has decided": {
			objects: append(web(), moved("first", "node-1", "node-2", 2*time.Hour), moved("second", "node-2", "node-1", time.Hour), jobFor("web-1")),
			want:    map[string]string{"job-web-1": "started node-1 Deployment/web/web-uid", "first": "Succeeded", "second": "Succeeded"},
		},
		"a ReplicaSet that is not known": {
			objects: []client.Object{podOf("x", ownedBy("apps/v1", "ReplicaSet", "lost")), jobFor("x")}, want: map[string]string{"job-x": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clientOf(t, interceptor.Funcs{}, test.objects...)
			for range 2 { // a second round changes nothing
				if err := arbitratorOf(c, test.settings).Round(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, states(t, c)); diff != "" {
				t.Errorf("jobs (-want +got):\n%s", diff)
			}
		})
	}
}

// moved is a job that moved a pod of Deployment web so long ago.
func moved(name, from, to string, ago time.Duration) client.Object {
	job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Now().Add(-ago)),
		Annotations: map[string]string{extension.AnnotationSourceNode: from, extension.AnnotationSourceWorkload: "Deployment/web/web-uid"},
	}}
	job.Status.Phase, job.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, to
	return job
}

// TestReplicasOfEachKind resolves the workload of a pod by its controller.
func TestReplicasOfEachKind(t *testing.T) {
	scaled := interceptor.Funcs{SubResourceGet: func(_ context.Context, _ client.Client, _ string, object client.Object, answer client.Object, _ ...client.SubResourceGetOption) error {
		if object.GetObjectKind().GroupVersionKind().Kind != "CloneSet" {
			return errors.New("the webhook does not answer")
		}
		data, err := runtime.DefaultUnstructuredConverter.ToUnstructured(answer)
		if err != nil {
			return err
		}
		data["spec"] = map[string]any{"replicas": int64(7)}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(data, answer)
	}}
	for name, test := range map[string]struct {
		owner        metav1.OwnerReference
		object       client.Object
		wantKind     string
		wantReplicas int
		wantFound    bool
		wantKnown    bool
	}{
		"StatefulSet": {
			ownedBy("apps/v1", "StatefulSet", "db"), &appsv1.StatefulSet{ObjectMeta: metaOf("db"), Spec: appsv1.StatefulSetSpec{Replicas: new(int32(5))}}, "StatefulSet", 5, true, true,
		},
		"StatefulSet without replicas": {ownedBy("apps/v1", "StatefulSet", "db"), &appsv1.StatefulSet{ObjectMeta: metaOf("db")}, "StatefulSet", 1, true, true},
		"ReplicaSet of nobody": {
			ownedBy("apps/v1", "ReplicaSet", "rs"), &appsv1.ReplicaSet{ObjectMeta: metaOf("rs"), Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(4))}}, "ReplicaSet", 4, true, true,
		},
		"ReplicationController": {
			ownedBy("v1", "ReplicationController", "rc"), &corev1.ReplicationController{ObjectMeta: metaOf("rc"), Spec: corev1.ReplicationControllerSpec{Replicas: new(int32(2))}},
			"ReplicationController", 2, true, true,
		},
		"Job with less left than runs in parallel": {
			ownedBy("batch/v1", "Job", "job"),
			&batchv1.Job{ObjectMeta: metaOf("job"), Spec: batchv1.JobSpec{Parallelism: new(int32(8)), Completions: new(int32(10))}, Status: batchv1.JobStatus{Succeeded: 7}},
			"Job", 3, true, true,
		},
		"CloneSet, by its scale":                           {ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "clones"), nil, "CloneSet", 7, true, true},
		"StatefulSet of OpenKruise, which does not answer": {ownedBy("apps.kruise.io/v1beta1", "StatefulSet", "sts"), nil, "StatefulSet", 0, false, false},
		"a version that is none":                           {ownedBy("a/b/c", "Thing", "thing"), nil, "Thing", 0, false, false},
		"a StatefulSet of an earlier UID":                  {func() metav1.OwnerReference { o := ownedBy("apps/v1", "StatefulSet", "db"); o.UID = "old"; return o }(), &appsv1.StatefulSet{ObjectMeta: metaOf("db")}, "StatefulSet", 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf("p", test.owner)
			objects := []client.Object{pod}
			if test.object != nil {
				objects = append(objects, test.object)
			}
			c := clientOf(t, scaled, objects...)
			got, err := newNamespaces(arbitratorOf(c, Settings{}).config.Pods, newOwners(c, time.Now)).workload(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != test.wantKind || got.Replicas != test.wantReplicas || got.found != test.wantFound || got.Known != test.wantKnown || len(got.Pods) != 1 || got.owner.uid != test.owner.UID {
				t.Errorf("workload %+v, want %+v", got, test)
			}
		})
	}
}

// TestAnAdmissionThatWasNotCompleted: a descheduler died after it wrote the ledger. Its admission counts, and the next one completes it.
func TestAnAdmissionThatWasNotCompleted(t *testing.T) {
	dead := errors.New("the process is dead")
	c := clientOf(t, interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		return dead
	}}, append(web(), jobFor("web-2"))...)
	if err := arbitratorOf(c, Settings{}).Round(t.Context()); !errors.Is(err, dead) {
		t.Fatalf("round: %v, want %v", err, dead)
	}
	if diff := cmp.Diff(map[string]string{"job-web-2": ""}, states(t, c)); diff != "" {
		t.Fatalf("jobs (-want +got):\n%s", diff)
	}
	version := func() string {
		var ledger corev1.ConfigMap
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "koordinator-system", Name: LedgerName}, &ledger); err != nil {
			t.Fatal(err)
		}
		return ledger.ResourceVersion
	}
	before := version()
	// web-1 comes first in the order, but the slot of the Deployment is taken.
	if err := c.Create(t.Context(), jobFor("web-1")); err != nil {
		t.Fatal(err)
	}
	healthy := interceptor.NewClient(c, interceptor.Funcs{Patch: func(ctx context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
		return c.Update(ctx, object)
	}})
	if err := arbitratorOf(healthy, Settings{}).Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"job-web-1": "", "job-web-2": "started node-1 Deployment/web/web-uid"}
	if diff := cmp.Diff(want, states(t, c)); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	// A descheduler that dies after each of its writes would never come to the annotation.
	if after := version(); after != before {
		t.Errorf("the ledger was written again, though it has all that was admitted: version %s, before %s", after, before)
	}
}

func TestABrokenLedgerAdmitsNothing(t *testing.T) {
	broken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: LedgerName}, Data: map[string]string{admittedKey: "{"}}
	c := clientOf(t, interceptor.Funcs{}, append(web(), jobFor("web-1"), broken)...)
	if err := arbitratorOf(c, Settings{}).Round(t.Context()); err == nil || !strings.Contains(err.Error(), LedgerName) {
		t.Errorf("round: %v, want an error that names the ConfigMap", err)
	}
	if diff := cmp.Diff(map[string]string{"job-web-1": ""}, states(t, c)); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := clientOf(t, interceptor.Funcs{}, append(web(), jobFor("web-1"))...)
	ended := make(chan error)
	a := arbitratorOf(c, Settings{Interval: time.Millisecond})
	go func() { ended <- a.Run(ctx) }()
	eventually.True(t, "the job is started", func() bool { return strings.HasPrefix(states(t, c)["job-web-1"], "started") })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSettingsOf(t *testing.T) {
	args := migration.DefaultArgs()
	args.SkipEvictionGates = []string{"PVC", "MaxMigratingPerNode"}
	args.LabelSelector, args.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, "pool=a"
	args.Namespaces = &migration.Namespaces{Exclude: []string{"kube-system"}}
	args.PriorityThreshold = &migration.PriorityThreshold{Name: "koord-prod"}
	got, err := SettingsOf(args, func(class string) (int32, error) { return int32(len(class)), nil })
	if err != nil {
		t.Fatal(err)
	}
	selector, _ := labels.Parse("app=web")
	if got.Policy.LabelSelector.String() != selector.String() || got.Policy.NodeSelector.String() != "pool=a" || *got.Policy.PriorityThreshold != 10 {
		t.Errorf("policy %+v", got.Policy)
	}
	if got.Interval != DefaultInterval || *got.Limits.MaxMigratingPerNode != 2 || got.Limits.ObjectLimiters.Workload.Duration != 5*time.Minute || got.Limits.ObjectLimiters.Namespace != nil {
		t.Errorf("settings %+v", got)
	}
	if diff := cmp.Diff([]arbitration.Gate{"PVC", "MaxMigratingPerNode"}, got.Limits.SkippedGates); diff != "" {
		t.Errorf("skipped gates (-want +got):\n%s", diff)
	}
	args.NodeSelector = "!!"
	args.LabelSelector.MatchLabels["app"] = "no value/"
	if _, err := SettingsOf(args, func(string) (int32, error) { return 0, errors.New("no such class") }); err == nil ||
		!strings.Contains(err.Error(), "labelSelector") || !strings.Contains(err.Error(), "nodeSelector") || !strings.Contains(err.Error(), "no such class") {
		t.Errorf("error %v, want all three", err)
	}
}

package migrationcontroller_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/framework"
	"koordinator.sh/koord/descheduler/plugins"
	"koordinator.sh/koord/descheduler/plugins/migrationcontroller"
)

func pod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	yes := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: "uid", CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour)),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			NodeName: "a", SchedulerName: "koord-scheduler",
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func bare(p *corev1.Pod)   { p.OwnerReferences = nil }
func failed(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
func elsewhere(p *corev1.Pod) {
	p.Spec.SchedulerName = "default-scheduler"
}
func priority(value int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Priority = &value }
}

func node(name, cpu string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("10")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

// TestPodsBecomeJobsAsTheArgumentsSay evicts one old pod of node a; node b has room for it unless stated otherwise.
func TestPodsBecomeJobsAsTheArgumentsSay(t *testing.T) {
	const reserve, direct = schedulingv1alpha1.PodMigrationJobModeReservationFirst, schedulingv1alpha1.PodMigrationJobModeEvictionDirectly
	tests := map[string]struct {
		args string
		pod  *corev1.Pod
		room string
		// want is the mode of the job; empty for none.
		want schedulingv1alpha1.PodMigrationJobMode
	}{
		"a pod of a ReplicaSet":                           {pod: pod("web"), want: reserve},
		"evict directly by default":                       {pod: pod("web"), args: "{defaultJobMode: EvictDirectly}", want: direct},
		"a pod that failed":                               {pod: pod("web", failed), want: direct},
		"a bare pod":                                      {pod: pod("web", bare)},
		"a bare pod that failed":                          {pod: pod("web", bare, failed), args: "{evictFailedBarePods: true}", want: direct},
		"a bare pod where all may go":                     {pod: pod("web", bare), args: "{evictAllBarePods: true}", want: direct},
		"a pod of a scheduler without Reservations":       {pod: pod("web", elsewhere)},
		"the same where nothing is reserved":              {pod: pod("web", elsewhere), args: "{defaultJobMode: EvictDirectly}", want: direct},
		"the same where that scheduler is said to be one": {pod: pod("web", elsewhere), args: "{schedulerNames: [default-scheduler]}", want: reserve},
		"a priority class protects it":                    {pod: pod("web", priority(5000)), args: "{priorityThreshold: {name: high}}"},
		"a gate that is skipped":                          {pod: pod("web", priority(5000)), args: "{priorityThreshold: {name: high}, skipEvictionGates: [PriorityThreshold, MaxMigratingPerNode]}", want: reserve},
		"its namespace is excluded":                       {pod: pod("web"), args: "{namespaces: {exclude: [default]}}"},
		"its labels are not selected":                     {pod: pod("web"), args: "{labelSelector: {matchLabels: {move: please}}}"},
		"no other node has room":                          {pod: pod("web"), args: "{nodeFit: true}", room: "1"},
		"another node has room":                           {pod: pod("web"), args: "{nodeFit: true}", want: reserve},
		"the other node is not selected":                  {pod: pod("web"), args: "{nodeFit: true, nodeSelector: pool=shared}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.args == "" {
				test.args = "{}"
			}
			if test.room == "" {
				test.room = "4"
			}
			jobs := pass(t, test.args, test.pod, node("a", "4"), node("b", test.room), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000})
			var got schedulingv1alpha1.PodMigrationJobMode
			for _, job := range jobs {
				if got = job.Spec.Mode; job.Spec.TTL.Duration != 5*time.Minute {
					t.Errorf("TTL is %v, want the default", job.Spec.TTL)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || len(jobs) > 1 {
				t.Errorf("%d jobs; mode (-want +got):\n%s", len(jobs), diff)
			}
		})
	}
}

// pass makes one pass that evicts all old pods which may leave, and returns its jobs.
func pass(t *testing.T, args string, objects ...runtime.Object) []schedulingv1alpha1.PodMigrationJob {
	t.Helper()
	config, err := configuration.Read([]byte(`
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
profiles:
- plugins: {deschedule: {enabled: [{name: PodLifeTime}]}}
  pluginConfig:
  - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 60}}
  - {name: MigrationController, args: `+args+`}
`), plugins.Registry(plugins.Sources{}))
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := schedulingv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	jobs := fake.NewClientBuilder().WithScheme(scheme).Build()
	d, err := framework.New(t.Context(), framework.Config{Client: kubefake.NewClientset(objects...), Jobs: jobs, Registry: plugins.Registry(plugins.Sources{}), Configuration: config})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := &schedulingv1alpha1.PodMigrationJobList{}
	if err := jobs.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestAPriorityClassMustExist(t *testing.T) {
	args := &migration.Args{}
	if err := yaml.UnmarshalStrict([]byte("priorityThreshold: {name: missing}"), args); err != nil {
		t.Fatal(err)
	}
	if _, err := migrationcontroller.Policy(t.Context(), kubefake.NewClientset(), args); err == nil || !strings.Contains(err.Error(), "priorityThreshold") {
		t.Errorf("error is %v", err)
	}
}

var _ framework.Migrator = (*migrationcontroller.Plugin)(nil)

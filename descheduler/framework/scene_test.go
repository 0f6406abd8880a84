package framework_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/framework"
	"koordinator.sh/koord/descheduler/pluginargs"
	"koordinator.sh/koord/descheduler/plugins"
	"koordinator.sh/koord/test/informertest"
)

const header = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n"

// migrator stands for the MigrationController: it lets every pod leave but those that are marked.
type migrator struct{}

func (migrator) Name() string                       { return configuration.MigrationController }
func (migrator) Filter(pod *corev1.Pod) bool        { return pod.Labels["migrate"] != "never" }
func (migrator) PreEvictionFilter(*corev1.Pod) bool { return true }
func (migrator) JobSpec(*corev1.Pod) schedulingv1alpha1.PodMigrationJobSpec {
	return schedulingv1alpha1.PodMigrationJobSpec{
		Mode: schedulingv1alpha1.PodMigrationJobModeReservationFirst, TTL: &metav1.Duration{Duration: 7 * time.Minute},
	}
}

// function is a plugin made of a function, which gets the handle.
type function struct {
	name   string
	handle frameworktypes.Handle
	run    func(ctx context.Context, handle frameworktypes.Handle, nodes []*corev1.Node) error
}

func (f *function) Name() string { return f.name }
func (f *function) Deschedule(ctx context.Context, nodes []*corev1.Node) *frameworktypes.Status {
	return &frameworktypes.Status{Err: f.run(ctx, f.handle, nodes)}
}
func (f *function) Balance(ctx context.Context, nodes []*corev1.Node) *frameworktypes.Status {
	return f.Deschedule(ctx, nodes)
}

type noArgs struct{}

// register adds a plugin that takes no arguments.
func register(into pluginregistry.Registry, name string, plugin frameworktypes.Plugin, build pluginregistry.PluginBuilder) {
	delete(into, name)
	pluginregistry.Register(name, build, plugin, &pluginargs.Args[noArgs]{},
		pluginargs.Validator(func(*noArgs) field.ErrorList { return nil }), pluginargs.Defaulter(func(*noArgs) {}), into)
}

// scene is a cluster with a descheduler.
type scene struct {
	*framework.Descheduler
	jobs     client.Client
	kube     *kubefake.Clientset
	registry *prometheus.Registry
}

// cluster is what a scene is made of.
type cluster struct {
	objects []runtime.Object
	jobs    []client.Object
	// config without its header.
	config string
	// plugins beside those of the product, by name.
	plugins map[string]func(ctx context.Context, handle frameworktypes.Handle, nodes []*corev1.Node) error
	// intercept calls for jobs.
	intercept interceptor.Funcs
	sources   plugins.Sources
	edit      func(*framework.Config)
}

func (c cluster) registry() pluginregistry.Registry {
	all := plugins.Registry(c.sources)
	register(all, configuration.MigrationController, migrator{}, func(context.Context, runtime.Object, frameworktypes.Handle) (frameworktypes.Plugin, error) {
		return migrator{}, nil
	})
	for name, run := range c.plugins {
		register(all, name, &function{}, func(_ context.Context, _ runtime.Object, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
			return &function{name: name, handle: handle, run: run}, nil
		})
	}
	return all
}

func (c cluster) read(t *testing.T, config string) *configuration.Configuration {
	t.Helper()
	read, err := configuration.Read([]byte(header+config), c.registry())
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func (c cluster) start(t *testing.T) *scene {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{schedulingv1alpha1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &scene{
		kube:     informertest.NewClientset(c.objects...),
		jobs:     fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.jobs...).WithStatusSubresource(&schedulingv1alpha1.PodMigrationJob{}).WithInterceptorFuncs(c.intercept).Build(),
		registry: prometheus.NewRegistry(),
	}
	config := framework.Config{
		Client: s.kube, Jobs: s.jobs, Registry: c.registry(), Configuration: c.read(t, c.config), Identity: "this-process", Registerer: s.registry,
	}
	if c.edit != nil {
		c.edit(&config)
	}
	var err error
	if s.Descheduler, err = framework.New(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return s
}

// pass makes one pass.
func (s *scene) pass(t *testing.T) framework.Pass {
	t.Helper()
	pass, err := s.RunOnce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pass
}

// migrating are the pods that have jobs, with the plugin that asked.
func (s *scene) migrating(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, job := range s.allJobs(t) {
		out[job.Spec.PodRef.Namespace+"/"+job.Spec.PodRef.Name] = job.Annotations[extension.AnnotationEvictTrigger]
	}
	return out
}

func (s *scene) allJobs(t *testing.T) []schedulingv1alpha1.PodMigrationJob {
	t.Helper()
	list := &schedulingv1alpha1.PodMigrationJobList{}
	if err := s.jobs.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// triggers says for each pod which plugin asked for its eviction.
func triggers(plugin string, pods ...string) map[string]string {
	out := map[string]string{}
	for _, pod := range pods {
		out["default/"+pod] = plugin
	}
	return out
}

// node is a ready node of 4 cores and 8 GiB.
func node(name string, edits ...func(*corev1.Node)) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, edit := range edits {
		edit(n)
	}
	return n
}

// pod is a running pod of a ReplicaSet that requests 500m of CPU.
func pod(name, node string, edits ...func(*corev1.Pod)) *corev1.Pod {
	yes, created := true, metav1.NewTime(time.Now().Add(-time.Hour))
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: created,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-rs", UID: types.UID("rs-" + name), Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			NodeName: node,
			Containers: []corev1.Container{{
				Name: "main", Image: "main",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("64Mi")}},
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func labelled(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
}

// ownedBy makes pods replicas of one ReplicaSet.
func ownedBy(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = name, types.UID("rs-"+name)
	}
}

func objects(all ...runtime.Object) []runtime.Object {
	return append(all, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
}

// profileOf is a configuration with one plugin at an extension point, and its arguments.
func profileOf(point, plugin, args string) string {
	return fmt.Sprintf("profiles: [{plugins: {%s: {enabled: [{name: %s}]}}, pluginConfig: [{name: %s, args: %s}]}]\n", point, plugin, plugin, args)
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

package framework_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/descheduler/arbitrator"
	"koordinator.sh/koord/descheduler/framework"
)

// planner moves the pod first from a to b, and the pod second from b to c: in the order of the plan, and against that of the room.
func planner(ctx context.Context, handle frameworktypes.Handle, _ []*corev1.Node) error {
	var errs []error
	for _, move := range []struct{ pod, from, to string }{{"first", "a", "b"}, {"second", "b", "c"}} {
		errs = append(errs, handle.Evictor().(framework.Evictor).EvictBy(ctx, pod(move.pod, move.from), evictions.EvictOptions{}, func(job *schedulingv1alpha1.PodMigrationJob) {
			job.Annotations[extension.AnnotationTargetNode] = move.to
		}))
	}
	return errors.Join(errs...)
}

// apiServer is a client that gives new objects a UID and the time of their creation, as the API server does.
func apiServer(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), schedulingv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&schedulingv1alpha1.PodMigrationJob{}).
		WithInterceptorFuncs(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetUID(types.UID("uid-of-" + object.GetName()))
			object.SetCreationTimestamp(metav1.Now())
			return c.Create(ctx, object, options...)
		}}).Build()
}

// TestJobsOfAPassStartInTheOrderOfTheRoomTheyMake: from the plugin that plans, over the annotations of jobs, to the arbitrator.
func TestJobsOfAPassStartInTheOrderOfTheRoomTheyMake(t *testing.T) {
	for name, test := range map[string]struct {
		outcome schedulingv1alpha1.PodMigrationJobPhase
		want    map[string]bool
	}{
		"the move that makes room succeeded": {schedulingv1alpha1.PodMigrationJobSucceeded, map[string]bool{"first": true, "second": true}},
		"it is under way":                    {schedulingv1alpha1.PodMigrationJobRunning, map[string]bool{"first": false, "second": true}},
		"it failed":                          {schedulingv1alpha1.PodMigrationJobFailed, map[string]bool{"first": false, "second": true}},
	} {
		t.Run(name, func(t *testing.T) {
			bare := func(p *corev1.Pod) { p.OwnerReferences = nil }
			c := apiServer(t, node("a"), node("b"), node("c"), pod("first", "a", bare), pod("second", "b", bare))
			s := cluster{
				objects: objects(node("a"), node("b"), node("c"), pod("first", "a"), pod("second", "b")), plugins: map[string]run{"Planner": planner},
				config: profileOf("balance", "Planner", "{}"), edit: func(config *framework.Config) { config.Jobs = c },
			}.start(t)
			s.pass(t)
			arbitrates := arbitrator.New(arbitrator.Config{
				Client: c, Live: c, Namespace: metav1.NamespaceSystem, Log: logr.Discard(), Held: arbitrator.HeldByPasses(0),
				Settings: func() arbitrator.Settings {
					return arbitrator.Settings{Policy: evictability.Policy{EvictAllBarePods: true}}
				},
			})
			if err := arbitrates.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]bool{"first": false, "second": true}, started(t, c)); diff != "" {
				t.Fatalf("jobs that start at first (-want +got):\n%s\n%+v", diff, arbitrates.Last())
			}
			end(t, c, "second", test.outcome)
			if err := arbitrates.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, started(t, c)); diff != "" {
				t.Errorf("jobs that have started (-want +got):\n%s", diff)
			}
		})
	}
}

// started says of each pod whether its job may start.
func started(t *testing.T, c client.Client) map[string]bool {
	t.Helper()
	var jobs schedulingv1alpha1.PodMigrationJobList
	if err := c.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for i := range jobs.Items {
		out[jobs.Items[i].Spec.PodRef.Name] = extension.HasPassedArbitration(jobs.Items[i].Annotations)
	}
	return out
}

// end brings the job of a pod to a phase.
func end(t *testing.T, c client.Client, pod string, phase schedulingv1alpha1.PodMigrationJobPhase) {
	t.Helper()
	var jobs schedulingv1alpha1.PodMigrationJobList
	if err := c.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	for i := range jobs.Items {
		if job := &jobs.Items[i]; job.Spec.PodRef.Name == pod {
			job.Status.Phase = phase
			if err := c.Status().Update(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		}
	}
}

package arbitrator

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// process is an arbitrator with the requests that it sends past its cache.
type process struct {
	*Arbitrator
	requests map[string]int
	// cached is what its cache shows in place of all jobs; nil shows all.
	cached func(*schedulingv1alpha1.PodMigrationJobList)
}

func processOf(c client.WithWatch) *process {
	p := &process{requests: map[string]int{}}
	live := interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, to client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			p.requests[fmt.Sprintf("get %T", object)]++
			return to.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, to client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			p.requests[fmt.Sprintf("list %T", list)]++
			return to.List(ctx, list, options...)
		},
	})
	cache := interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, to client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := to.List(ctx, list, options...)
			if jobs, is := list.(*schedulingv1alpha1.PodMigrationJobList); is && p.cached != nil {
				p.cached(jobs)
			}
			return err
		},
	})
	p.Arbitrator = New(Config{
		Client: cache, Live: live, Namespace: "koordinator-system", Log: logr.Discard(),
		Settings: func() Settings { return Settings{Policy: evictability.Policy{EvictAllBarePods: true}} },
	})
	return p
}

// admitNext creates a job for another pod and lets it start.
func (p *process) admitNext(t *testing.T, c client.Client, pod string) {
	t.Helper()
	for _, object := range []client.Object{podOf(pod), jobFor(pod)} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := states(t, c)["job-"+pod]; got != "started node-1" {
		t.Fatalf("job of %s: %q, want that it is started", pod, got)
	}
}

func (p *process) wantRequests(t *testing.T, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, p.requests); diff != "" {
		t.Errorf("requests past the cache (-want +got):\n%s", diff)
	}
}

const (
	listJobs         = "list *v1alpha1.PodMigrationJobList"
	listReservations = "list *v1alpha1.ReservationList"
	getLedger        = "get *v1.ConfigMap"
)

// TestJobsAreListedPastTheCacheOnce admits many jobs in many rounds, until another descheduler admits one.
func TestJobsAreListedPastTheCacheOnce(t *testing.T) {
	c := clientOf(t, interceptor.Funcs{})
	first, second := processOf(c), processOf(c)
	for i := range 20 {
		first.admitNext(t, c, fmt.Sprint("a-", i))
	}
	first.wantRequests(t, map[string]int{getLedger: 20, listJobs: 1})
	for range 20 { // with nothing to admit
		if err := first.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first.wantRequests(t, map[string]int{getLedger: 20, listJobs: 1})
	second.admitNext(t, c, "b")
	second.admitNext(t, c, "c")
	second.wantRequests(t, map[string]int{getLedger: 2, listJobs: 1})
	first.admitNext(t, c, "d")
	first.admitNext(t, c, "e")
	first.wantRequests(t, map[string]int{getLedger: 22, listJobs: 2})
}

// TestACacheThatIsBehindIsNotReliedOn until it shows what others admitted.
func TestACacheThatIsBehindIsNotReliedOn(t *testing.T) {
	c := clientOf(t, interceptor.Funcs{})
	other, p := processOf(c), processOf(c)
	other.admitNext(t, c, "theirs")
	p.cached = func(jobs *schedulingv1alpha1.PodMigrationJobList) {
		for i := range jobs.Items {
			if jobs.Items[i].Name == "job-theirs" {
				jobs.Items[i].Annotations = nil
			}
		}
	}
	p.admitNext(t, c, "a")
	p.admitNext(t, c, "b")
	p.wantRequests(t, map[string]int{getLedger: 2, listJobs: 2})
	p.cached = nil
	p.admitNext(t, c, "c")
	p.admitNext(t, c, "d")
	p.wantRequests(t, map[string]int{getLedger: 4, listJobs: 3})
}

// TestReservationsAreListedWhereOneMayBeLeft: of a job of the same workload that did not succeed.
func TestReservationsAreListedWhereOneMayBeLeft(t *testing.T) {
	earlier := func(phase schedulingv1alpha1.PodMigrationJobPhase) client.Object {
		job := jobFor("web-0")
		job.Status.Phase = phase
		arbitration.Admit(job, arbitration.Admission{Node: "node-1", Workload: "web-uid", Title: "Deployment/web"})
		return job
	}
	left := &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{
			Name: "job-web-0", Labels: map[string]string{migration.LabelCreatedBy: migration.CreatedBy},
			OwnerReferences: []metav1.OwnerReference{{Kind: "PodMigrationJob", Name: "job-web-0", UID: "job-web-0", Controller: new(true)}},
		},
		Status: schedulingv1alpha1.ReservationStatus{Phase: schedulingv1alpha1.ReservationAvailable},
	}
	for name, test := range map[string]struct {
		objects []client.Object
		want    string
		// wantRequests past the cache.
		wantRequests map[string]int
	}{
		"a job failed": {
			[]client.Object{earlier(schedulingv1alpha1.PodMigrationJobFailed)}, "started node-1 Deployment/web/web-uid",
			map[string]int{getLedger: 1, listJobs: 1, listReservations: 2},
		},
		"a job was aborted, and its reservation is there": {
			[]client.Object{earlier(schedulingv1alpha1.PodMigrationJobAborted), left.DeepCopy()}, "", map[string]int{listReservations: 1},
		},
		"a job succeeded": {
			[]client.Object{earlier(schedulingv1alpha1.PodMigrationJobSucceeded)}, "started node-1 Deployment/web/web-uid", map[string]int{getLedger: 1, listJobs: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clientOf(t, interceptor.Funcs{}, append(append(web(), jobFor("web-1")), test.objects...)...)
			p := processOf(c)
			if err := p.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.wantRequests(t, test.wantRequests)
			if got := states(t, c)["job-web-1"]; got != test.want {
				t.Errorf("the job is %q, want %q", got, test.want)
			}
		})
	}
}

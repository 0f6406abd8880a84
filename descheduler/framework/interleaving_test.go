package framework_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/descheduler/framework"
)

// unreliable is an API server that loses requests and answers, refuses, and a cache that lags behind, by a seed.
type unreliable struct {
	mu     sync.Mutex
	random *rand.Rand
	// earlier is what a cache that lags behind has.
	earlier *schedulingv1alpha1.PodMigrationJobList
}

func (u *unreliable) dice(sides int) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.random.IntN(sides)
}

func (u *unreliable) funcs() interceptor.Funcs {
	lost := errors.New("connection reset by peer")
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			switch u.dice(6) {
			case 0:
				return lost
			case 1:
				if err := c.Create(ctx, object, options...); err != nil {
					return err
				}
				return lost
			case 2:
				return apierrors.NewTooManyRequests("try again", 1)
			case 3:
				return apierrors.NewForbidden(schema.GroupResource{Resource: "podmigrationjobs"}, object.GetName(), errors.New("quota"))
			}
			return c.Create(ctx, object, options...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if u.dice(4) == 0 {
				return lost
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			jobs := list.(*schedulingv1alpha1.PodMigrationJobList)
			stale := u.dice(3) == 0
			u.mu.Lock()
			defer u.mu.Unlock()
			if u.earlier != nil && stale {
				u.earlier.DeepCopyInto(jobs)
				return nil
			}
			if err := c.List(ctx, list, options...); err != nil {
				return err
			}
			u.earlier = jobs.DeepCopy()
			return nil
		},
	}
}

// TestNoInterleavingExceedsALimitOrMakesASecondJob makes passes against an unreliable API server, with restarts, a second descheduler at
// the same time, and jobs that end in between.
func TestNoInterleavingExceedsALimitOrMakesASecondJob(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		server := &unreliable{random: rand.New(rand.NewPCG(seed, 1))}
		perNode, total := 1+server.dice(3), 1+server.dice(6)
		c := cluster{
			objects: crowd(3, 4), plugins: map[string]run{"AtOnce": atOnce},
			config: fmt.Sprintf("maxNoOfPodsToEvictPerNode: %d\nmaxNoOfPodsToEvictTotal: %d\n%s", perNode, total, profileOf("deschedule", "AtOnce", "{}")),
		}
		store := c.start(t).jobs
		c.edit = func(config *framework.Config) {
			config.Jobs = interceptor.NewClient(store.(client.WithWatch), server.funcs())
		}
		first, second := c.start(t), c.start(t)
		first.jobs = store
		for round := range 6 {
			deschedulers := []*scene{first}
			if server.dice(3) == 0 {
				deschedulers = append(deschedulers, second)
			}
			before := len(first.allJobs(t))
			var all sync.WaitGroup
			for _, one := range deschedulers {
				all.Go(func() {
					if _, err := one.RunOnce(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			check(t, fmt.Sprintf("seed %d, round %d", seed, round), first.allJobs(t), before, total*len(deschedulers))
			finishSome(t, server, store, first.allJobs(t))
			if server.dice(4) == 0 {
				first = c.start(t)
				first.jobs = store
			}
		}
		if t.Failed() {
			return
		}
	}
}

// check counts live jobs by pod, and new ones.
func check(t *testing.T, when string, jobs []schedulingv1alpha1.PodMigrationJob, before, most int) {
	t.Helper()
	if created := len(jobs) - before; created > most {
		t.Errorf("%s: %d jobs were created, want at most %d", when, created, most)
	}
	live := map[types.UID]string{}
	for _, job := range jobs {
		if job.Status.Phase == schedulingv1alpha1.PodMigrationJobFailed {
			continue
		}
		if other := live[job.Spec.PodRef.UID]; other != "" {
			t.Errorf("%s: pod %s has the jobs %s and %s", when, job.Spec.PodRef.Name, other, job.Name)
		}
		live[job.Spec.PodRef.UID] = job.Name
	}
}

// finishSome lets some jobs fail.
func finishSome(t *testing.T, server *unreliable, store client.Client, jobs []schedulingv1alpha1.PodMigrationJob) {
	t.Helper()
	for i := range jobs {
		if jobs[i].Status.Phase != "" || server.dice(3) != 0 {
			continue
		}
		jobs[i].Status.Phase = schedulingv1alpha1.PodMigrationJobFailed
		if err := store.Status().Update(t.Context(), &jobs[i]); err != nil {
			t.Fatal(err)
		}
	}
}

package arbitrator

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// waits are the gates that jobs wait for, as it is written on them.
func waits(t *testing.T, c client.Client) map[string]string {
	t.Helper()
	var jobs schedulingv1alpha1.PodMigrationJobList
	if err := c.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range jobs.Items {
		wait, err := extension.GetArbitrationWait(jobs.Items[i].Annotations)
		if err != nil {
			t.Fatal(err)
		}
		if wait != nil {
			out[jobs.Items[i].Name] = wait.Gate
		}
	}
	return out
}

// TestJobsSayWhatTheyWaitFor once, and no longer when they may start.
func TestJobsSayWhatTheyWaitFor(t *testing.T) {
	patches := 0
	c := clientOf(t, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		patches++
		return c.Patch(ctx, object, patch, options...)
	}}, append(web(), jobFor("web-1"), jobFor("web-2"))...)
	arbitrator := arbitratorOf(c, Settings{})
	round := func(want map[string]string, wantPatches int) {
		t.Helper()
		if err := arbitrator.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, waits(t, c)); diff != "" || patches != wantPatches {
			t.Errorf("%d writes, want %d, jobs wait for (-want +got):\n%s", patches, wantPatches, diff)
		}
	}
	waiting := map[string]string{"job-web-2": "PendingReplacement"}
	round(waiting, 2)
	round(waiting, 2)
	first := jobFor("web-1")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	round(map[string]string{}, 3)
}

func TestAJobThatChangesMeanwhileIsWrittenInAnotherRound(t *testing.T) {
	conflicts := 1
	c := clientOf(t, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if object.GetName() == "job-web-2" && conflicts > 0 {
			conflicts--
			return apierrors.NewConflict(schema.GroupResource{Resource: "podmigrationjobs"}, object.GetName(), nil)
		}
		return c.Patch(ctx, object, patch, options...)
	}}, append(web(), jobFor("web-1"), jobFor("web-2"))...)
	arbitrator := arbitratorOf(c, Settings{})
	for _, want := range []map[string]string{{}, {"job-web-2": "PendingReplacement"}} {
		if err := arbitrator.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, waits(t, c)); diff != "" {
			t.Errorf("jobs wait for (-want +got):\n%s", diff)
		}
	}
}

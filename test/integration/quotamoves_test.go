package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/invariants"
	"koordinator.sh/koord/test/sandboxtest"
)

// reorganization moves a subtree of quotas between two departments, changes min and max within it, and closes the department
// that it left and opens it again.
type reorganization struct {
	// namespace of the quotas that are no leaves: departments north and south, and team, which is above the leaves.
	namespace string
	leaves    []string
	moves     int
}

func (r *reorganization) quota(name string) string { return r.namespace + "-" + name }

// below has the team be of a department.
func (r *reorganization) below(department string) string {
	return fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, extension.LabelQuotaParent, r.quota(department))
}

// step makes the i-th change. Whoever is left has no children, so it may be closed.
func (r *reorganization) step(ctx context.Context, i int) error {
	from, to := "north", "south"
	if i/4%2 == 1 {
		from, to = to, from
	}
	patch := func(namespace, name, text string) error {
		return persist(ctx, func() error {
			_, err := dynamicClient.Resource(quotaResource).Namespace(namespace).Patch(ctx, name, types.MergePatchType, []byte(text), metav1.PatchOptions{})
			return err
		})
	}
	switch i % 4 {
	case 0:
		r.moves++
		return patch(r.namespace, r.quota("team"), r.below(to))
	case 1:
		if err := withdraw(ctx, quotaResource, r.namespace, r.quota(from)); err != nil {
			return err
		}
		return insist(ctx, quotaResource, shareOf(r.namespace, r.quota(from), "", "4", "36", true))
	case 2:
		leaf := r.leaves[i/4%len(r.leaves)]
		return patch(leaf, leaf, fmt.Sprintf(`{"spec":{"min":{"cpu":"%d"},"max":{"cpu":"%d"}}}`, i/4%2, 4+4*(i/4%3)))
	default:
		return patch(r.namespace, r.quota("team"), fmt.Sprintf(`{"spec":{"max":{"cpu":"%d"}}}`, 14+10*(i/4%2)))
	}
}

// run makes changes until it is stopped.
func (r *reorganization) run(ctx context.Context, stop <-chan struct{}) error {
	return storm(ctx, stop, 120*time.Millisecond, func(i int) error {
		if err := r.step(ctx, i); err != nil {
			return fmt.Errorf("the %d-th change of quotas: %w", i, err)
		}
		return nil
	})
}

// TestSubtreesOfQuotasMoveUnderLoad moves a subtree from one department to the other while pods of its leaves come, wait and go.
// No pod is admitted beyond what its quota may use at the time, and in the end what every quota uses is what its pods request.
func TestSubtreesOfQuotasMoveUnderLoad(t *testing.T) {
	const name, pool, alive, moves = "it-moves", "moves", 6, 20
	awaitQuotaAdmission(t)
	watcher := observe(t)
	names := machines(t, pool, 3)
	r := &reorganization{namespace: space(t, "inv-moves")}
	above := r.namespace
	t.Cleanup(func() { // from the leaves up: admission refuses to delete a parent with children
		if err := withdraw(context.Background(), quotaResource, above, r.quota("team")); err != nil {
			t.Error(err)
		}
	})
	a, b := space(t, "inv-moves-a"), space(t, "inv-moves-b")
	r.leaves = []string{a, b}
	share(t, above, r.quota("north"), "", "4", "36", true)
	share(t, above, r.quota("south"), "", "4", "36", true)
	share(t, above, r.quota("team"), r.quota("north"), "2", "24", true)
	elastic(t, a, a, r.quota("team"), "1", "12")
	elastic(t, b, b, r.quota("team"), "1", "12")
	own := startScheduler(t, name)

	stop := background(t, churn{a, pool, alive, corePod, "cpu"}.placedBy(name).run, churn{b, pool, alive, corePod, "cpu"}.placedBy(name).run, r.run)
	awaitSome(t, a)
	awaitSome(t, b)
	awaitMoves(t, watcher, above, r.quota("team"), moves)
	stop()
	for _, leaf := range r.leaves {
		raise(t, leaf, leaf, "12")
	}
	raise(t, above, r.quota("team"), "24")
	awaitBound(t, patience, a, alive, 0)
	awaitBound(t, patience, b, alive, 0)
	quotaCounts(t, a)
	quotaCounts(t, b)
	agrees(t, watcher, own, a, names) // the statuses of the quotas above among them
	toTheLastCPU(t, names, pool, own.places)
}

// awaitMoves waits until a quota was below another parent so often, with pods bound in between.
func awaitMoves(t *testing.T, watcher *invariants.Watcher, namespace, name string, want int) {
	t.Helper()
	parent, moves, bound, before := "", 0, 0, watcher.Seen().Bindings
	sandboxtest.Eventually(t, patience, func() error {
		quota, err := dynamicClient.Resource(quotaResource).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if now := quota.GetLabels()[extension.LabelQuotaParent]; now != parent {
			parent = now
			moves++
		}
		if bound = watcher.Seen().Bindings - before; moves < want || bound < 2*want {
			return fmt.Errorf("quota %s moved %d times and %d pods were bound, want %d and %d", name, moves, bound, want, 2*want)
		}
		return nil
	})
	t.Logf("%d moves, %d pods bound", moves, bound)
}

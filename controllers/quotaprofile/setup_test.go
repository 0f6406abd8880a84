package quotaprofile

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queue records what is enqueued for later.
type queue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	names []string
}

func (q *queue) AddAfter(request reconcile.Request, _ time.Duration) {
	q.names = append(q.names, request.Name)
}

// reads counts lists.
type reads struct {
	client.Reader
	lists int
}

func (r *reads) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	r.lists++
	return r.Reader.List(ctx, list, options...)
}

func TestANodeEnqueuesTheProfilesThatSelectIt(t *testing.T) {
	for name, test := range map[string]struct {
		known     bool
		pool      string
		want      []string
		wantLists int
	}{
		"selected":                        {true, "a", []string{"profile"}, 1},
		"not selected":                    {true, "b", nil, 1},
		"profiles that are not known yet": {false, "a", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			reader, q := &reads{Reader: newRig(t, profile()).client}, &queue{}
			h := selecting(reader, func(context.Context) bool { return test.known })
			h.Create(t.Context(), event.CreateEvent{Object: node("n", test.pool, "4")}, q)
			if diff := cmp.Diff(test.want, q.names); diff != "" || reader.lists != test.wantLists {
				t.Errorf("%d lists, want %d; enqueued (-want +got):\n%s", reader.lists, test.wantLists, diff)
			}
		})
	}
}

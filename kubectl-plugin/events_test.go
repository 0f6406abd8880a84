package kubectlplugin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// starting is a pod whose two containers start in the same second, and one of which is refused again and again. Then the cluster is gone.
type starting struct {
	source.Source
	asked int
}

func (s *starting) PodTimeline(_ context.Context, namespace, name string) (*diagnosticsv1alpha1.PodTimeline, error) {
	if s.asked++; s.asked > 4 {
		return nil, errors.New("the cluster is gone")
	}
	entry := func(event, message string, count int32) diagnosticsv1alpha1.TimelineEntry {
		return diagnosticsv1alpha1.TimelineEntry{Time: metav1.NewMicroTime(testNow), Event: event, Message: message, Count: count}
	}
	refused := entry("FailedScheduling", "no node", 1)
	if s.asked > 2 {
		refused.Count, refused.LastTime = 2, &metav1.MicroTime{Time: testNow.Add(time.Second)}
	}
	return &diagnosticsv1alpha1.PodTimeline{
		TypeMeta:   metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "PodTimeline"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Entries:    []diagnosticsv1alpha1.TimelineEntry{refused, entry("Started", "container a", 1), entry("Started", "container b", 1)},
	}, nil
}

// TestOnlyNewsIsPrintedOfATimelineThatIsWatched: each start once, and the refusal again when it was counted up.
func TestOnlyNewsIsPrintedOfATimelineThatIsWatched(t *testing.T) {
	got := run(t, cluster(), "events web-0 -n shop -w", func(o *Options) {
		o.Clock = hurrying{clocktesting.NewFakeClock(testNow)}
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) { return &starting{}, nil }
	})
	for text, want := range map[string]int{"container a": 1, "container b": 1, "no node": 2, "FailedScheduling x2": 1, "MESSAGE": 1} {
		if n := strings.Count(got.stdout, text); n != want {
			t.Errorf("%q stands %d times, want %d:\n%s", text, n, want, got.stdout)
		}
	}
	if !strings.Contains(got.stderr, "the cluster is gone") {
		t.Errorf("stderr:\n%s", got.stderr)
	}
}

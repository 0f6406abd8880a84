package kubectlplugin

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// hurried is a clock on which every wait is over at once.
type hurried struct{ clock.RealClock }

func (hurried) After(time.Duration) <-chan time.Time {
	over := make(chan time.Time, 1)
	over <- time.Time{}
	return over
}

func TestAWatchNamesAGapWhenItChanges(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gaps := [][]string{{"a"}, {"a"}, {"b"}, nil, {"b"}}
	var errOut bytes.Buffer
	s := &session{Options: Options{
		Clock: hurried{}, Streams: genericiooptions.IOStreams{ErrOut: &errOut},
		Connect: func(clientcmd.ClientConfig, Connection) (source.Source, error) { return nil, nil },
	}}
	newRootCommand(s)
	asked := 0
	err := runTop(ctx, s, &topOptions{watch: watch{on: true}}, overview[*diagnosticsv1alpha1.NodeOverviewList]{
		ask: func(context.Context, source.Source) (*diagnosticsv1alpha1.NodeOverviewList, error) {
			if asked == len(gaps) {
				cancel()
				return nil, ctx.Err()
			}
			asked++
			return &diagnosticsv1alpha1.NodeOverviewList{Incomplete: gaps[asked-1]}, nil
		},
		changed: func(_, now *diagnosticsv1alpha1.NodeOverviewList) (*diagnosticsv1alpha1.NodeOverviewList, bool) {
			return now, true
		},
		missing: func(list *diagnosticsv1alpha1.NodeOverviewList) []string { return list.Incomplete },
		show:    func(*diagnosticsv1alpha1.NodeOverviewList, bool) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"incomplete: a", "incomplete: b", "incomplete: b"}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(errOut.String()), "\n")); diff != "" {
		t.Errorf("standard error (-want +got):\n%s", diff)
	}
}

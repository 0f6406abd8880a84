package kubectlplugin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// changing is a cluster that answers each question about nodes or pods with the next of its lists, and is gone after the last.
type changing struct {
	source.Source
	nodes []*diagnosticsv1alpha1.NodeOverviewList
	pods  []*diagnosticsv1alpha1.PodOverviewList
}

var errGone = errors.New("the cluster is gone")

func next[T any](lists *[]*T) (*T, error) {
	if len(*lists) == 0 {
		return nil, errGone
	}
	first := (*lists)[0]
	*lists = (*lists)[1:]
	return first, nil
}

func (c *changing) Nodes(context.Context, source.NodeQuery) (*diagnosticsv1alpha1.NodeOverviewList, error) {
	return next(&c.nodes)
}

func (c *changing) Pods(context.Context, source.PodQuery) (*diagnosticsv1alpha1.PodOverviewList, error) {
	return next(&c.pods)
}

func measured(name string, used int64) diagnosticsv1alpha1.NodeOverview {
	return diagnosticsv1alpha1.NodeOverview{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Ready: true, Load: diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadNormal},
		CPU: diagnosticsv1alpha1.ResourceOverview{Capacity: 32000, Allocatable: 31000, Used: &used, ProdRequested: new(int64)},
	}
}

func measurements(nodes ...diagnosticsv1alpha1.NodeOverview) *diagnosticsv1alpha1.NodeOverviewList {
	return &diagnosticsv1alpha1.NodeOverviewList{Items: nodes}
}

// watching runs a command line against lists that change, on a clock without waiters.
func watching(t *testing.T, c *changing, line string) result {
	t.Helper()
	return run(t, cluster(), line, func(o *Options) {
		o.Clock = hurrying{clocktesting.NewFakeClock(testNow)}
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) { return c, nil }
	})
}

// firstWords of lines.
func firstWords(text string) []string {
	var words []string
	for line := range strings.Lines(text) {
		words = append(words, strings.Fields(line)[0])
	}
	return words
}

func TestAWatchOfNodesAppendsWhatChanged(t *testing.T) {
	c := &changing{nodes: []*diagnosticsv1alpha1.NodeOverviewList{
		measurements(measured("a", 1000), measured("b", 1000)),
		measurements(measured("a", 1000), measured("b", 1000)),
		measurements(measured("a", 1000), measured("b", 2000)),
		measurements(measured("a", 1000)),
		measurements(measured("a", 1000), measured("c", 1000)),
	}}
	got := watching(t, c, "top nodes -w")
	if diff := cmp.Diff([]string{"NAME", "a", "b", "b", "c"}, firstWords(got.stdout)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got.code != ExitError || !strings.Contains(got.stderr, errGone.Error()) || strings.Count(got.stderr, "capacity") != 1 {
		t.Errorf("exit code %d, want one sum and the error of the last question:\n%s", got.code, got.stderr)
	}
}

func TestAWatchOfNothingSaysSoOnce(t *testing.T) {
	none := &diagnosticsv1alpha1.PodOverviewList{}
	one := &diagnosticsv1alpha1.PodOverviewList{Items: []diagnosticsv1alpha1.PodOverview{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}}}
	c := &changing{pods: []*diagnosticsv1alpha1.PodOverviewList{none, none, one, none, one}}
	got := watching(t, c, "top pods -w --interval 1s -n shop")
	if diff := cmp.Diff([]string{"web", "web"}, firstWords(got.stdout)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if strings.Count(got.stderr, "No pods found in shop namespace") != 1 {
		t.Errorf("standard error:\n%s", got.stderr)
	}
}

func TestAWatchOfPodsKnowsThemByNamespace(t *testing.T) {
	pod := func(namespace, qos string) diagnosticsv1alpha1.PodOverview {
		return diagnosticsv1alpha1.PodOverview{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, QoSClass: qos}
	}
	c := &changing{pods: []*diagnosticsv1alpha1.PodOverviewList{
		{Items: []diagnosticsv1alpha1.PodOverview{pod("shop", "LS"), pod("spark", "BE")}},
		{Items: []diagnosticsv1alpha1.PodOverview{pod("shop", "LS"), pod("spark", "LS")}},
	}}
	got := watching(t, c, "top pods -A --watch --no-headers")
	if diff := cmp.Diff([]string{"shop", "spark", "spark"}, firstWords(got.stdout)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAWatchPrintsObjectsToo(t *testing.T) {
	c := &changing{nodes: []*diagnosticsv1alpha1.NodeOverviewList{measurements(measured("a", 1)), measurements(measured("a", 2), measured("b", 1))}}
	if got := watching(t, c, "top nodes -w -o name"); got.stdout != "node/a\nnode/a\nnode/b\n" {
		t.Errorf("printed %q", got.stdout)
	}
}

func TestAWatchThatIsInterruptedIsNoFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	err := repeat(ctx, hurried{}, time.Second, question[int]{
		ask: func(context.Context) (int, error) {
			if asked++; asked == 3 {
				cancel()
			}
			return asked, nil
		},
		changed: func(_, now int) (int, bool) { return now, true },
		show:    func(int, bool) error { return nil },
	})
	if err != nil || asked != 3 {
		t.Errorf("%v after %d questions", err, asked)
	}
}

func TestAWatchEndsWhenItsOutputDoes(t *testing.T) {
	err := repeat(t.Context(), hurried{}, time.Second, question[int]{
		ask: func(context.Context) (int, error) { return 1, nil }, changed: func(_, now int) (int, bool) { return now, true },
		show: func(int, bool) error { return errGone },
	})
	if !errors.Is(err, errGone) {
		t.Errorf("%v", err)
	}
}

func TestIntervalsAreAtLeastASecond(t *testing.T) {
	for text, wantErr := range map[string]string{
		"1s": "", "90s": "", "1h30m": "", "999ms": "must be at least 1s", "0s": "must be at least 1s", "-5s": "must be at least 1s",
		"5": `time: missing unit in duration "5"`, "soon": `time: invalid duration "soon"`,
	} {
		var d duration
		got := ""
		if err := d.Set(text); err != nil {
			got = err.Error()
		}
		if got != wantErr || d.Type() != "duration" {
			t.Errorf("%q: %q, want %q", text, got, wantErr)
		}
	}
}

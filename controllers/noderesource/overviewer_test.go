package noderesource

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/overview"
)

// podInformers are informers that know the pods among the objects.
type podInformers struct {
	cache.Informers
	pods toolscache.SharedIndexInformer
}

// GetInformer returns that of pods, whatever is asked for.
func (p *podInformers) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return p.pods, nil
}

func overviewerOf(t *testing.T, config *sloconfig.Store, objects ...client.Object) *Overviewer {
	t.Helper()
	h := newHarness(t, config, objects...)
	informers := &podInformers{pods: toolscache.NewSharedIndexInformer(&toolscache.ListWatch{}, &corev1.Pod{}, 0, toolscache.Indexers{})}
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			if err := informers.pods.GetStore().Add(pod); err != nil {
				t.Fatal(err)
			}
		}
	}
	return &Overviewer{Reader: h.client, Informers: informers, Settings: h.client, Namespace: "koordinator-system", Config: config, Clock: clocktesting.NewFakePassiveClock(noon)}
}

func schedulerConfig(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: configuration.SchedulerConfigMapName}, Data: map[string]string{"koord-scheduler-config": text},
	}
}

// TestOverviewsAreWhatTheObjectsSay holds the list against the decision over the same objects.
func TestOverviewsAreWhatTheObjectsSay(t *testing.T) {
	node, metric, pod := testNode(nil), testMetric(time.Minute), testPod()
	other := testNode(nil)
	other.Name, other.Labels = "node-b", map[string]string{"pool": "lead"}
	o := overviewerOf(t, store(t, enabled), node, other, metric, pod)
	config, problems := configmerge.Parse(map[string]string{"colocation-config": enabled})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := overview.Nodes(overview.NodesInput{
		Nodes: []corev1.Node{*node, *other}, Metrics: []slov1alpha1.NodeMetric{*metric}, Pods: overcommit.RequestsOfAll([]corev1.Pod{*pod}), Config: &config, Now: noon,
	})
	tests := map[string]struct {
		name, selector string
		want           []diagnosticsv1alpha1.NodeOverview
	}{
		"all":      {want: want.Items},
		"one":      {name: "node-a", want: want.Items[:1]},
		"by label": {selector: "pool=lead", want: want.Items[1:]},
		"none":     {selector: "pool=iron", want: []diagnosticsv1alpha1.NodeOverview{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			matching, err := labels.Parse(test.selector)
			if err != nil {
				t.Fatal(err)
			}
			got, err := o.NodeOverviews(t.Context(), test.name, matching)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Items); diff != "" {
				t.Errorf("overviews (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := o.NodeOverviews(t.Context(), "ghost", labels.Everything()); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want NotFound", err)
	}
}

func TestOverviewsJudgeLoadAsTheSchedulerIsConfiguredTo(t *testing.T) {
	const profile = "kind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: koord-scheduler\n  pluginConfig:\n  - name: LoadAwareScheduling\n    args: "
	tests := map[string]struct {
		config    []client.Object
		wantState diagnosticsv1alpha1.LoadState
		// wantUnknown and wantIncomplete are how much is said to be so.
		wantUnknown, wantIncomplete int
	}{
		"without its ConfigMap, by the defaults": {wantState: diagnosticsv1alpha1.LoadNormal},
		"by a threshold that is exceeded":        {config: []client.Object{schedulerConfig(profile + `{"usageThresholds": {"cpu": 1}}`)}, wantState: diagnosticsv1alpha1.LoadHot},
		"by what cannot be read":                 {config: []client.Object{schedulerConfig("kind: [")}, wantState: diagnosticsv1alpha1.LoadUnknown, wantUnknown: 1},
		"by percentiles, which the cache lacks": {
			config:    []client.Object{schedulerConfig(profile + `{"aggregated": {"usageThresholds": {"cpu": 1}, "usageAggregationType": "p95"}}`)},
			wantState: diagnosticsv1alpha1.LoadUnknown, wantIncomplete: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := overviewerOf(t, store(t, enabled), append(test.config, testNode(nil), testMetric(time.Minute), testPod())...)
			list, err := o.NodeOverviews(t.Context(), "", labels.Everything())
			if err != nil {
				t.Fatal(err)
			}
			if got := list.Items[0].Load; got.State != test.wantState || len(list.Unknown) != test.wantUnknown || len(list.Incomplete) != test.wantIncomplete {
				t.Errorf("load %+v, unknown %v, incomplete %q; want %s", got, list.Unknown, list.Incomplete, test.wantState)
			}
		})
	}
}

func TestThereAreNoOverviewsBeforeTheConfigurationIsRead(t *testing.T) {
	o := overviewerOf(t, sloconfig.NewStore(), testNode(nil))
	if _, err := o.NodeOverviews(t.Context(), "", labels.Everything()); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("error %v, want ServiceUnavailable", err)
	}
}

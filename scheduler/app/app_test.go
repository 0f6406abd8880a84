package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/yaml"

	decision "koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/loadaware"
	"koordinator.sh/koord/scheduler/state"
)

func TestDefaultConfiguration(t *testing.T) {
	configuration, err := DefaultConfiguration()
	if err != nil {
		t.Fatal(err)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(configuration); err != nil {
		t.Fatal(err)
	}
	if got := configuration.LeaderElection; got.ResourceNamespace != "koordinator-system" || got.ResourceName != "koord-scheduler" || !got.LeaderElect {
		t.Errorf("leader election %+v", got)
	}
	profile := configuration.Profiles[0]
	enabled := profile.Plugins.MultiPoint.Enabled
	if profile.SchedulerName != "koord-scheduler" || len(enabled) < 10 || !slices.ContainsFunc(enabled, func(p config.Plugin) bool { return p.Name == loadaware.Name }) {
		t.Errorf("profile %q enables %v", profile.SchedulerName, enabled)
	}
	for _, plugin := range profile.PluginConfig {
		if unknown, ok := plugin.Args.(*runtime.Unknown); ok && plugin.Name == loadaware.Name {
			if _, err := decision.DecodeArgs(unknown); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("the built-in configuration has no arguments for the plugin")
}

// TestTheChartSaysTheSame compares the built-in profile with the one that the chart installs.
func TestTheChartSaysTheSame(t *testing.T) {
	rendered, err := os.ReadFile("../../deploy/release/testdata/default.golden.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(rendered), "\n---\n") {
		var configMap corev1.ConfigMap
		if err := yaml.Unmarshal([]byte(document), &configMap); err != nil || configMap.Kind != "ConfigMap" || configMap.Name != "koord-scheduler-config" {
			continue
		}
		object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(configMap.Data["koord-scheduler-config"]), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		builtIn, err := DefaultConfiguration()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(builtIn.Profiles, object.(*config.KubeSchedulerConfiguration).Profiles, cmp.Transformer("json", decodedArgs)); diff != "" {
			t.Errorf("profiles (-built in +chart):\n%s", diff)
		}
		return
	}
	t.Error("the chart has no scheduler configuration")
}

// decodedArgs makes raw arguments comparable.
func decodedArgs(raw runtime.Unknown) (decoded map[string]any) {
	if err := json.Unmarshal(raw.Raw, &decoded); err != nil {
		return map[string]any{"error": err.Error()}
	}
	return decoded
}

func TestOptionsRefuseWhatMakesNoSense(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"a port out of range":     {[]string{"--diagnostics-port=70000"}, "--diagnostics-port 70000"},
		"one port for both":       {[]string{"--secure-port=10260"}, "--diagnostics-port and --secure-port are both 10260"},
		"a secret without a name": {[]string{"--diagnostics-cert-secret=koordinator-system/"}, `"koordinator-system/" is not NAMESPACE/NAME`},
		"a secret with two names": {[]string{"--diagnostics-cert-secret=a/b/c"}, `"a/b/c" is not NAMESPACE/NAME`},
		"all that is right":       {[]string{"--diagnostics-cert-secret=a/b", "--diagnostics-bind-address=127.0.0.1"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			opts := NewOptions()
			configuration, err := DefaultConfiguration()
			if err != nil {
				t.Fatal(err)
			}
			opts.ComponentConfig = configuration
			if err := opts.Flags.FlagSet("secure serving").Parse(nil); err != nil {
				t.Fatal(err)
			}
			for _, arg := range test.args {
				key, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
				set := "diagnostics"
				if key == "secure-port" {
					set = "secure serving"
				}
				if err := opts.Flags.FlagSet(set).Set(key, value); err != nil {
					t.Fatal(err)
				}
			}
			switch err := opts.Validate(); {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestNodeMetricsDoNotHoldUpTheScheduler checks that a cluster that does not serve them starts all the same.
func TestNodeMetricsDoNotHoldUpTheScheduler(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	cluster, err := state.NewCluster(&rest.Config{Host: server.URL}, informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods().Informer())
	if err != nil {
		t.Fatal(err)
	}
	completed := &kubeconfig.CompletedConfig{}
	*completed = (&kubeconfig.Config{DynInformerFactory: dynamicinformer.NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), 0)}).Complete()
	frameworkext.ShareInformers(completed, map[schema.GroupVersionResource]cache.SharedIndexInformer{state.NodeMetricResource: cluster.NodeMetrics()})
	source := completed.DynInformerFactory
	resource, _ := schema.ParseResourceArg(string(loadaware.NodeMetricEvents))
	if resource == nil || *resource != state.NodeMetricResource {
		t.Fatalf("the event names %v, the informer watches %v", resource, state.NodeMetricResource)
	}
	registration, err := source.ForResource(*resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{})
	if err != nil {
		t.Fatal(err)
	}
	if !registration.HasSynced() || !cache.IsDone(registration.HasSyncedChecker()) {
		t.Error("the scheduler would wait for NodeMetrics")
	}
	if synced := source.WaitForCacheSync(t.Context().Done()); len(synced) != 0 {
		t.Errorf("the scheduler would wait for %v", synced)
	}
}

func TestReadOnlyClientsDoNotWrite(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	client, err := rest.HTTPClientFor(readOnly(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	for method, allowed := range map[string]bool{http.MethodGet: true, http.MethodPost: false, http.MethodPatch: false, http.MethodDelete: false, http.MethodPut: false} {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		if (err == nil) != allowed {
			t.Errorf("%s: error %v, want allowed %v", method, err, allowed)
		}
	}
	if reached != 1 {
		t.Errorf("%d requests reached the server, want 1", reached)
	}
}

func TestOnlyTheLeaderDoesLeaderWork(t *testing.T) {
	var leading atomic.Bool
	began, ended := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer close(ended)
		whileLeading(ctx, leading.Load, func(ctx context.Context) {
			close(began)
			<-ctx.Done()
		})
	}()
	select {
	case <-began:
		t.Error("work began without leading")
	default:
	}
	leading.Store(true)
	<-began
	leading.Store(false)
	<-ended

	cancel()
	whileLeading(ctx, leading.Load, func(context.Context) { t.Error("work began after the end") })
}

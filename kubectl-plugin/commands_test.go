package kubectlplugin

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live"
	"koordinator.sh/koord/source/live/livetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestCommandsPrint(t *testing.T) {
	lines := map[string]string{
		"top-nodes":                "top nodes",
		"top-nodes-wide":           "top nodes -o wide",
		"top-nodes-sorted":         "top nodes --sort-by=age --no-headers",
		"top-nodes-by-path":        "top nodes --sort-by=.metadata.name -o name",
		"top-nodes-selected":       "top nodes -l pool=shared -o name",
		"top-nodes-jsonpath":       "top nodes worker-1 -o jsonpath={.items[0].cpu.batchAllocatable}",
		"top-nodes-custom-columns": "top nodes -o custom-columns=NODE:.metadata.name,BATCH:.cpu.batchAllocatable,USED:{.cpu.used}",
		"top-pods-namespace":       "top pods -n spark",
		"top-pods-all":             "top pods -A --sort-by=cpu",
		"top-nodes-labels":         "top nodes -L pool,kubernetes.io/arch --show-labels",
		"top-pods-by-fields":       "top pods -A --field-selector spec.nodeName=worker-1",
		"top-fields-and-names":     "top nodes worker-1 --field-selector metadata.name=worker-1",
		"top-fields-garbage":       "top pods --field-selector phase",
		"top-pods-labels":          "top pods -n spark -L koordinator.sh/qosClass",
		"top-pods-of-a-node":       "top pods -A --node worker-1",
		"top-pods-containers":      "top pods -A --node worker-1 --containers",
		"top-pods-containers-of":   "top pods -A --containers",
		"top-pods-nowhere":         "top pods -n empty",
		"explain-node":             "explain node worker-1",
		"explain-node-one":         "explain node worker-1 batch-cpu --parts 2",
		"explain-node-stale":       "explain node worker-2 batch-cpu",
		"explain-pod-pending":      "explain pod huge -n shop",
		"explain-pod-bound":        "explain pod web-0 -n shop",
		"explain-node-features":    "explain node worker-1 features",
		"explain-node-suppress":    "explain node worker-1 suppress batch-cpu",
		"explain-node-containers":  "explain node worker-1 containers",
		"explain-node-cpus":        "explain node worker-1 cpus",
		"explain-qos":              "explain qos pod executor-1 -n spark",
		"explain-qos-pending":      "explain qos pod huge -n shop",
		"forecast":                 "forecast evictions",
		"forecast-node":            "forecast evictions worker-1",
		"forecast-bad-candidates":  "forecast evictions --candidates=-1",
		"audit":                    "audit node worker-1",
		"audit-bad-tail":           "audit node worker-1 --tail 0",
		"events":                   "events pod web-0 -n shop",
		"events-pending":           "events huge -n shop",
		"events-yaml":              "events pod/huge -n shop -o yaml",
		"events-unknown":           "events hube -n shop",
		"exit-codes":               "help exit-codes",
		"why":                      "why koord0102",
		"why-pod":                  "why pod/huge -n shop",
		"why-pod-bound":            "why pod/web-0 -n shop",
		"why-node":                 "why node/worker-1",
		"why-node-stale":           "why node/worker-2",
		"why-node-cpus":            "why node/worker-1 cpus",
		"why-chinese":              "codes 102 --lang zh",
		"version":                  "version",
		"version-server":           "version --client=false -o yaml",
		"unknown-node":             "explain node worker-9",
		"unknown-pod":              "explain pod hube -n shop",
		"unknown-command":          "tpo nodes",
		"sandbox-alone":            "sandbox",
		"completion-alone":         "completion",
		"completion-unknown":       "completion fish2",
		"tui-argument":             "tui nodes",
		"install-bad-set":          "install --set foo",
		"install-bad-dry-run":      "install --dry-run=maybe",
		"why-alone":                "why",
		"codes-two":                "codes 101 102",
		"unknown-flag":             "top nodes --wide",
		"unknown-format":           "top nodes -o xml",
		"unknown-order":            "top nodes --sort-by=speed",
		"unknown-resource":         "explain node worker-1 gpu",
		"unknown-code":             "why KOORD9999",
		"no-name":                  "explain pod",
		"bad-selector":             "top pods -l a=b=c",
		"strict":                   "explain pod huge -n shop --strict -o name",
		"fail-on":                  "explain pod huge -n shop --fail-on=warning -o name",
		"tui-without-terminal":     "tui",
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			golden(t, name, line, run(t, cluster(), line))
		})
	}
}

func TestCommandsDegrade(t *testing.T) {
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"nodes-without-rights-on-pods":       {"top nodes", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"nodes-without-rights-on-metrics":    {"top nodes", func(s *livetest.Server) { s.Denied = []string{"list nodemetrics"} }},
		"nodes-without-rights-on-nodes":      {"top nodes", func(s *livetest.Server) { s.Denied = []string{"list nodes"} }},
		"nodes-without-crds":                 {"top nodes", func(s *livetest.Server) { s.NoCRDs = true }},
		"pods-without-rights":                {"top pods -A", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"explain-without-rights-to-ask":      {"explain pod huge -n shop", func(s *livetest.Server) { s.Denied = []string{"create podexplanations", "list events"} }},
		"explain-node-without-anything-else": {"explain node worker-1 batch-cpu", func(s *livetest.Server) { s.Denied = []string{"list pods", "list nodemetrics", "get configmaps"} }},
		"server-broken":                      {"top nodes", func(s *livetest.Server) { s.Broken = 500 }},
		"explain-node-without-metrics":       {"explain node worker-1", func(s *livetest.Server) { s.Denied = []string{"list nodemetrics"} }},
		"explain-node-without-pods":          {"explain node worker-1", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"agent-without-nodeslos":             {"explain node worker-1 features suppress cpus", func(s *livetest.Server) { s.Denied = []string{"get nodeslos"} }},
		"agent-without-pods":                 {"explain node worker-1 suppress cpus", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"agent-without-topologies":           {"explain node worker-1 cpus", func(s *livetest.Server) { s.Denied = []string{"get noderesourcetopologies"} }},
		"forecast-without-nodeslos":          {"forecast evictions", func(s *livetest.Server) { s.Denied = []string{"get nodeslos"} }},
		"forecast-without-pods":              {"forecast evictions worker-1", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"explain-pod-without-nodes":          {"explain pod huge -n shop", func(s *livetest.Server) { s.Denied = []string{"list nodes", "list pods"} }},
		"explain-pod-without-pods":           {"explain pod waiting -n shop", func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"explain-pod-without-config":         {"explain pod waiting -n shop", func(s *livetest.Server) { s.Denied = []string{"get configmaps"} }},
		"explain-pod-of-another-scheduler":   {"explain pod foreign -n shop", func(s *livetest.Server) { s.Denied = []string{"get configmaps"} }},
		"nodes-without-rights-as-json":       {"top nodes worker-1 -o json", func(s *livetest.Server) { s.Denied = []string{"list pods", "list nodemetrics", "get configmaps"} }},
		"pods-without-metrics":               {"top pods -A", func(s *livetest.Server) { s.Denied = []string{"list nodemetrics"} }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := cluster()
			foreign := makePod("shop", "foreign", "", list("cpu", "1"))
			foreign.Spec.SchedulerName = "default-scheduler"
			server.Pods = append(server.Pods, makePod("shop", "waiting", "", list("cpu", "1")), foreign)
			tc.server(server)
			golden(t, "degraded/"+name, tc.line, run(t, server, tc.line))
		})
	}
}

// golden compares everything a command line leaves behind.
func golden(t *testing.T, name, line string, got result) {
	t.Helper()
	text := "$ koordctl " + line + "\n" + got.stdout
	if got.stderr != "" {
		text += "--- stderr\n" + got.stderr
	}
	if got.code != 0 {
		text += fmt.Sprintf("--- exit %d\n", got.code)
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("unexpected output (-want +got):\n%s", diff)
	}
}

func TestEveryAnswerIsAnObject(t *testing.T) {
	lines := map[string]string{
		"top nodes":             "NodeOverviewList",
		"top pods -A":           "PodOverviewList",
		"explain node worker-1": "NodeExplanation",
		"explain pod huge":      "PodExplanation",
		"explain node worker-1 features suppress cpus": "NodeExplanation",
		"explain qos pod web-0":                        "NodeExplanation",
		"forecast evictions worker-1":                  "NodeExplanation",
		"forecast evictions":                           "NodeExplanationList",
		"codes":                                        "FindingCodeList",
		"why KOORD0001":                                "FindingCode",
		"top nodes -l pool=none":                       "NodeOverviewList",
		"top pods -n empty":                            "PodOverviewList",
		"top recommendations":                          "RecommendationExplanationList",
		"explain pod web-0":                            "PodExplanation",
		"top nodes worker-1":                           "NodeOverviewList",
		"top pods -A -l app=none":                      "PodOverviewList",
	}
	for line, wantKind := range lines {
		t.Run(line, func(t *testing.T) {
			got := run(t, cluster(), line+" -o json")
			if got.code != 0 {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			var object struct {
				APIVersion, Kind string
				Items            *[]struct{ APIVersion, Kind string }
			}
			if err := json.Unmarshal([]byte(got.stdout), &object); err != nil {
				t.Fatalf("%v in %s", err, got.stdout)
			}
			if object.Kind != wantKind || object.APIVersion != "diagnostics.koordinator.sh/v1alpha1" {
				t.Errorf("got %s %s, want %s", object.APIVersion, object.Kind, wantKind)
			}
			if strings.HasSuffix(wantKind, "List") {
				if object.Items == nil {
					t.Fatal("a list without items")
				}
				for _, item := range *object.Items {
					if item.Kind+"List" != wantKind {
						t.Errorf("an item of kind %q", item.Kind)
					}
				}
			}
		})
	}
}

func TestVersionTouchesNothing(t *testing.T) {
	got := run(t, cluster(), "version", func(o *Options) {
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) {
			t.Error("version connected")
			return nil, nil
		}
	})
	if got.code != 0 || !strings.Contains(got.stdout, "v1.2.3") {
		t.Errorf("got %+v", got)
	}
}

func TestUnreachableClusterIsOneClearError(t *testing.T) {
	server := cluster()
	got := run(t, server, "top nodes", func(o *Options) {
		o.Connect = func(clientcmd.ClientConfig, Connection) (source.Source, error) {
			config := server.Kubeconfig("shop")
			config.Clusters["test"].Server = "http://127.0.0.1:1"
			return live.New(clientcmd.NewDefaultClientConfig(config, &clientcmd.ConfigOverrides{}), live.Options{}), nil
		}
	})
	for _, want := range []string{"error: ", "cannot be reached", "hint: kubectl config view --minify", "KOORD0001"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.stderr)
		}
	}
	if got.code != ExitError {
		t.Errorf("exit code %d", got.code)
	}
}

func TestCompletion(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"node names":              {"__complete top nodes work", "worker-1\nworker-2\nworker-3\n:4\n"},
		"names not taken":         {"__complete top nodes worker-1 worker-", "worker-2\nworker-3\n:4\n"},
		"resources":               {"__complete explain node worker-1 mid", "batch-cpu\nbatch-memory\nmid-cpu\nmid-memory\ncontainers\ncpus\nfeatures\nsuppress\n:4\n"},
		"namespaces":              {"__complete top pods -n s", "shop\nspark\n:4\n"},
		"after a type":            {"__complete explain pod pod/hu", "pod/huge\n:4\n"},
		"after a namespace":       {"__complete explain pod spark/", "spark/executor-1\n:4\n"},
		"after another type":      {"__complete explain pod node/wo", ":4\n"},
		"in place of a type":      {"__complete explain node/worker-3", "node/worker-3\n:4\n"},
		"a pod of a namespace":    {"__complete explain spark/ex", "spark/executor-1\n:4\n"},
		"what why explains":       {"__complete why pod/web", "pod/web-0\n:4\n"},
		"behind an object":        {"__complete explain node/worker-1 mid", "batch-cpu\nbatch-memory\nmid-cpu\nmid-memory\ncontainers\ncpus\nfeatures\nsuppress\n:4\n"},
		"phases":                  {"__complete top pods --field-selector status.phase=P", "status.phase=Pending\n:6\n"},
		"no files for a selector": {"__complete top pods -l x", ":4\n"},
		"nodes of a flag":         {"__complete top pods --node worker-3", "worker-3\n:4\n"},
		"codes":                   {"__complete why KOORD010", "KOORD0101\tMetricStale\nKOORD0102\tMetricExpired\nKOORD0103\tMetricAbsent\nKOORD0104\tMetricInvalid\n:4\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, run(t, cluster(), tc.line).stdout); diff != "" {
				t.Errorf("unexpected completion (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextsShowTheNameCalledBy(t *testing.T) {
	asPlugin := func(o *Options) { o.Name = "kubectl koord" }
	for _, line := range []string{
		"top", "top gpus", "explain node worker-9", "explain pod hube -n shop", "explain pod huge -n shop", "tui", "why KOORD0003", "why KOORD0006",
		"why KOORD9999", "install --set foo", "completion fish2", "top nodes --wide", "version --client=false",
	} {
		t.Run(line, func(t *testing.T) {
			got := run(t, cluster(), line, asPlugin)
			text := strings.ReplaceAll(got.stdout+got.stderr, "answered by koordctl", "")
			if strings.Contains(text, "koordctl") {
				t.Errorf("called as a plugin, it says:\n%s", text)
			}
		})
	}
}

func TestAWatchSaysOnceWhatItCannotSee(t *testing.T) {
	server := cluster()
	server.Denied = []string{"list nodemetrics"}
	got := run(t, server, "top nodes --watch --strict")
	if got.code != ExitError || strings.Count(got.stderr, "incomplete: ") != 1 || !strings.Contains(got.stderr, "error: the answer is incomplete") {
		t.Errorf("got %+v, want exit code 1 and one line on what is missing", got)
	}
}

func TestHelpShowsTheNameCalledBy(t *testing.T) {
	got := run(t, cluster(), "top nodes --help", func(o *Options) { o.Name = "kubectl koord" })
	if !strings.Contains(got.stdout, "kubectl koord top nodes [NAME...] [flags]") || strings.Contains(got.stdout, "koordctl") {
		t.Errorf("help:\n%s", got.stdout)
	}
}

package kubectlplugin

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"koordinator.sh/koord/source"
)

func TestNamesAreWrittenAsKubectlTakesThem(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	tests := map[string]struct {
		kind          source.Kind
		args          []string
		flag          string
		wantNamespace string
		wantNames     []string
		wantErr       string
	}{
		"a name":                              {kind: source.KindPod, args: []string{"web"}, wantNamespace: "default", wantNames: []string{"web"}},
		"a name and the flag":                 {kind: source.KindPod, args: []string{"web"}, flag: "shop", wantNamespace: "shop", wantNames: []string{"web"}},
		"a type":                              {kind: source.KindPod, args: []string{"po/web"}, wantNamespace: "default", wantNames: []string{"web"}},
		"a namespace":                         {kind: source.KindPod, args: []string{"shop/web"}, wantNamespace: "shop", wantNames: []string{"web"}},
		"a namespace twice":                   {kind: source.KindPod, args: []string{"shop/web", "shop/db"}, wantNamespace: "shop", wantNames: []string{"web", "db"}},
		"a namespace and the same flag":       {kind: source.KindPod, args: []string{"shop/web"}, flag: "shop", wantNamespace: "shop", wantNames: []string{"web"}},
		"a node with its type":                {kind: source.KindNode, args: []string{"node/n-1", "n-2"}, wantNames: []string{"n-1", "n-2"}},
		"two namespaces":                      {kind: source.KindPod, args: []string{"shop/web", "spark/driver"}, wantErr: `"spark/driver": all names must be in the same namespace, which is "shop"`},
		"a namespace and another flag":        {kind: source.KindPod, args: []string{"shop/web"}, flag: "spark", wantErr: `namespace "shop" of the name and --namespace "spark" differ`},
		"another type":                        {kind: source.KindPod, args: []string{"node/n-1"}, wantErr: `"node/n-1": the name of a pod is required: NAME or pod/NAME or NAMESPACE/NAME`},
		"a namespace of what lives in none":   {kind: source.KindNode, args: []string{"shop/n-1"}, wantErr: `"shop/n-1": the name of a node is required: NAME or node/NAME`},
		"a slash and nothing":                 {kind: source.KindPod, args: []string{"pod/"}, wantErr: `"pod/": must be NAME or pod/NAME or NAMESPACE/NAME`},
		"a type, a namespace and a name":      {kind: source.KindPod, args: []string{"pod/shop/web"}, wantErr: `"pod/shop/web": must be NAME or pod/NAME or NAMESPACE/NAME`},
		"a reservation with its short type":   {kind: source.KindReservation, args: []string{"resv/nightly"}, wantNames: []string{"nightly"}},
		"a recommendation with its namespace": {kind: source.KindRecommendation, args: []string{"shop/web"}, wantNamespace: "shop", wantNames: []string{"web"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &session{flags: genericclioptions.NewConfigFlags(true)}
			if test.flag != "" {
				s.flags.Namespace = &test.flag
			}
			namespace, names, err := s.objects(test.kind, test.args)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != test.wantErr || namespace != test.wantNamespace && test.wantErr == "" {
				t.Errorf("namespace %q, error %q, want %q, %q", namespace, text, test.wantNamespace, test.wantErr)
			}
			if diff := cmp.Diff(test.wantNames, names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlagsThatNameANodeTakeItsType(t *testing.T) {
	for line, wantCode := range map[string]int{
		"top pods -A --node node/worker-1 -o name": ExitOK, "top pods -A --node no/worker-1 -o name": ExitOK, "top pods -A --node worker-1 -o name": ExitOK,
		"top pods -A --node pod/worker-1": ExitUsage, "top pods -A --node node/": ExitUsage, "forecast evictions --node node/worker-1 -o name": ExitOK,
	} {
		got := run(t, cluster(), line)
		if got.code != wantCode || (wantCode == ExitOK) != (got.stdout != "") {
			t.Errorf("%s: exit code %d, want %d\n%s%s", line, got.code, wantCode, got.stdout, got.stderr)
		}
	}
}

func TestWhyOfAnObjectIsItsExplanation(t *testing.T) {
	tests := map[string]struct{ why, explain string }{
		"a pod in a namespace":  {"why pod/huge -n shop", "explain pod huge -n shop --depth 1"},
		"a pod as an object":    {"why po/huge -n shop -o jsonpath={.status.verdict}", "explain pod shop/huge -o jsonpath={.status.verdict}"},
		"a node":                {"why node/worker-1", "explain node worker-1 --depth 1"},
		"a pod that is not":     {"why pod/nope -n shop", "explain pod nope -n shop"},
		"a type and a name":     {"why -n shop pod huge", "explain pod huge -n shop --depth 1"},
		"a pod by namespace":    {"why shop/huge", "explain pod huge -n shop --depth 1"},
		"the flags of explain":  {"why pod/huge -n shop --skip-fix --nodes 1 -o wide", "explain pod huge -n shop --skip-fix --nodes 1 -o wide"},
		"in full":               {"why pod/huge -n shop --depth 2", "explain pod huge -n shop"},
		"with all":              {"why pod/huge -n shop --depth 3", "explain pod huge -n shop -o wide"},
		"a name":                {"why huge -n shop", "explain pod huge -n shop --depth 1"},
		"a name, in full":       {"why huge -n shop --depth 2", "explain pod huge -n shop"},
		"a name of a node":      {"why worker-1 -n shop", "explain node worker-1 --depth 1"},
		"a name, with a format": {"why huge -n shop -o name", "explain pod huge -n shop -o name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			why, explain := run(t, cluster(), test.why), run(t, cluster(), test.explain)
			if why.code != explain.code || withoutTimes(why.stdout) != withoutTimes(explain.stdout) || why.stderr != explain.stderr || why.stdout+why.stderr == "" {
				t.Errorf("why: %d\n%s%s\nexplain: %d\n%s%s", why.code, why.stdout, why.stderr, explain.code, explain.stdout, explain.stderr)
			}
		})
	}
	for _, line := range []string{"why pod", "why pod/", "why widget/x/y", "why widget x"} {
		if got := run(t, cluster(), line); got.code != ExitUsage || !strings.Contains(got.stderr, "hint: ") {
			t.Errorf("%s: exit code %d\n%s", line, got.code, got.stderr)
		}
	}
}

func TestObjectsMayStandWhereATypeIsExpected(t *testing.T) {
	for line, want := range map[string]string{
		"explain pod/web":                         "explain pod web",
		"explain po/web -n shop -o json":          "explain po web -n shop -o json",
		"-n shop explain pod/web":                 "-n shop explain pod web",
		"-nshop --context c explain -o json no/n": "-nshop --context c explain -o json no n",
		"--context=c explain shop/web":            "--context=c explain pod shop/web",
		"explain node/n batch-cpu":                "explain node n batch-cpu",
		"explain resv/nightly":                    "explain resv nightly",
		"explain recom/web -n shop":               "explain recom web -n shop",
		"explain qos pod/web":                     "explain qos pod web",
		"explain qos shop/web":                    "explain qos pod shop/web",
		"top node/n node/m":                       "top node n node/m",
		"top shop/web":                            "top pods shop/web",
		"audit n":                                 "audit node n",
		"audit node/n":                            "audit node n",
		"audit --tail 5 n":                        "audit --tail 5 node n",
		"why pod/web --fail-on error":             "explain pod web --depth=1 --fail-on error",
		"why --fail-on error pod/web":             "explain --fail-on error pod web --depth=1",
		"why node n":                              "explain node n --depth=1",
		"why shop/web":                            "explain pod shop/web --depth=1",
		"__complete explain node/n batch":         "__complete explain node n batch",
		"__complete explain pod/we":               "__complete explain pod/we",
		// These are understood, or wrong, as they are.
		"explain pod web":     "explain pod web",
		"explain qos node/n":  "explain qos node/n",
		"explain pod/":        "explain pod/",
		"explain /web":        "explain /web",
		"explain nonsense":    "explain nonsense",
		"audit pod":           "audit pod",
		"why KOORD0001":       "why KOORD0001",
		"why pod":             "why pod",
		"config get a/b":      "config get a/b",
		"explain -- pod/web":  "explain -- pod/web",
		"top nodes node/n -w": "top nodes node/n -w",
		"":                    "",
	} {
		t.Run(line, func(t *testing.T) {
			got := strings.Join(expandArguments(NewCommand(Options{Name: "koordctl"}), strings.Fields(line)), " ")
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// withoutTimes drops the line that says how long an answer took.
func withoutTimes(text string) string {
	at := strings.LastIndex(text, "answered ")
	if at < 0 {
		return text
	}
	return text[:at]
}

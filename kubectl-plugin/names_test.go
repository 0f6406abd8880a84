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
		"two namespaces":                      {kind: source.KindPod, args: []string{"shop/web", "spark/driver"}, wantErr: `"spark/driver": all names must be of one namespace, which is "shop"`},
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

func TestWhyOfAnObjectIsItsExplanation(t *testing.T) {
	tests := map[string]struct{ why, explain string }{
		"a pod in a namespace": {"why pod/huge -n shop", "explain pod huge -n shop"},
		"a pod as an object":   {"why po/huge -n shop -o jsonpath={.status.verdict}", "explain pod shop/huge -o jsonpath={.status.verdict}"},
		"a node":               {"why node/worker-1", "explain node worker-1"},
		"a pod that is not":    {"why pod/nope -n shop", "explain pod nope -n shop"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			why, explain := run(t, cluster(), test.why), run(t, cluster(), test.explain)
			if why.code != explain.code || withoutTimes(why.stdout) != withoutTimes(explain.stdout) || why.stderr != explain.stderr || why.stdout+why.stderr == "" {
				t.Errorf("why: %d\n%s%s\nexplain: %d\n%s%s", why.code, why.stdout, why.stderr, explain.code, explain.stdout, explain.stderr)
			}
		})
	}
	if got := run(t, cluster(), "why shop/huge"); got.code != 2 {
		t.Errorf("exit code %d of a name without its type\n%s", got.code, got.stderr)
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

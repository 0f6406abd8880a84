package kubectlplugin

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/source"
)

// TestInitPrintsAConfigurationThatHolds: what is printed can be applied as it is, in whatever namespace the system has.
func TestInitPrintsAConfigurationThatHolds(t *testing.T) {
	tests := map[string]struct {
		line, wantNamespace string
		wantKeys            int
		wantText            []string
	}{
		"to start from":        {"config init", configuration.DefaultNamespace, 0, []string{`"enable": true`}},
		"every setting":        {"config init --full", configuration.DefaultNamespace, len(configuration.Keys()), []string{"  # Without a default:\n", "  #   "}},
		"in another namespace": {"config init -n elsewhere", "elsewhere", 0, []string{"  namespace: elsewhere\n"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := cluster()
			got := run(t, server, tc.line)
			var printed corev1.ConfigMap
			if err := yaml.UnmarshalStrict([]byte(got.stdout), &printed); err != nil || got.code != ExitOK {
				t.Fatalf("%v, exit code %d:\n%s%s", err, got.code, got.stdout, got.stderr)
			}
			if printed.Kind != "ConfigMap" || printed.Name != configuration.DefaultConfigMapName || printed.Namespace != tc.wantNamespace {
				t.Errorf("%s %s/%s", printed.Kind, printed.Namespace, printed.Name)
			}
			if _, problems := configmerge.Parse(printed.Data); len(problems) > 0 {
				t.Errorf("problems %v", problems)
			}
			if tc.wantKeys > 0 && len(printed.Data) != tc.wantKeys || len(printed.Data) == 0 {
				t.Errorf("%d keys, want %d", len(printed.Data), tc.wantKeys)
			}
			for _, want := range tc.wantText {
				if !strings.Contains(got.stdout, want) {
					t.Errorf("no %q in:\n%s", want, got.stdout)
				}
			}
			if asked := server.Requests(); len(asked) > 0 {
				t.Errorf("a cluster was asked %q", asked)
			}
			file := writeFile(t, "printed.yaml", got.stdout)
			if lint := run(t, cluster(), "config lint -f "+file+" --fail-on error"); lint.code != ExitOK && tc.wantNamespace == configuration.DefaultNamespace {
				t.Errorf("config lint says:\n%s%s", lint.stdout, lint.stderr)
			}
		})
	}
}

// TestSettingsThatAreNotInForceAreWarnedOf: what the ConfigMap says is not what nodes follow.
func TestSettingsThatAreNotInForceAreWarnedOf(t *testing.T) {
	bad, absent, good := newCabinet(), newCabinet(), newCabinet()
	bad.current.Data["cpu-burst-config"] = `{"clusterStrategy": `
	absent.current = source.Configuration{}
	tests := map[string]struct {
		cabinet *cabinet
		want    []string
	}{
		"all is in force":    {good, nil},
		"a key is malformed": {bad, []string{"Warning: cpu-burst-config", "; its last valid text is in force"}},
		"there is none":      {absent, []string{"Warning: slo-controller-config: the ConfigMap does not exist; built-in defaults are in force"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := run(t, cluster(), "config get", with(tc.cabinet))
			if got.code != ExitOK || (got.stderr == "") != (tc.want == nil) {
				t.Errorf("exit code %d:\n%s", got.code, got.stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("no %q in:\n%s", want, got.stderr)
				}
			}
		})
	}
}

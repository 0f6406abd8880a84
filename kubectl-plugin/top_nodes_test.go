package kubectlplugin

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/source/live/livetest"
)

// deschedulingCluster is cluster with a koord-descheduler whose LowNodeLoad finds worker-1 overutilized.
func deschedulingCluster() *livetest.Server {
	server := cluster()
	server.ConfigMaps = append(server.ConfigMaps, corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-descheduler-config"},
		Data: map[string]string{"koord-descheduler-config": `
profiles:
- plugins: {balance: {enabled: [{name: LowNodeLoad}]}}
  pluginConfig: [{name: LowNodeLoad, args: {lowThresholds: {cpu: 1}, highThresholds: {cpu: 4}}}]
`},
	})
	return server
}

// TestTheViewOfTheDeschedulerIsReadWhereItIsShown: in the other outputs it costs no request, and leaves no gap without permission.
func TestTheViewOfTheDeschedulerIsReadWhereItIsShown(t *testing.T) {
	tests := map[string]struct {
		want     string
		wantRead bool
	}{
		"top nodes":                                                  {"", false},
		"top nodes -o name":                                          {"", false},
		"top nodes --sort-by=cpu":                                    {"", false},
		"top nodes -o wide":                                          {"Overutilized", true},
		"top nodes --sort-by=balance --no-headers":                   {"worker-1", true},
		"top nodes -o json":                                          {"\"message\": \"cpu 5% \\u003e 4%\"", true},
		"top nodes -o custom-columns=B:.balance.state":               {"Overutilized", true},
		"top nodes --sort-by=.balance.state":                         {"worker-1", true},
		"top nodes worker-1 -o jsonpath={.items[0].balance.plugin}":  {"LowNodeLoad", true},
		"top nodes worker-3 -o jsonpath={.items[0].balance.message}": {"there is no NodeMetric", true},
		"top nodes worker-2 -o jsonpath={.items[*].balance.state}":   {"Unknown", true},
	}
	for line, tc := range tests {
		t.Run(line, func(t *testing.T) {
			server := deschedulingCluster()
			got := run(t, server, line)
			if got.code != 0 || !strings.Contains(got.stdout, tc.want) {
				t.Errorf("exit code %d, want %q in\n%s%s", got.code, tc.want, got.stdout, got.stderr)
			}
			of := func(text string) bool { return strings.Contains(text, "koord-descheduler-config") }
			if read := slices.ContainsFunc(server.Requests(), of); read != tc.wantRead {
				t.Errorf("read %t, want %t", read, tc.wantRead)
			}
			denied := deschedulingCluster()
			denied.Denied = []string{"get configmaps"}
			if got := run(t, denied, line); got.code != 0 || strings.Count(got.stderr, "koord-descheduler-config") > 1 || of(got.stderr) != tc.wantRead {
				t.Errorf("without permission: exit code %d, want the ConfigMap once in standard error if it is asked for:\n%s", got.code, got.stderr)
			}
		})
	}
}

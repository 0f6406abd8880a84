package live

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func clientConfig(config clientcmdapi.Config) clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(config, &clientcmd.ConfigOverrides{})
}

func configMap(name, key, text string) corev1.ConfigMap {
	return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: name}, Data: map[string]string{key: text}}
}

func TestABadEditKeepsTheLastGoodTextHereToo(t *testing.T) {
	good := configMap(lastGoodConfig, "colocation-config", `{"enable":true,"cpuReclaimThresholdPercent":42}`)
	tests := map[string]struct {
		kept        []corev1.ConfigMap
		denied      []string
		wantValue   string
		wantMissing string
	}{
		"the last valid text":          {kept: []corev1.ConfigMap{good}, wantValue: "42"},
		"there was never a valid text": {wantValue: "60"},
		"no ConfigMap may be read now": {kept: []corev1.ConfigMap{good}, denied: []string{"get configmaps"}, wantMissing: "whether co-location is on, and how, is unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := small()
			server.ConfigMaps = append(tc.kept, configMap(strategyConfig, "colocation-config", `{"enable":`))
			server.Denied = tc.denied
			server.Start(t)
			answer, err := New(server.Config(""), Options{}).ExplainNode(t.Context(), "node-0000", diagnosticsv1alpha1.NodeExplanationSpec{})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(answer.Status.Strategy, func(s diagnosticsv1alpha1.Setting) bool { return s.Key == "cpuReclaimThresholdPercent" })
			if (i < 0) != (tc.wantValue == "") || i >= 0 && answer.Status.Strategy[i].Value != tc.wantValue {
				t.Errorf("settings %v, want cpuReclaimThresholdPercent %s", answer.Status.Strategy, tc.wantValue)
			}
			if missing := strings.Join(answer.Status.Incomplete, "\n"); !strings.Contains(missing, tc.wantMissing) {
				t.Errorf("incomplete %q, want %q", missing, tc.wantMissing)
			}
		})
	}
}

func TestDescribeNamesWhatTheUserChose(t *testing.T) {
	server := small()
	server.Start(t)
	config := server.Kubeconfig("")
	config.Contexts["other"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "adam"}
	config.AuthInfos["adam"] = &clientcmdapi.AuthInfo{}
	chosen := clientcmd.NewDefaultClientConfig(config, &clientcmd.ConfigOverrides{CurrentContext: "other"})
	got, err := New(chosen, Options{Context: "other"}).Describe(t.Context())
	if err != nil || got.Context != "other" || got.User != "adam" || got.Name != "test" {
		t.Errorf("got %+v and %v, want context other with user adam", got, err)
	}
	got, err = New(chosen, Options{Context: "other", User: "eve"}).Describe(t.Context())
	if err != nil || got.User != "eve" {
		t.Errorf("got %+v and %v, want user eve", got, err)
	}
}

package koordlet

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestSocketsOfAgentsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		sockets []string
		wantErr string
	}{
		"none":                {},
		"two":                 {sockets: []string{"/run/yarn.sock", "/run/presto.sock"}},
		"a relative path":     {sockets: []string{"yarn.sock"}, wantErr: `--copilot-sockets: "yarn.sock"`},
		"one of them twice":   {sockets: []string{"/run/yarn.sock", "/run/yarn.sock"}, wantErr: "named once"},
		"nothing, by a comma": {sockets: []string{"/run/yarn.sock", ""}, wantErr: "absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			options.RESTConfig, options.NodeName, options.CopilotSockets = &rest.Config{}, nodeName, test.sockets
			err := options.validate()
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("validate() = %v, want %q", err, test.wantErr)
			}
		})
	}
}

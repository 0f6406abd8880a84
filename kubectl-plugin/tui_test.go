package kubectlplugin

import (
	"errors"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/source"
)

// TestNothingIsWrittenIntoAScreen: a warning of the API server, as of what is written, would be in the midst of it.
func TestNothingIsWrittenIntoAScreen(t *testing.T) {
	for line, wantWarn := range map[string]bool{"tui": false, "tui --readonly": false, "top nodes": true} {
		t.Run(line, func(t *testing.T) {
			asked, warns := false, false
			run(t, cluster(), line, func(o *Options) {
				o.Terminal.Input, o.Terminal.Output = true, true
				o.Connect = func(_ clientcmd.ClientConfig, c Connection) (source.Source, error) {
					asked, warns = true, c.Warn != nil
					return nil, errors.New("no cluster")
				}
			})
			if !asked || warns != wantWarn {
				t.Errorf("asked %t, warns %t, want %t", asked, warns, wantWarn)
			}
		})
	}
}

package manager

import (
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"koordinator.sh/koord/source/objects"
)

func TestFlagsThatCannotWorkAreRefusedTogether(t *testing.T) {
	tests := map[string]struct {
		args      []string
		wantTexts []string
	}{
		"the defaults are fine": {},
		"a rate that is no number": {
			args: []string{"--kube-api-qps=NaN"}, wantTexts: []string{"--kube-api-qps NaN"},
		},
		"every number wrong": {
			args:      []string{"--kube-api-qps=0", "--diagnostics-port=70000", "--slo-config-name=", "--webhook-service-port=0"},
			wantTexts: []string{"--kube-api-qps", "--diagnostics-port 70000", "--slo-config-name", "--webhook-service-port 0"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			flags := pflag.NewFlagSet("koord-manager", pflag.ContinueOnError)
			options.AddFlags(flags)
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			err := options.Validate()
			if (err != nil) != (len(tc.wantTexts) > 0) {
				t.Fatalf("error is %v", err)
			}
			for _, text := range tc.wantTexts {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %q lacks %q", err, text)
				}
			}
		})
	}
}

// TestTheWorkbenchKnowsTheFlagsOfAdmission: koordctl explain admission reads them from the Deployment.
func TestTheWorkbenchKnowsTheFlagsOfAdmission(t *testing.T) {
	flags := pflag.NewFlagSet("koord-manager", pflag.ContinueOnError)
	NewOptions().AddFlags(flags)
	for name, value := range objects.AdmissionFlags() {
		if flag := flags.Lookup(name); flag == nil || flag.DefValue != strconv.FormatBool(value) {
			t.Errorf("flag --%s is %+v, want one that is %v by default", name, flag, value)
		}
	}
}

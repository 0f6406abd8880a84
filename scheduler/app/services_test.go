package app

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestFeatureGatesAreFlags looks for the gates that plugins bring among those of kube-scheduler.
func TestFeatureGatesAreFlags(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range NewOptions().Flags.FlagSets {
		flags.AddFlagSet(set)
	}
	gates := flags.Lookup("feature-gates")
	if gates == nil || !strings.Contains(gates.Usage, "DevicePluginAdaption=true|false (ALPHA - default=false)") {
		t.Fatalf("the gate is no flag: %v", gates)
	}
	if err := flags.Parse([]string{"--feature-gates=DevicePluginAdaption=false"}); err != nil {
		t.Error(err)
	}
}

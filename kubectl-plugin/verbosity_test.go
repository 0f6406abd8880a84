package kubectlplugin

import (
	"flag"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

func TestRequestsAreLoggedOnDemand(t *testing.T) {
	t.Cleanup(func() { // the level is of the whole process
		levels := flag.NewFlagSet("klog", flag.ContinueOnError)
		klog.InitFlags(levels)
		if err := levels.Set("v", "0"); err != nil {
			t.Error(err)
		}
		klog.ClearLogger()
	})
	quiet := run(t, cluster(), "top nodes")
	if strings.Contains(quiet.stderr, "GET") {
		t.Errorf("without -v:\n%s", quiet.stderr)
	}
	told := run(t, cluster(), "top nodes -v 6")
	if told.code != 0 || !strings.Contains(told.stderr, "GET") || !strings.Contains(told.stderr, "/api/v1/nodes") {
		t.Errorf("with -v 6: exit code %d\n%s", told.code, told.stderr)
	}
	if told.stdout != quiet.stdout {
		t.Errorf("logs change the answer:\n%s", told.stdout)
	}
	if refused := run(t, cluster(), "top nodes -v 11"); refused.code != 2 || !strings.Contains(refused.stderr, "must be 0 to 10") {
		t.Errorf("with -v 11: exit code %d\n%s", refused.code, refused.stderr)
	}
}

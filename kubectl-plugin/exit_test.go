package kubectlplugin

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestExplainPodFailsOnItsVerdict: a pod that no node takes is an error for a script that asked for them.
func TestExplainPodFailsOnItsVerdict(t *testing.T) {
	tests := map[string]struct {
		line string
		want int
	}{
		"unschedulable":              {"explain pod huge -n shop --fail-on error", ExitFindings},
		"unschedulable, as JSON":     {"explain pod huge -n shop --fail-on error -o json", ExitFindings},
		"unschedulable, not asked":   {"explain pod huge -n shop", ExitOK},
		"bound":                      {"explain pod web-0 -n shop --fail-on error", ExitOK},
		"a severity that is unknown": {"explain pod web-0 -n shop --fail-on fatal", ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := run(t, cluster(), tc.line); got.code != tc.want {
				t.Errorf("exit code %d, want %d\n%s", got.code, tc.want, got.stderr)
			}
		})
	}
}

func TestAnOrderByAFieldThatNobodyHasIsAUsageError(t *testing.T) {
	got := run(t, cluster(), "top nodes --sort-by=.bogus")
	if got.code != ExitUsage || !strings.Contains(got.stderr, "batch-cpu") || got.stdout != "" {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

func TestAFieldThatNobodySelectsByIsAUsageError(t *testing.T) {
	for _, line := range []string{"top pods -A --field-selector spec.bogus=1", "top nodes --field-selector status.phase=Running"} {
		got := run(t, cluster(), line)
		if got.code != ExitUsage || !strings.Contains(got.stderr, "field label not supported") || !strings.Contains(got.stderr, "hint: see koordctl top") {
			t.Errorf("%s: exit code %d: %s%s", line, got.code, got.stdout, got.stderr)
		}
	}
}

func TestATimeoutThatIsNoneIsAUsageError(t *testing.T) {
	got := run(t, cluster(), "top nodes --request-timeout soon")
	if got.code != ExitUsage || !strings.Contains(got.stderr, `--request-timeout "soon"`) {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

func TestUsageNamesThePluginOnce(t *testing.T) {
	got := run(t, cluster(), "--help", func(o *Options) { o.Name = "kubectl koord" })
	if !strings.Contains(got.stdout, "\n  kubectl koord [flags]\n") || strings.Contains(got.stdout, "koord koord") {
		t.Errorf("help:\n%s", got.stdout)
	}
}

// TestFailuresAreObjectsForPrograms: what asks for JSON gets JSON, and once.
func TestFailuresAreObjectsForPrograms(t *testing.T) {
	tests := map[string]struct{ line, wantReason, wantCause string }{
		"not found":       {"explain pod hube -n shop -o json", "NotFound", "KOORD0003"},
		"as YAML":         {"explain pod hube -n shop --output=yaml", "NotFound", "KOORD0003"},
		"a wrong flag":    {"top nodes --wide -ojson", "BadRequest", ""},
		"a refused value": {"config set colocation-config.degradeTimeMinutes=0 --yes -o json", "ConfigOutOfRange", "KOORD0203"},
		"no plan":         {"config plan resource-threshold-config.cpuSuppressThresholdPercent=500 -o json", "ConfigOutOfRange", "KOORD0203"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			edit := []func(*Options){}
			if strings.HasPrefix(tc.line, "config") {
				edit = append(edit, with(newCabinet()))
			}
			got := run(t, cluster(), tc.line, edit...)
			var status metav1.Status
			if err := yaml.UnmarshalStrict([]byte(got.stdout), &status); err != nil {
				t.Fatalf("%v:\n%s", err, got.stdout)
			}
			if status.Kind != "Status" || status.Status != metav1.StatusFailure || string(status.Reason) != tc.wantReason || !strings.Contains(got.stderr, status.Message) {
				t.Errorf("status %+v, standard error %q", status, got.stderr)
			}
			if string(status.Details.Causes[0].Type) != tc.wantCause {
				t.Errorf("causes %+v", status.Details.Causes)
			}
		})
	}
	for name, line := range map[string]string{
		"findings after the answer": "explain pod huge -n shop --fail-on error -o json",
		"differences":               "config plan colocation-config.enable=false -o json",
	} {
		t.Run(name, func(t *testing.T) {
			edit := []func(*Options){}
			if strings.HasPrefix(line, "config") {
				edit = append(edit, with(newCabinet()))
			}
			if got := run(t, cluster(), line, edit...); got.code == ExitOK || !json.Valid([]byte(got.stdout)) || strings.Contains(got.stdout, `"Failure"`) {
				t.Errorf("exit code %d:\n%s", got.code, got.stdout)
			}
		})
	}
}

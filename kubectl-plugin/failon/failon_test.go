package failon

import (
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestCheck(t *testing.T) {
	warning := []diagnosticsv1alpha1.Finding{{Code: "KOORD0209", Severity: diagnosticsv1alpha1.SeverityWarning}}
	tests := map[string]struct {
		flag  Flag
		found []diagnosticsv1alpha1.Finding
		want  string
	}{
		"unset":           {"", warning, ""},
		"below":           {"error", warning, ""},
		"at":              {"warning", warning, "findings at or above warning: KOORD0209"},
		"above":           {"info", warning, "findings at or above info: KOORD0209"},
		"nothing to find": {"info", nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.flag.Check(tc.found); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
